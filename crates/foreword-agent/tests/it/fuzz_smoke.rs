//! Any text on an agent's standard input. `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/harness.rs"]
mod harness;

use foreword_agent::{Outcome, Surroundings, run};
use foreword_protocol::AgentEvent;
use harness::{damaged, fuzz};

/// No host is behind the socket, so that a job that is still whole ends there.
const JOBS: &[&str] = &[
    r#"{"message":"hi","history":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"t","name":"read","input":{}}]}],"context":{"agentId":"a","task":"t","memories":["m"],"tools":["read"]},"blueprint":{"file":"own.toml","text":"name = \"own\"\nextends = \"standard\"\n"},"runner":"native","provider":"anthropic","model":"m","stream":true,"tools":[{"name":"read","description":"d","inputSchema":{"type":"object"}}],"cwd":"/","socket":"/nowhere/host.sock","token":"t","foreword":"/nowhere/foreword","limits":{"maxSteps":3,"commandSeconds":5,"maxToolOutputBytes":1000,"maxOutputTokens":100}}"#,
    r#"{"message":"hi","history":[],"taintRatio":0.15,"profile":"paranoid"}"#,
    "just text",
];

/// The host is told of every failure by exactly one event, the last, in words.
fn any_job(text: &str) {
    let surroundings = Surroundings { variables: Vec::new(), temp_dir: "/nowhere".into() };
    let mut output = Vec::new();
    assert_eq!(run(text.as_bytes(), &mut output, &surroundings), Outcome::Failed);
    let output = String::from_utf8(output).unwrap();
    let events: Vec<AgentEvent> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors = events.iter().filter(|event| matches!(event, AgentEvent::Error { .. })).count();
    assert_eq!(errors, 1, "{events:?}");
    let Some(AgentEvent::Error { message }) = events.last() else { panic!("{events:?}") };
    assert!(!message.is_empty());
}

#[test]
fn any_text_as_a_job() {
    fuzz(damaged(JOBS), any_job);
}
