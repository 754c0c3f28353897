//! One prompt: what `build --runner` prints is what the runner sends, byte for byte.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::Scratch;
use crate::support::host::{done, on_host};
use crate::support::model::{Answer, Asked, ModelServer, text};
use serde_json::Value;

const BLUEPRINTS: [&str; 5] = ["standard", "guarded", "semantic", "roles", "companion"];
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn workspace(blueprint: &str) -> Scratch {
    Scratch::new(&[
        (
            "foreword.toml",
            &format!("blueprint = '{blueprint}'\n[model]\nname = 'claude-sonnet-4-20250514'\n"),
        ),
        ("SOUL.md", "Calm and exact.\n"),
        ("AGENTS.md", "Work on the shop.\n"),
        ("HEARTBEAT.md", "Look at the queue.\n"),
        ("skills/tea/SKILL.md", "---\nname: tea\ndescription: Make tea\n---\nBoil water.\n"),
    ])
}

fn minute() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60
}

/// Builds and runs the next turn of a session in the same minute, since prompts state the time. The
/// build needs no key and no server.
fn built_and_sent(
    scratch: &Scratch,
    model: &ModelServer,
    path: &str,
    runner: &str,
    message: &str,
) -> (Value, Asked) {
    loop {
        let began = minute();
        let build = ["build", "--json", "--runner", runner, "--session", "ops", message];
        let built = scratch.command(&build).env("PATH", path).run().ok().json();
        let before = model.asked().len();
        let run = ["run", "--quiet", "--json", "--trust", "--runner", runner, "--session", "ops"];
        let run = [run.as_slice(), &["-m", message]].concat();
        on_host(scratch, model, &run).env("PATH", path).run().ok();
        if minute() == began {
            return (built, model.asked()[before].clone());
        }
    }
}

fn part<'v>(built: &'v Value, name: &str) -> &'v str {
    built[name].as_str().unwrap()
}

#[test]
fn build_prints_what_the_native_runner_sends() {
    for blueprint in BLUEPRINTS {
        let scratch = workspace(blueprint);
        let model = ModelServer::saying(vec![text("Hello.")]);
        // A session that does not exist yet, then the same one with a history.
        for message in ["how do I make tea?", "and coffee?"] {
            let (built, asked) = built_and_sent(&scratch, &model, PATH, "native", message);
            assert_eq!(asked.system().concat(), part(&built, "system"), "{blueprint}");
            let newest = asked.body["messages"].as_array().unwrap().last().unwrap();
            let blocks = newest["content"].as_array().unwrap();
            let sent: Vec<&str> = blocks.iter().map(|block| part(block, "text")).collect();
            let mut expected = vec![part(&built, "turnContext"), message];
            expected.retain(|part| !part.is_empty());
            assert_eq!(sent, expected, "{blueprint}");
        }
    }
}

/// Another program's loop, which puts texts of its own around the prompt.
fn every_blueprint(runner: &str, program: &str, check: fn(&Asked, &str)) {
    if foreword_testing::npm_program(program).is_none() {
        return;
    }
    let path = foreword_testing::npm_path().into_string().unwrap();
    for blueprint in BLUEPRINTS {
        let scratch = workspace(blueprint);
        let model = ModelServer::saying(vec![text("Hello.")]);
        let message = "how do I make tea?";
        let (built, asked) = built_and_sent(&scratch, &model, &path, runner, message);
        check(&asked, part(&built, "system"));
        let turn_context = part(&built, "turnContext").trim_end();
        let said = asked.last_message();
        assert!(said.contains(turn_context) && said.contains(message), "{blueprint}: {said}");
    }
}

#[test]
fn build_prints_what_claude_code_sends() {
    every_blueprint("claude-code", "claude", |asked, system| {
        assert_eq!(asked.system().last().map(String::as_str), Some(system));
    });
}

#[test]
fn build_prints_what_pi_sends() {
    every_blueprint("pi", "pi", |asked, system| {
        assert!(asked.system().concat().starts_with(system), "{system}");
    });
}

/// The canary of a prompt.
fn canary(prompt: &str) -> String {
    let start = prompt.find("fwc").unwrap();
    prompt[start..].chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn a_new_session_has_a_canary_before_its_first_turn_and_never_one_that_leaked() {
    let scratch = workspace("standard");
    let model = ModelServer::start(|number, asked| match number {
        0 => Answer::Text(canary(&asked.system().concat())),
        _ => text("Hello."),
    });
    let built = |session: &str| {
        let args = ["build", "--runner", "native", "--session", session, "hi"];
        canary(&scratch.command(&args).env("PATH", PATH).run().ok().stdout)
    };
    let first = built("ops");
    assert_eq!(built("ops"), first);
    assert_ne!(built("dev"), first, "each session has its own");
    let leaked = on_host(
        &scratch,
        &model,
        &["run", "--quiet", "--trust", "--session", "ops", "-m", "tell me"],
    );
    assert_eq!(leaked.run().status, 1);
    assert_eq!(canary(&model.asked()[0].system().concat()), first);
    let second = built("ops");
    assert_ne!(second, first, "a leak changes it");
    scratch.run(&["session", "rm", "ops", "--yes", "--quiet"]).ok();
    let third = built("ops");
    assert!(third != first && third != second, "removal brings no canary back");
    done(&scratch, &model, &["--session", "ops", "-m", "hi"]);
    assert_eq!(canary(&model.asked()[1].system().concat()), third);
}

#[test]
fn what_the_host_decides_is_not_given_on_the_command_line() {
    let scratch = workspace("standard");
    let run = scratch.run(&["build", "--runner", "native", "--taint-ratio", "0.5", "hi"]);
    assert!(run.fails(2).contains("cannot be used with"), "{}", run.stderr);
    let run = scratch.run(&["build", "--runner", "natve", "hi"]);
    assert!(run.fails(2).contains("natve"), "{}", run.stderr);
}

/// Log collectors see every prompt, whoever had it built.
#[test]
fn every_front_end_logs_the_prompt_it_built() {
    let scratch = workspace("standard");
    let model = ModelServer::saying(vec![text("Hello.")]);
    let built = |said: &str| {
        let line = said.lines().find(|line| line.contains("prompt_built"));
        line.unwrap_or_else(|| panic!("no event: {said}")).to_owned()
    };
    let expected = built(&scratch.run(&["build", "-v", "hi"]).stderr);
    assert!(expected.contains("blueprint=\"standard\""), "{expected}");
    built(&scratch.run(&["explain", "-v", "hi"]).stderr);
    let request = r#"{"id": 1, "method": "build", "params": {"task": "hi"}}"#;
    built(&scratch.command(&["serve", "--stdio", "-v"]).stdin(request).run().stderr);
    let run = on_host(&scratch, &model, &["run", "-v", "--trust", "-m", "hi"]).run();
    assert!(built(&run.stderr).contains("module_count="), "{}", run.stderr);
    let dry = on_host(&scratch, &model, &["run", "-v", "--trust", "--dry-run", "-m", "hi"]).run();
    built(&dry.stderr);
    let chat = on_host(&scratch, &model, &["chat", "-v", "--trust"]).stdin("hi\n").run();
    built(&chat.stderr);
    let requests = [
        r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}"#,
        r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
        r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "prompt_build", "arguments": {"task": "hi"}}}"#,
    ];
    let mcp = on_host(&scratch, &model, &["mcp", "-v"]).stdin(requests.join("\n") + "\n").run();
    built(&mcp.stderr);
}
