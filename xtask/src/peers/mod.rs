//! `cargo xtask bench-peers`: our builder beside others, in one run on one machine.
//!
//! Beside ours stand the TypeScript builder that seed 000 describes (taken out of the document when it
//! is given) and the builder of pi-coding-agent. Passes alternate, so that a busy moment hits all of
//! them, and the best of each counts. Prompts differ in length, so there is a column per KB.

mod machine;
mod report;
mod seed;
pub(crate) mod start;

#[path = "../../../crates/foreword/benches/inputs/mod.rs"]
#[allow(dead_code, reason = "the benchmarks use the rest")]
mod inputs;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::error::TaskError;
use crate::peers::report::{Absent, Builder, Report};
use crate::peers::start::Starts;
use crate::steps::{Steps, cargo, root, target};

const METADATA: &str = "foreword, guarded, metadata";
const MANIFEST: &str = "foreword, guarded, whole manifest";
const DIGESTS: &str = "foreword, guarded, manifest and digests";
const DAY: &str = "foreword, standard, 12,000 characters";
const SKILLS: &str = "foreword, standard, 500 skills, tight";
const SEED: &str = "seed 000 (TypeScript, node), metadata";
const PI: &str = "pi-coding-agent 0.73.1 (node), text only";

const BUILD: &str = "foreword build -w examples/companion";
const NODE: &str = "node -e 0";
const PI_ONCE: &str = "pi's builder alone, loaded and run once";
const PI_VERSION: &str = "pi --version";

const PASSES: usize = 3;
const STARTS: usize = 20;
const PEERS: [&str; 2] = ["@mariozechner/pi-coding-agent@0.73.1", "esbuild@0.28.2"];

/// What the user asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The document of seed 000.
    pub(crate) seed: Option<PathBuf>,
    pub(crate) json: bool,
}

/// A builder and the command that measures one pass of it.
struct Measured {
    builder: Builder,
    command: Command,
}

/// Measures everything there is and prints it.
pub(crate) fn run(steps: &mut Steps, options: &Options) -> Result<(), TaskError> {
    let node = machine::said(Command::new("node").arg("--version"));
    if node.is_none() || machine::said(Command::new("npm").arg("--version")).is_none() {
        return Err(TaskError::Missing {
            program: "node with npm".to_owned(),
            hint: "the builders to compare with run on it; install Node.js 20 or later",
        });
    }
    let folder = target().join("peers");
    let wrote = |path: &Path| TaskError::io(format!("cannot write {}", path.display()));
    std::fs::create_dir_all(&folder).map_err(wrote(&folder))?;
    for (name, text) in [
        ("measure.mjs", include_str!("measure.mjs").to_owned()),
        ("seed.mjs", include_str!("seed.mjs").to_owned()),
        ("pi.mjs", include_str!("pi.mjs").to_owned()),
        ("package.json", "{\"private\": true}\n".to_owned()),
        ("integration.json", inputs::INTEGRATION.to_owned()),
        ("day.json", inputs::working_day().to_string()),
        ("skills.json", inputs::many_skills().to_string()),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(wrote(&path))?;
    }
    steps
        .run("build foreword", cargo().args(["build", "--release", "--package", "foreword-cli"]))?;
    let mut install = Command::new("npm");
    install.args([
        "install",
        "--no-save",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--silent",
    ]);
    steps.run("install peers", install.arg("--prefix").arg(&folder).args(PEERS))?;
    steps.verdict()?;

    let mut absent = Vec::new();
    let mut measured = ours(&folder);
    match transpile(steps, &folder, options.seed.as_deref())? {
        Ok(builder) => {
            let mut command = Command::new("node");
            command.arg(folder.join("seed.mjs")).arg(builder);
            command.arg(folder.join("integration.json")).arg("20000");
            measured.push(Measured { builder: Builder::new(SEED), command });
        }
        Err(why) => absent.push(Absent { name: SEED, why }),
    }
    let pi = folder.join("node_modules/@mariozechner/pi-coding-agent");
    let pi_build = |builds: &str| {
        let mut command = Command::new("node");
        command
            .arg(folder.join("pi.mjs"))
            .arg(&pi)
            .arg(folder.join("integration.json"))
            .arg(builds);
        command
    };
    measured.push(Measured { builder: Builder::new(PI), command: pi_build("20000") });

    // Starts first: a child's peak memory is at least that of the process it came from.
    let starts = starts(&pi, pi_build("once"))?;
    for pass in 1..=PASSES {
        eprintln!("==> measure: pass {pass} of {PASSES}");
        for entry in &mut measured {
            entry.builder.add(&result(&mut entry.command, entry.builder.name)?);
        }
    }
    let report = Report {
        machine: machine::facts(node.as_deref()),
        builders: measured.into_iter().map(|entry| entry.builder).collect(),
        starts,
        absent,
    };
    if options.json {
        println!("{:#}", report.json());
    } else {
        println!("\n{}", report.text());
    }
    Ok(())
}

fn ours(folder: &Path) -> Vec<Measured> {
    let rows = [
        (METADATA, "integration.json", "guarded", "metadata", "50000"),
        (MANIFEST, "integration.json", "guarded", "manifest", "50000"),
        (DIGESTS, "integration.json", "guarded", "digests", "20000"),
        (DAY, "day.json", "standard", "metadata", "20000"),
        (SKILLS, "skills.json", "standard", "metadata", "500"),
    ];
    rows.map(|(name, context, blueprint, with, builds)| {
        let mut command = Command::new(binary());
        command.args(["eval", "speed", "--json", "--blueprint", blueprint, "--with", with]);
        command.args(["--builds", builds, "--context"]).arg(folder.join(context));
        Measured { builder: Builder::new(name), command }
    })
    .into()
}

/// The seed's builder as one JavaScript file, or why there is none.
fn transpile(
    steps: &mut Steps,
    folder: &Path,
    document: Option<&Path>,
) -> Result<Result<PathBuf, String>, TaskError> {
    let Some(document) = document else {
        return Ok(Err("give the document of seed 000 with `--seed FILE`; its TypeScript is \
                       taken out of it at run time and is no part of this repository"
            .to_owned()));
    };
    let text = match std::fs::read_to_string(document) {
        Ok(text) => text,
        Err(error) => {
            let hint = "it comes with the design documents of the project";
            return Ok(Err(format!("cannot read {}: {error}; {hint}", document.display())));
        }
    };
    let source = folder.join("seed");
    for (path, text) in seed::sources(&text)? {
        let path = source.join(path);
        let fault = || TaskError::io(format!("cannot write {}", path.display()));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(fault())?;
        }
        std::fs::write(&path, text).map_err(fault())?;
    }
    let out = folder.join("seed.builder.mjs");
    let mut bundle = Command::new("node");
    bundle.arg(folder.join("node_modules/esbuild/bin/esbuild")).arg(source.join("builder.ts"));
    bundle.args(["--bundle", "--format=esm", "--platform=node", "--log-level=warning"]);
    steps.run("transpile the seed", bundle.arg(format!("--outfile={}", out.display())))?;
    steps.verdict()?;
    Ok(Ok(out))
}

/// Cold starts, alternating.
fn starts(pi: &Path, once: Command) -> Result<Vec<Starts>, TaskError> {
    eprintln!("==> measure: {STARTS} starts of each");
    let mut build = Command::new(binary());
    build.args(["build", "--workspace"]).arg(root().join("examples/companion")).arg("hi");
    let mut node = Command::new("node");
    node.args(["-e", "0"]);
    let mut version = Command::new("node");
    version.arg(pi.join("dist/cli.js")).arg("--version").env("PI_OFFLINE", "1");
    let mut starts = vec![
        Starts::new(BUILD, build),
        Starts::new(NODE, node),
        Starts::new(PI_ONCE, once),
        Starts::new(PI_VERSION, version),
    ];
    for round in 0..STARTS {
        for entry in &mut starts {
            // It takes a second; three runs tell enough.
            if entry.name != PI_VERSION || round % 7 == 0 {
                entry.run()?;
            }
        }
    }
    Ok(starts)
}

fn result(command: &mut Command, name: &str) -> Result<Value, TaskError> {
    let output = command.output().map_err(TaskError::io(format!("cannot run {name}")))?;
    let last = String::from_utf8_lossy(&output.stdout);
    let parsed = last.lines().last().and_then(|line| serde_json::from_str(line).ok());
    parsed.ok_or_else(|| {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        TaskError::Failed { steps: vec![name.to_owned()] }
    })
}

fn binary() -> PathBuf {
    target().join("release").join(format!("foreword{}", std::env::consts::EXE_SUFFIX))
}
