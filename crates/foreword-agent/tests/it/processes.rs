//! Nothing that an agent started outlives it, however it ends.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::host::only_model;
use crate::support::model::{ModelServer, Reply};
use crate::support::prompt;
use foreword_agent::{Surroundings, run};
use foreword_protocol::Provider;
use foreword_protocol::{CliProgram, Job, RunnerKind};
use foreword_testing::npm_program;
use serde_json::json;

/// Not a test: the agent, as a process of its own.
#[test]
#[ignore = "started by the tests of this file"]
fn agent_process() {
    let Some(temp_dir) = std::env::var_os("FOREWORD_TEST_AGENT") else { return };
    let surroundings =
        Surroundings { variables: std::env::vars_os().collect(), temp_dir: temp_dir.into() };
    run(std::io::stdin(), &mut std::io::stdout(), &surroundings);
}

fn agent(command: &mut Command, job: &Job, temp: &Path) -> Child {
    let mut child = command
        .env("FOREWORD_TEST_AGENT", temp)
        .env("AGENT", std::env::current_exe().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let job = serde_json::to_string(job).unwrap() + "\n";
    child.stdin.as_mut().unwrap().write_all(job.as_bytes()).unwrap();
    child
}

fn alone() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["processes::agent_process", "--exact", "--ignored", "--nocapture"]);
    command
}

/// Does a process run? One that nobody has waited for does not.
fn runs(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.starts_with(" Z"))
}

fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !check() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

/// Processes whose command line or environment names a directory.
fn processes_of(dir: &Path) -> Vec<String> {
    let dir = dir.to_str().unwrap();
    let has = |pid: &str, file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(dir)
    };
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| runs(pid) && (has(pid, "cmdline") || has(pid, "environ")))
        .collect()
}

/// A shell stands for the host: it starts the agent with its own standard input, and waits.
const HOST: &str = "exec 3<&0; \"$AGENT\" processes::agent_process --exact --ignored --nocapture <&3 & echo $! > agent; wait";

const COMMAND: &str = "(echo $BASHPID >> pids; exec sleep 300) & echo $$ >> pids; sleep 301";

#[test]
fn commands_end_with_an_agent_that_is_killed() {
    let model = ModelServer::start([Reply::calls(&[("bash", json!({ "command": COMMAND }))])]);
    let host = only_model(model.port(), prompt().system());
    let dir = tempfile::tempdir().unwrap();
    let mut job = crate::support::job(&host, Provider::Anthropic, dir.path(), &["bash"]);
    job.limits.command_seconds = 300;
    let mut child = agent(&mut alone(), &job, dir.path());
    let pids = || fs::read_to_string(dir.path().join("pids")).unwrap_or_default();
    eventually("the command does not start", || pids().lines().count() == 2);
    assert!(pids().lines().all(runs));
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the command goes on", || !pids().lines().any(runs));
    eventually("something goes on", || processes_of(dir.path()).is_empty());
}

#[test]
fn an_agent_ends_with_its_host() {
    let model = ModelServer::start([Reply::calls(&[("bash", json!({ "command": COMMAND }))])]);
    let host = only_model(model.port(), prompt().system());
    let dir = tempfile::tempdir().unwrap();
    let mut job = crate::support::job(&host, Provider::Anthropic, dir.path(), &["bash"]);
    job.limits.command_seconds = 300;
    let mut shell =
        agent(Command::new("sh").args(["-c", HOST]).current_dir(dir.path()), &job, dir.path());
    let pids = || fs::read_to_string(dir.path().join("pids")).unwrap_or_default();
    eventually("the command does not start", || pids().lines().count() == 2);
    let agent = fs::read_to_string(dir.path().join("agent")).unwrap();
    assert!(runs(agent.trim()));
    shell.kill().unwrap();
    shell.wait().unwrap();
    eventually("the agent goes on", || !runs(agent.trim()));
    eventually("the command goes on", || !pids().lines().any(runs));
}

#[test]
fn programs_end_with_an_agent_that_is_killed_and_leave_no_files() {
    for (runner, name) in [(RunnerKind::ClaudeCode, "claude"), (RunnerKind::Pi, "pi")] {
        let Some(program) = npm_program(name) else { continue };
        for host_dies in [false, true] {
            let shell = if runner == RunnerKind::Pi { "bash" } else { "Bash" };
            let command = json!({"command": COMMAND, "description": "waits"});
            let model = ModelServer::start([Reply::calls(&[(shell, command)]), Reply::Silent]);
            let host = only_model(model.port(), prompt().system());
            let (dir, temp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let mut job = crate::support::job(&host, Provider::Anthropic, dir.path(), &["bash"]);
            job.limits.command_seconds = 300;
            job.runner = runner;
            job.cli = Some(CliProgram { program: program.clone(), args: Vec::new() });
            let mut shell = agent(
                Command::new("sh").args(["-c", HOST]).current_dir(dir.path()),
                &job,
                temp.path(),
            );
            let pids = || fs::read_to_string(dir.path().join("pids")).unwrap_or_default();
            eventually("the command does not start", || pids().lines().count() == 2);
            assert!(processes_of(temp.path()).len() >= 3);
            if host_dies {
                shell.kill().unwrap();
            } else {
                kill(fs::read_to_string(dir.path().join("agent")).unwrap().trim().parse().unwrap());
            }
            shell.wait().unwrap();
            eventually("the command goes on", || !pids().lines().any(runs));
            eventually("the program goes on", || processes_of(temp.path()).is_empty());
            if host_dies {
                let left = || fs::read_dir(temp.path()).unwrap().count();
                eventually("private files stay behind", || left() == 0);
            }
        }
    }
}
