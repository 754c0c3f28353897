//! The checks of `fuzz/ipc_checks.rs` on arbitrary text, and on calls, jobs and events that were damaged.
//! `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/ipc_checks.rs"]
mod checks;

use crate::harness::{anything, damaged, fuzz};
use foreword::{Blueprint, Context};
use foreword_protocol::{Job, JobLimits, LocalTool, RunnerKind};
use foreword_protocol::{Message, Provider};

const CALLS: &[&str] = &[
    "{\"id\":1,\"token\":\"t\",\"action\":\"skill_list\"}\n{\"id\":2,\"token\":\"t\",\"action\":\"skill_read\",\"args\":{\"name\":\"tea\"}}\n",
    "{\"id\":3,\"token\":\"t\",\"action\":\"skill_propose\",\"args\":{\"skill\":\"tea\",\"content\":\"# T\\u00e9a\\n\",\"reason\":null}}\r\n",
    "{\"id\":4,\"token\":\"t\",\"action\":\"memory_write\",\"args\":{\"text\":\"x\",\"kind\":\"activity\",\"importance\":0.1}}\n",
    "{\"id\":5,\"token\":\"t\",\"action\":\"model_call\",\"args\":{\"path\":\"/v1/messages\",\"headers\":{\"a\":\"b\"},\"body\":{\"x\": [1e5, 0.10],\"y\":\"\\n\"}}}\n",
    "{\"id\":6,\"token\":\"t\",\"action\":\"chain_run\",\"args\":{\"stages\":[{\"role\":\"a\",\"prompt\":\"b\",\"runtimeContext\":{\"mode\":\"sub-agent\"}}]}}\n",
    "{\"id\":7,\"token\":\"t\",\"action\":\"todo_write\",\"args\":{\"items\":[{\"text\":\"a\",\"state\":\"doing\"}]}}\n",
    "{\"id\":8,\"token\":\"t\",\"action\":\"schedule_add\",\"args\":{\"cron\":\"@daily\",\"prompt\":\"p\"}}\n",
];

#[test]
fn any_line() {
    fuzz(damaged(CALLS), checks::call);
}

#[test]
fn a_fault_does_not_repeat_all_it_read() {
    let long = "x".repeat(1 << 19);
    for line in [
        format!(r#"{{"id":1,"token":"t","action":"skill_list","args":{{"{long}":1}}}}"#),
        format!(r#"{{"id":1,"token":"t","action":"{long}"}}"#),
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"id":"{long}"}}"#),
        format!(r#"{{"id":1,"token":"t","action":"task_list","args":{{"state":"{long}"}}}}"#),
    ] {
        checks::call(&(line + "\n"));
    }
}

const EVENTS: &[&str] = &[
    r#"{"type":"text","text":"Hello"}"#,
    r#"{"type":"toolCall","id":"1","name":"bash","input":{"command":"ls","n":[1.5e300,null]}}"#,
    r#"{"type":"toolResult","id":"1","name":"bash","content":"a\nb","isError":false}"#,
    r#"{"type":"done","messages":[{"role":"assistant","content":[{"type":"text","text":"Hi"}]}],"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}"#,
];

const STREAMS: &[&str] = &[
    "{\"id\":1}\n{\"id\":2}\r\n\r\n\n{\"id\":3",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
     aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n",
];

/// A job as a host writes it.
fn job() -> &'static [&'static str] {
    let job = Job {
        message: "Hello!".to_owned(),
        history: vec![Message::user("Hi"), Message::assistant("Hi.")],
        context: Context::from_json("{}").unwrap(),
        blueprint: Blueprint::builtin("standard").unwrap().source().clone(),
        runner: RunnerKind::Native,
        provider: Provider::Anthropic,
        model: "test".to_owned(),
        stream: true,
        commands: Default::default(),
        restrictions: Vec::new(),
        file_rules: Default::default(),
        tools: vec![LocalTool::named("read").unwrap().spec()],
        cwd: "/nonexistent".into(),
        socket: "/nonexistent/ipc.sock".into(),
        token: "t".to_owned(),
        foreword: "/nonexistent/foreword".into(),
        cli: None,
        bridge_port: Some(8080),
        limits: JobLimits::default(),
        turn: 1,
        room: None,
    };
    let text: &'static str = serde_json::to_string(&job).unwrap().leak();
    assert!(serde_json::from_str::<Job>(text).is_ok(), "there is something to damage");
    vec![text].leak()
}

#[test]
fn any_stream_in_lines() {
    fuzz(anything(), checks::frames);
    fuzz(damaged(STREAMS), checks::frames);
}

#[test]
fn any_text_as_a_job() {
    fuzz(damaged(job()), checks::job);
}

#[test]
fn any_line_as_an_event() {
    fuzz(damaged(EVENTS), checks::event);
}
