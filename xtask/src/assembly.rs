//! `cargo xtask bench-assembly`: what a selection costs, from the start of a process and warm, in a
//! workspace of 1,000 tools, 200 skills and 10,000 memories that is made up for it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::error::TaskError;
use crate::peers::start::Starts;
use crate::steps::{Steps, cargo, target};

const TOOLS: usize = 1000;
const SKILLS: usize = 200;
const MEMORIES: usize = 10_000;
const TASKS: usize = 2000;
const STARTS: usize = 40;

const VERBS: [&str; 20] = [
    "create",
    "delete",
    "find",
    "list",
    "send",
    "read",
    "update",
    "schedule",
    "cancel",
    "translate",
    "summarise",
    "measure",
    "compare",
    "publish",
    "archive",
    "sort",
    "convert",
    "share",
    "check",
    "plan",
];
const THINGS: [&str; 25] = [
    "invoice",
    "flight",
    "meeting",
    "photo",
    "song",
    "recipe",
    "ticket",
    "server",
    "report",
    "contract",
    "playlist",
    "customer",
    "parcel",
    "lamp",
    "thermostat",
    "database",
    "branch",
    "calendar",
    "message",
    "map",
    "budget",
    "garden",
    "lesson",
    "train",
    "weather forecast",
];
const PLACES: [&str; 16] = [
    "in Lisbon",
    "for the team",
    "of last month",
    "by mail",
    "on the website",
    "at home",
    "in the cloud",
    "for a friend",
    "before noon",
    "with a deadline",
    "in French",
    "for the office",
    "in the kitchen",
    "of the project",
    "on the phone",
    "for next week",
];

/// The same numbers each time, one after another.
struct Dice(u64);

impl Dice {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(self.0 >> 33).unwrap_or(0) % from.len().max(1);
        from.get(place).copied().unwrap_or_default()
    }

    fn sentence(&mut self) -> String {
        format!("{} the {} {}", self.pick(&VERBS), self.pick(&THINGS), self.pick(&PLACES))
    }
}

pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    steps.run("build", cargo().args(["build", "--release", "-p", "foreword-cli"]))?;
    steps.verdict()?;
    let folder = target().join("assembly");
    let _ = std::fs::remove_dir_all(&folder);
    let workspace = folder.join("workspace");
    write(&workspace)?;
    let config = folder.join("config");
    let foreword = |args: &[&str]| {
        let mut command = Command::new(target().join("release/foreword"));
        command.arg("-w").arg(&workspace).args(args).env("FOREWORD_CONFIG_DIR", &config);
        command
    };
    let memories = workspace.join("memories.jsonl");
    steps.run("set up memories", foreword(&["memory", "import"]).arg(&memories))?;
    steps.run("set up index", &mut foreword(&["index"]))?;
    steps.verdict()?;

    let mut start =
        Starts::new("foreword build TASK", foreword(&["build", "find a cheap flight to Lisbon"]));
    for _ in 0..STARTS {
        start.run()?;
    }
    println!(
        "\n{TOOLS} tools, {SKILLS} skills, {MEMORIES} memories, index made ahead, git facts left out\n\
         from process start: {:.1} ms at best, {:.1} ms in the median ({:.1} ms of processor time), {:.1} MB",
        start.min(),
        start.median(),
        start.cpu_median(),
        start.peak_mb()
    );
    let output = foreword(&["eval", "run", "--json", "--set", "tasks.jsonl"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(TaskError::io("cannot run foreword eval run".to_owned()))?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| TaskError::Failed { steps: vec!["foreword eval run".to_owned()] })?;
    let number = |path: &str| report.pointer(path).cloned().unwrap_or_default();
    println!(
        "warm, {TASKS} tasks, prompt included: p50 {} ms, p95 {} ms, p99 {} ms, {} embedding call a task",
        number("/latencyMs/p50"),
        number("/latencyMs/p95"),
        number("/latencyMs/p99"),
        number("/embeddingCalls/mean")
    );
    Ok(())
}

/// Writes the workspace.
fn write(workspace: &Path) -> Result<(), TaskError> {
    let mut dice = Dice(7);
    let mut tools = String::new();
    for n in 0..TOOLS {
        let what = dice.sentence();
        let more = dice.sentence();
        let name = what.split(' ').take(3).collect::<Vec<_>>().join("_");
        let _ = write!(
            tools,
            "[[tool]]\nname = \"{name}_{n}\"\ndescription = \"Can {what}. Use it to {more} as well.\"\n\n"
        );
    }
    let lines = |count: usize, mut line: Box<dyn FnMut(usize) -> Value>| {
        (0..count).map(|n| line(n).to_string() + "\n").collect::<String>()
    };
    let mut memory = Dice(11);
    let mut task = Dice(13);
    let memories = lines(
        MEMORIES,
        Box::new(
            move |n| json!({"text": format!("We had to {} and then {} (note {n}).", memory.sentence(), memory.sentence())}),
        ),
    );
    let tasks = lines(
        TASKS,
        Box::new(move |n| json!({"task": format!("please {} and number {n}", task.sentence())})),
    );
    let mut files = vec![
        ("tools.toml".to_owned(), tools),
        ("memories.jsonl".to_owned(), memories),
        ("tasks.jsonl".to_owned(), tasks),
        ("foreword.toml".to_owned(), "[assembly]\ninclude_git = false\n".to_owned()),
    ];
    for n in 0..SKILLS {
        let (what, more) = (dice.sentence(), dice.sentence());
        let body: String = (0..40).map(|_| format!("First {}.\n", dice.sentence())).collect();
        let text = format!(
            "---\nname: skill-{n}\ndescription: How to {what}; also to {more}.\n---\n\n# How to {what}\n\n{body}"
        );
        files.push((format!("skills/skill-{n}/SKILL.md"), text));
    }
    for (path, text) in files {
        let path = workspace.join(path);
        let wrote = TaskError::io(format!("cannot write {}", path.display()));
        let folder = path.parent().unwrap_or(workspace);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(wrote)?;
    }
    Ok(())
}
