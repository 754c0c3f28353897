//! The runners of others, for real: the `claude` and `pi` programs in a sandbox, against a model on
//! loopback.
//!
//! They are found in `FOREWORD_TEST_NPM` (`cargo xtask tools` installs them there) or on the PATH.

use crate::support::model::{Answer, Asked, ModelServer, text};
use crate::support::{Foreword, Scratch};
use serde_json::{Value, json};

const SKILL: &str = "# Deploy\n\n1. Run tests\n2. Build\n3. Deploy\n";

fn workspace(blueprint: &str) -> Scratch {
    Scratch::new(&[
        (
            "foreword.toml",
            &format!("blueprint = '{blueprint}'\nmodel = 'claude-sonnet-4-20250514'\n"),
        ),
        ("SOUL.md", "Calm and exact.\n"),
        ("AGENTS.md", "Work on the shop.\n"),
    ])
}

/// The search path with the programs from npm first; skips the test without this one.
pub(crate) fn path_with(program: &str) -> Option<String> {
    foreword_testing::npm_program(program)?;
    Some(foreword_testing::npm_path().into_string().unwrap())
}

fn run(scratch: &Scratch, path: &str, model: &ModelServer, args: &[&str]) -> Foreword {
    scratch
        .command(&[&["run", "--quiet", "--trust", "--json", "--session", "ops"], args].concat())
        .env("PATH", path)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "sk-ant-test-key-of-the-host")
}

/// Proposes a skill when asked for one, then says so; answers anything else.
fn deploy_script(tool: &'static str) -> impl Fn(usize, &Asked) -> Answer {
    move |_, asked| {
        let said = asked.last_message();
        if said.contains("AUTO_APPROVE") {
            return text("I made a checklist.");
        }
        if said.contains("I need a deploy checklist") {
            let input =
                json!({"skill": "deploy-checklist", "content": SKILL, "reason": "Codify it"});
            return Answer::Tools("One moment.".to_owned(), vec![(tool.to_owned(), input)]);
        }
        text("Here it is.")
    }
}

/// What `foreword build` gives for the Context of the next turn.
fn built(scratch: &Scratch, path: &str, model: &ModelServer, args: &[&str]) -> Value {
    let args = [args, &["--dry-run", "context"]].concat();
    let context = run(scratch, path, model, &args).run().ok().stdout;
    scratch.command(&["build", "--context", "-", "--json"]).stdin(context).run().ok().json()
}

fn story(
    runner: &str,
    program: &str,
    tool: &'static str,
    blueprint: &str,
    check: fn(&Asked, &str),
) {
    let Some(path) = path_with(program) else { return };
    let scratch = workspace(blueprint);
    let model = ModelServer::start(deploy_script(tool));
    let first = ["--runner", runner, "-m", "I need a deploy checklist"];
    let report = run(&scratch, &path, &model, &first).run().ok().json();
    assert_eq!(report["state"], "done");
    assert_eq!(report["sandbox"], "bwrap");
    assert!(report["answer"].as_str().unwrap().contains("I made a checklist."), "{report}");
    assert!(scratch.join("skills/deploy-checklist/SKILL.md").exists());

    let second = ["--runner", runner, "-m", "show me the deploy checklist"];
    let expected = built(&scratch, &path, &model, &second);
    let before = model.asked().len();
    run(&scratch, &path, &model, &second).run().ok();
    let asked = model.asked();
    let system = expected["system"].as_str().unwrap();
    assert!(system.contains("deploy-checklist"), "{system}");
    for asked in &asked[before..] {
        // The clock moves on between the two; the parts of a session do not.
        check(asked, system);
        assert_eq!(asked.header("x-api-key"), Some("sk-ant-test-key-of-the-host"));
        assert!(!asked.raw.contains("sk-ant-test-key-of-the-host"));
    }
    let said = asked[before].last_message();
    assert!(said.contains("I need a deploy checklist"), "the conversation goes on: {said}");
}

#[test]
fn claude_code_gets_the_prompt_as_its_last_system_block() {
    story("claude-code", "claude", "mcp__foreword__skill_propose", "standard", |asked, system| {
        assert_eq!(asked.system().last().map(String::as_str), Some(system));
    });
}

#[test]
fn pi_gets_the_prompt_as_the_prefix_of_its_system_text() {
    story("pi", "pi", "skill_propose", "standard", |asked, system| {
        assert!(asked.system().concat().starts_with(system));
    });
}

/// A sandbox without a network of its own needs a port that nobody else has.
fn in_a_subprocess(runner: &str, program: &str) {
    let Some(path) = path_with(program) else { return };
    let scratch = workspace("standard");
    let model = ModelServer::start(|_, _| text("Here it is."));
    let args = ["--runner", runner, "--sandbox", "subprocess", "-m", "hello"];
    let report = run(&scratch, &path, &model, &args).run().ok().json();
    assert_eq!(report["state"], "done");
    assert!(report["answer"].as_str().unwrap().contains("Here it is."), "{report}");
}

#[test]
fn pi_reaches_the_model_from_a_subprocess() {
    in_a_subprocess("pi", "pi");
}

#[test]
fn claude_code_reaches_the_model_from_a_subprocess() {
    in_a_subprocess("claude-code", "claude");
}

#[test]
fn claude_code_uses_its_own_login_where_there_is_no_key() {
    let Some(path) = path_with("claude") else { return };
    let scratch = workspace("standard");
    let model = ModelServer::saying(vec![text("Here I am.")]);
    let run = scratch
        .command(&["run", "-q", "--trust", "--runner", "claude-code", "-m", "hello"])
        .env("PATH", path)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-the-login")
        .run();
    assert_eq!((run.status, run.stdout.as_str()), (0, "Here I am.\n"), "{}", run.stderr);
    let asked = model.asked();
    assert!(!asked.is_empty());
    for asked in &asked {
        assert_eq!(asked.header("authorization"), Some("Bearer sk-ant-oat01-the-login"));
        assert_eq!(asked.header("x-api-key"), None);
        assert!(asked.header("anthropic-beta").unwrap().contains("oauth-2025-04-20"));
    }
}

#[test]
fn ctrl_c_keeps_what_claude_code_and_pi_did() {
    for (runner, program, bash) in [("claude-code", "claude", "Bash"), ("pi", "pi", "bash")] {
        let Some(path) = path_with(program) else { return };
        let scratch = workspace("standard");
        let model = ModelServer::start(move |_, asked| {
            if asked.raw.contains("What happened?") {
                return text("I was interrupted.");
            }
            let input = json!({"command": "touch begun; sleep 60", "description": "Wait"});
            Answer::Tools("Now the slow one.".to_owned(), vec![(bash.to_owned(), input)])
        });
        let mut child = run(&scratch, &path, &model, &["--runner", runner, "-m", "Go on."]).spawn();
        let since = std::time::Instant::now();
        while !scratch.join("begun").exists() {
            assert!(since.elapsed().as_secs() < 60, "{runner} does nothing");
            assert!(child.try_wait().unwrap().is_none(), "{runner} is over");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let kill = format!("kill -INT {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{runner}");
        let args = ["--runner", runner, "-m", "What happened?"];
        run(&scratch, &path, &model, &args).run().ok();
        let asked = model.asked();
        let told = asked.iter().rev().find(|asked| asked.raw.contains("What happened?")).unwrap();
        for kept in ["Go on.", "touch begun; sleep 60", "[The user interrupted the turn here.]"] {
            assert!(told.raw.contains(kept), "{runner}: {kept}: {}", told.raw);
        }
    }
}

/// With newer models, Claude Code puts reminders into the conversation as the system.
#[test]
fn claude_code_works_with_the_default_model() {
    let Some(path) = path_with("claude") else { return };
    let scratch = Scratch::new(&[("AGENTS.md", "Work on the shop.\n")]);
    let model = ModelServer::saying(vec![text("Hello.")]);
    let args = ["--runner", "claude-code", "-m", "hi"];
    let report = run(&scratch, &path, &model, &args).run().ok().json();
    assert_eq!(report["state"], "done", "{report}");
    for asked in model.asked() {
        let messages = asked.body["messages"].as_array().unwrap();
        assert!(messages.iter().all(|message| message["role"] != "system"), "{}", asked.raw);
    }
}
