//! `kill -9` of the host or of the agent at random moments: nothing that was finished is lost, nothing
//! is broken, nothing is left behind.
//!
//! A few rounds run with every test run; `FOREWORD_KILL_ROUNDS=200` asks for more, and
//! `FOREWORD_KILL_SEED` for other moments.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Scratch;
use crate::support::model::{Answer, ModelServer, text, tool};
use rusqlite::Connection;
use serde_json::{Value, json};

const ROUNDS: u64 = 60;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A model that writes a task, proposes a skill, runs a command, and then says something.
fn model() -> ModelServer {
    ModelServer::start(|number, asked| {
        std::thread::sleep(Duration::from_millis(20));
        let results = asked.body["messages"].as_array().unwrap().iter().rev();
        let done = results
            .take_while(|message| message["content"][0]["type"] != "text")
            .filter(|message| message["role"] == "assistant")
            .count();
        let tool =
            |name: &str, input: Value| Answer::Tools(String::new(), vec![(name.to_owned(), input)]);
        match done {
            0 => tool("task_create", json!({"title": format!("task {number}")})),
            1 => {
                let content = format!("# Skill {number}\n\nStep {number}.\n");
                let skill = format!("skill-{number}");
                tool("skill_propose", json!({"skill": skill, "content": content, "reason": "test"}))
            }
            2 => tool("bash", json!({"command": "sleep 0.05; echo done"})),
            _ => Answer::Text(format!("Answer {number}.")),
        }
    })
}

fn start(scratch: &Scratch, runtime: &Path, model: &ModelServer, session: &str) -> Child {
    crate::support::command()
        .args(["run", "--quiet", "--trust", "--json", "--session", session, "-m", "Go on."])
        .current_dir(scratch.path())
        .env("FOREWORD_CONFIG_DIR", scratch.config_dir())
        .env("XDG_RUNTIME_DIR", runtime)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "test-key")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Processes whose arguments tell that they belong here, with their arguments.
fn processes(scratch: &Scratch) -> Vec<(u32, String)> {
    let mark = scratch.path().to_str().unwrap();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let found = all.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let here = std::fs::read_link(entry.path().join("cwd")).ok();
        let ours = line.contains(mark) || here.is_some_and(|cwd| cwd.starts_with(mark));
        ours.then_some((pid, line))
    });
    found.collect()
}

/// The agent itself: inside the sandbox, below the launcher.
fn agent(scratch: &Scratch) -> Option<u32> {
    let all = processes(scratch);
    all.iter()
        .find(|(_, line)| {
            line.trim_end().ends_with("foreword agent")
                && !line.contains("bwrap")
                && !line.contains("--")
        })
        .map(|(pid, _)| *pid)
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
}

fn output(mut child: Child) -> (Option<i32>, String, String) {
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stdout, stderr)
}

/// Everything below a directory, with the content of files.
fn files(directory: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| {
        let own = (path.clone(), std::fs::read_to_string(&path).unwrap_or_default());
        let inside = if path.is_dir() { files(&path) } else { Vec::new() };
        std::iter::once(own).chain(inside).collect::<Vec<_>>()
    };
    entries.flat_map(below).collect()
}

#[test]
fn nothing_finished_is_lost_and_nothing_is_left() {
    let rounds = setting("FOREWORD_KILL_ROUNDS", ROUNDS);
    let mut dice = Dice(setting("FOREWORD_KILL_SEED", 20_260_226));
    let scratch = Scratch::new(&[
        ("foreword.toml", "model = 'test-model'\n"),
        ("AGENTS.md", "Work on the shop.\n"),
    ]);
    let runtime = tempfile::tempdir().unwrap();
    let model = model();
    let began = Instant::now();
    let (code, stdout, stderr) = output(start(&scratch, runtime.path(), &model, "s0"));
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let whole = u64::try_from(began.elapsed().as_millis()).unwrap();
    let mut finished: Vec<(String, i64, String)> = Vec::new();
    let (mut agents, mut hosts, mut unhurt) = (0, 0, 0);
    for round in 0..rounds {
        let session = format!("s{}", dice.below(4));
        let mut child = start(&scratch, runtime.path(), &model, &session);
        std::thread::sleep(Duration::from_millis(dice.below(whole + whole / 8)));
        let of_agent = dice.below(2) == 0;
        if child.try_wait().unwrap().is_some() {
            unhurt += 1;
        } else if of_agent && let Some(agent) = agent(&scratch) {
            agents += 1;
            kill(agent);
        } else {
            hosts += 1;
            child.kill().unwrap();
        }
        let (code, stdout, stderr) = output(child);
        assert!(!stderr.contains("panicked"), "round {round}: {stderr}");
        match (code, serde_json::from_str::<Value>(&stdout)) {
            // Whoever was told of an answer can rely on it.
            (_, Ok(report)) if report["state"] != "failed" => {
                let text = |key: &str| report[key].as_str().unwrap().to_owned();
                finished.push((text("session"), report["turn"].as_i64().unwrap(), text("answer")));
            }
            (None, Err(_)) => {}
            (code, _) => {
                assert_eq!(code, Some(1), "round {round}: {stdout}{stderr}");
                assert!(stderr.contains("the agent exited without an answer"), "{stderr}");
            }
        }
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let left = processes(&scratch);
            if left.is_empty() {
                break;
            }
            assert!(Instant::now() < deadline, "round {round}: left behind: {left:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // The next host puts in order what the dead ones left.
    let (code, stdout, stderr) = output(start(&scratch, runtime.path(), &model, "s0"));
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let left = files(&runtime.path().join("foreword"));
    assert!(left.is_empty(), "{left:?}");
    println!(
        "{rounds} rounds of at most {whole} ms: {hosts} hosts and {agents} agents killed, {unhurt} too late, {} turns finished",
        finished.len()
    );

    let database = scratch.join(".foreword/foreword.db");
    let database = Connection::open(database).unwrap();
    let fine: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(fine, "ok");
    for (session, turn, answer) in &finished {
        let sql = "SELECT state, answer FROM turns WHERE session = ?1 AND turn = ?2";
        let found: (String, String) =
            database.query_row(sql, (session, turn), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(found, ("done".to_owned(), answer.clone()), "{session} {turn}");
    }
    let sql = "SELECT count(*) FROM turns WHERE state = 'running'";
    assert_eq!(database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    drop(database);
    scratch.run(&["audit", "verify"]).ok();
    scratch.run(&["skill", "list"]).ok();
    let fsck = Command::new("git")
        .arg("--git-dir")
        .arg(scratch.join(".foreword/skills.git"))
        .args(["fsck", "--full", "--strict", "--no-dangling"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&fsck.stderr).into_owned();
    assert!(fsck.status.success(), "{said}");
    scratch.run(&["lint"]);
}

/// A terminal sends Ctrl-C to everything in the foreground, not to the host alone.
#[test]
fn ctrl_c_at_a_terminal_is_a_cancellation() {
    use std::os::unix::process::CommandExt as _;
    let scratch = Scratch::new(&[("foreword.toml", "model = 'test-model'\n")]);
    let model = ModelServer::start(|number, _| match number {
        0 => tool("bash", json!({"command": "echo one > first; echo done"})),
        1 => {
            let input = json!({"command": "touch begun; sleep 30"});
            Answer::Tools("Now the slow one.".to_owned(), vec![("bash".to_owned(), input)])
        }
        _ => text("I was interrupted."),
    });
    let mut child = crate::support::command()
        .args(["run", "--quiet", "--trust", "--json", "--session", "s", "-m", "Go on."])
        .current_dir(scratch.path())
        .env("FOREWORD_CONFIG_DIR", scratch.config_dir())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "test-key")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let since = Instant::now();
    while !scratch.join("begun").exists() {
        assert!(since.elapsed() < Duration::from_secs(30), "the agent does nothing");
        assert!(child.try_wait().unwrap().is_none(), "the run is over");
        std::thread::sleep(Duration::from_millis(10));
    }
    let kill = format!("kill -INT -{}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("\"state\": \"interrupted\""), "{said}");
    assert!(said.contains("turn interrupted") && !said.contains("without an answer"), "{said}");
    assert!(since.elapsed() < Duration::from_secs(25), "it did not wait for the command");
    let shown = scratch.run(&["session", "show", "s", "--json"]).ok().json();
    assert_eq!(shown["turns"][0]["state"], "interrupted");

    // The next turn knows what was said and done, and that it ended there.
    crate::support::host::done(&scratch, &model, &["--session", "s", "-m", "What happened?"]);
    let asked = model.asked();
    let told = &asked.last().unwrap().raw;
    for kept in [
        "Go on.",
        "echo one > first",
        "Now the slow one.",
        "touch begun; sleep 30",
        "It may or may not have taken effect.",
        "[The user interrupted the turn here.]",
        "What happened?",
    ] {
        assert!(told.contains(kept), "{kept}: {told}");
    }
}
