//! What the tests of agents share: a model's server that follows a script, and a host.
#![allow(dead_code, clippy::print_stderr, reason = "no test needs all of it; skipped tests say so")]

pub(crate) mod host;
pub(crate) mod model;

use std::path::{Path, PathBuf};

use foreword::{Blueprint, Context, Prompt};
use foreword_protocol::{
    AgentEvent, Job, JobLimits, LocalTool, RunnerKind, action_schema, actions,
};
use foreword_protocol::{Provider, ToolSpec};

use self::host::TestHost;

/// A Context with something in every part of the prompt that a test may look for.
pub(crate) fn context() -> Context {
    Context::from_json(
        r##"{
            "agentId": "tester",
            "workspace": "/work",
            "identityFiles": {"soul": "# Soul\n\nYou are calm, \"quoted\" and ünïcode → 😀.\n"},
            "task": "Help.",
            "memories": ["The person likes tea."],
            "now": "2026-02-26T14:30:00Z",
            "tools": ["read", "write", "bash", "skill_propose", "skill_list"]
        }"##,
    )
    .unwrap()
}

/// The prompt that [`job`] leads to.
pub(crate) fn prompt() -> Prompt {
    Blueprint::builtin("standard").unwrap().build(&context())
}

/// Tools of the sandbox and of the host, by name.
pub(crate) fn tools(names: &[&str]) -> Vec<ToolSpec> {
    names
        .iter()
        .map(|name| match LocalTool::named(name) {
            Some(tool) => tool.spec(),
            None => {
                let action = actions().iter().find(|action| action.name == *name).unwrap();
                ToolSpec {
                    name: action.name.into(),
                    description: action.description.into(),
                    input_schema: action_schema(action).into(),
                }
            }
        })
        .collect()
}

/// A job for the native loop that works in a directory.
pub(crate) fn job(host: &TestHost, provider: Provider, cwd: &Path, tool_names: &[&str]) -> Job {
    let context = context();
    Job {
        message: "What is up?".into(),
        history: Vec::new(),
        context,
        blueprint: Blueprint::builtin("standard").unwrap().source().clone(),
        runner: RunnerKind::Native,
        provider,
        model: "test-model".into(),
        stream: true,
        tools: tools(tool_names),
        commands: Default::default(),
        restrictions: Vec::new(),
        file_rules: Default::default(),
        cwd: cwd.into(),
        socket: host.socket(),
        token: host.token().into(),
        foreword: PathBuf::from("foreword"),
        cli: None,
        bridge_port: None,
        limits: JobLimits { command_seconds: 20, ..JobLimits::default() },
        turn: 1,
        room: None,
    }
}

/// The events in what an agent wrote.
pub(crate) fn events(output: &[u8]) -> Vec<AgentEvent> {
    let text = std::str::from_utf8(output).unwrap();
    text.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All pieces of text, joined.
pub(crate) fn said(events: &[AgentEvent]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// The results of tools, with `!` before those that failed.
pub(crate) fn results(events: &[AgentEvent]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::ToolResult { name, content, is_error, .. } => {
                Some(format!("{}{name}: {content}", if *is_error { "!" } else { "" }))
            }
            _ => None,
        })
        .collect()
}
