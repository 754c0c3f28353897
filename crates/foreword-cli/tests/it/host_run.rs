//! `foreword run` against a model on loopback, in a real sandbox.

use crate::support::model::{ModelServer, text, tool};
use crate::support::{Foreword, Scratch};
use serde_json::json;

const CONFIG: &str = "model = 'test-model'\n";

fn workspace() -> Scratch {
    Scratch::new(&[
        ("foreword.toml", CONFIG),
        ("SOUL.md", "Calm and exact.\n"),
        ("AGENTS.md", "Work on the shop.\n"),
    ])
}

fn run(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    scratch
        .command(&[&["run", "--quiet"], args].concat())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "sk-ant-test-key-of-the-host")
}

#[test]
fn a_proposed_skill_is_in_the_next_turns_prompt() {
    let scratch = workspace();
    let skill = "# Deploy\n\n1. Run tests\n2. Build\n3. Deploy\n";
    let model = ModelServer::saying(vec![
        tool(
            "skill_propose",
            json!({"skill": "deploy-checklist", "content": skill, "reason": "Codify it"}),
        ),
        text("I made a checklist."),
        text("Here it is."),
    ]);
    let first = run(
        &scratch,
        &model,
        &["--trust", "--session", "ops", "-m", "I need a deploy checklist", "--json"],
    )
    .run()
    .ok()
    .json();
    assert_eq!(first["answer"], "I made a checklist.");
    assert_eq!(first["state"], "done");
    assert_eq!(first["sandbox"], "bwrap");
    assert_eq!(first["usage"]["cacheReadTokens"], 14);
    assert!(scratch.join("skills/deploy-checklist/SKILL.md").exists());
    let second = run(
        &scratch,
        &model,
        &["--session", "ops", "-m", "show me the deploy checklist", "--json"],
    )
    .run()
    .ok()
    .json();
    assert_eq!(second["turn"], 2);
    let asked = model.asked();
    assert_eq!(asked.len(), 3);
    assert!(!asked[0].raw.contains("deploy-checklist"));
    assert!(asked[1].last_message().contains("AUTO_APPROVE"), "{}", asked[1].last_message());
    assert!(asked[2].system().concat().contains("deploy-checklist"));
    assert_eq!(asked[0].header("x-api-key"), Some("sk-ant-test-key-of-the-host"));
    assert!(!asked[2].raw.contains("sk-ant-test-key-of-the-host"));
}
