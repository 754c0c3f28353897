//! Whole turns of the real `claude` and `pi` programs: a host in a thread, a model on loopback.
//! They are looked for in `FOREWORD_TEST_NPM` and on the path.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::host::{TestHost, only_model};
use crate::support::model::{ModelServer, Reply};
use crate::support::{events, prompt, results, said};
use foreword_agent::{Outcome, Surroundings, run};
use foreword_protocol::{Action, AgentEvent, CliProgram, ErrorCode, Failure, Job, RunnerKind};
use foreword_protocol::{Message, Provider, StopReason, system_text};
use foreword_testing::npm_program;
use serde_json::{Value, json};

const CODING: [&str; 6] = ["read", "write", "edit", "list", "search", "bash"];

/// A workspace with files that the programs would read if they were let.
fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.txt", "the content of a\n"),
        ("CLAUDE.md", "STRAY INSTRUCTIONS"),
        ("AGENTS.md", "STRAY INSTRUCTIONS"),
        (".mcp.json", r#"{"mcpServers":{"stray":{"command":"false"}}}"#),
        (".claude/settings.json", r#"{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9"}}"#),
        (".pi/APPEND_SYSTEM.md", "STRAY INSTRUCTIONS"),
        (".pi/SYSTEM.md", "STRAY INSTRUCTIONS"),
        (".pi/extensions/stray.js", "throw new Error('STRAY EXTENSION')"),
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn job(
    host: &TestHost,
    runner: RunnerKind,
    provider: Provider,
    cwd: &Path,
    tools: &[&str],
) -> Option<Job> {
    let name = if runner == RunnerKind::Pi { "pi" } else { "claude" };
    let program = npm_program(name)?;
    let mut job = crate::support::job(host, provider, cwd, tools);
    job.runner = runner;
    job.cli = Some(CliProgram { program, args: Vec::new() });
    job.history = vec![Message::user("Earlier"), Message::assistant("I remember.")];
    Some(job)
}

fn turn(job: &Job) -> (Outcome, Vec<AgentEvent>) {
    let temp = tempfile::tempdir().unwrap();
    let mut variables: Vec<_> = std::env::vars_os().collect();
    for (name, value) in [
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
        ("ANTHROPIC_API_KEY", "STRAY KEY"),
        ("HTTP_PROXY", "http://127.0.0.1:9"),
        ("NODE_OPTIONS", "--no-such-option"),
    ] {
        variables.push((name.into(), value.into()));
    }
    let surroundings = Surroundings { variables, temp_dir: temp.path().into() };
    let mut output = Vec::new();
    let stdin = serde_json::to_string(job).unwrap();
    let outcome = run(stdin.as_bytes(), &mut output, &surroundings);
    let left = fs::read_dir(temp.path()).unwrap().count();
    assert_eq!(left, 0, "private files stay behind");
    (outcome, events(&output))
}

/// What every request of a turn must be.
fn check_requests(model: &ModelServer, host: &TestHost, runner: RunnerKind, provider: Provider) {
    assert!(host.refused().is_empty(), "side calls: {:?}", host.refused());
    let prompt = prompt();
    for asked in model.asked() {
        assert!(!asked.body.contains("STRAY"), "{}", asked.body);
        assert!(asked.headers.iter().all(|(_, value)| !value.contains("STRAY")));
        let body = asked.json();
        match runner {
            RunnerKind::ClaudeCode => {
                let last = body["system"].as_array().unwrap().last().unwrap();
                assert_eq!(last["text"], prompt.system(), "not the last block, byte for byte");
            }
            _ => {
                let texts = system_text(provider, &asked.body).unwrap();
                assert_eq!(texts.len(), 1);
                assert!(texts[0].starts_with(prompt.system()), "not the prefix: {}", texts[0]);
            }
        }
        assert_eq!(body["model"], "test-model");
        assert_eq!(body["max_tokens"], 4096);
        let first = body["messages"].to_string();
        for part in ["> I remember.", "What is up?"] {
            assert!(first.contains(part), "{part} is missing");
        }
        let context = serde_json::to_string(prompt.turn_context().trim_end()).unwrap();
        assert!(first.contains(context.trim_matches('"')), "the turn context is missing");
    }
}

/// The tools that the first request offers, sorted.
fn offered(model: &ModelServer) -> Vec<String> {
    let body = model.asked()[0].json();
    let tools = body["tools"].as_array().unwrap().iter();
    let name = |tool: &Value| {
        tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned)
    };
    let mut names: Vec<String> = tools.map(|tool| name(tool).unwrap()).collect();
    names.sort_unstable();
    names
}

const RUNS: [(RunnerKind, Provider); 3] = [
    (RunnerKind::ClaudeCode, Provider::Anthropic),
    (RunnerKind::Pi, Provider::Anthropic),
    (RunnerKind::Pi, Provider::OpenAi),
];

#[test]
fn the_prompt_arrives_byte_for_byte_and_tools_work() {
    for (runner, provider) in RUNS {
        let dir = workspace();
        let path = dir.path().join("a.txt");
        let new = dir.path().join("new.txt");
        let calls = match runner {
            RunnerKind::ClaudeCode => vec![
                ("Read", json!({ "file_path": path })),
                ("Write", json!({"file_path": new, "content": "made"})),
                ("Bash", json!({"command": "echo from the shell", "description": "says"})),
            ],
            _ => vec![
                ("read", json!({ "path": path })),
                ("write", json!({"path": new, "content": "made"})),
                ("bash", json!({"command": "echo from the shell"})),
            ],
        };
        let model = ModelServer::start(
            calls
                .iter()
                .map(|call| Reply::calls(std::slice::from_ref(call)))
                .chain([Reply::says("Thät is äll.")]),
        );
        let host = only_model(model.port(), prompt().system());
        let Some(job) = job(&host, runner, provider, dir.path(), &CODING) else { continue };
        let (outcome, events) = turn(&job);
        assert_eq!(outcome, Outcome::Done, "{runner:?}: {events:?}");
        check_requests(&model, &host, runner, provider);
        assert_eq!(model.asked().len(), 4, "{runner:?}");
        assert_eq!(events[0], AgentEvent::Prompt { digest: prompt().digest() });
        assert_eq!(said(&events), "Thät is äll.");
        let results = results(&events);
        assert!(results[0].contains("the content of a"), "{results:?}");
        assert!(results[2].contains("from the shell"), "{results:?}");
        assert_eq!(results.len(), 3);
        assert_eq!(fs::read_to_string(&new).unwrap(), "made");
        let Some(AgentEvent::Done { messages, stop_reason, usage }) = events.last() else {
            panic!()
        };
        assert_eq!((messages.len(), stop_reason), (7, &StopReason::EndTurn));
        assert_eq!(usage.output_tokens, 20, "{runner:?}");
        assert_eq!(messages.last().unwrap().text(), "Thät is äll.");
    }
}

#[test]
fn readonly_agents_have_no_other_tools() {
    for (runner, provider) in RUNS {
        let dir = workspace();
        let shell = if runner == RunnerKind::Pi { "bash" } else { "Bash" };
        let model = ModelServer::start([
            Reply::calls(&[(shell, json!({"command": "touch made", "description": "x"}))]),
            Reply::says("I cannot."),
        ]);
        let host = only_model(model.port(), prompt().system());
        let Some(job) = job(&host, runner, provider, dir.path(), &["read", "list", "search"])
        else {
            continue;
        };
        let (outcome, events) = turn(&job);
        assert_eq!(outcome, Outcome::Done, "{events:?}");
        assert!(results(&events)[0].starts_with('!'), "{events:?}");
        assert!(!dir.path().join("made").exists());
        let mut expected = match runner {
            RunnerKind::Pi => ["read", "ls", "grep"],
            _ => ["Glob", "Grep", "Read"],
        };
        expected.sort_unstable();
        assert_eq!(offered(&model), expected);
    }
}

#[test]
fn failures_end_the_turn_soon_and_are_explained() {
    for (runner, provider) in RUNS {
        let overloaded =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        let model =
            ModelServer::start((0..20).map(|_| Reply::raw(529, "application/json", overloaded)));
        let dir = workspace();
        for (prompt, expected) in
            [("another prompt", "the call lacks the session's prompt"), ("", "verloaded")]
        {
            let host = only_model(model.port(), prompt);
            let Some(job) = job(&host, runner, provider, dir.path(), &[]) else { continue };
            let start = Instant::now();
            let (outcome, events) = turn(&job);
            assert_eq!(outcome, Outcome::Failed, "{events:?}");
            let Some(AgentEvent::Error { message }) = events.last() else { panic!("{events:?}") };
            assert!(message.contains(expected), "{runner:?}: {message}");
            assert!(
                start.elapsed() < Duration::from_secs(100),
                "{runner:?}: {:?}",
                start.elapsed()
            );
            assert!(model.asked().len() <= 2, "asked {} times", model.asked().len());
        }
    }
}

#[test]
fn claude_calls_tools_of_the_host_through_our_server() {
    let dir = workspace();
    let model = ModelServer::start([
        Reply::calls(&[(
            "mcp__foreword__skill_propose",
            json!({"skill": "tea", "content": "# Tea"}),
        )]),
        Reply::says("Done."),
    ]);
    let host = TestHost::start(model.port(), prompt().system(), |action| match action {
        Action::SkillPropose(args) => Ok(json!(format!("{} was taken in", args.skill))),
        _ => Err(Failure::new(ErrorCode::NotFound, "not expected")),
    });
    let tools = ["read", "skill_propose"];
    let runner = RunnerKind::ClaudeCode;
    let Some(mut job) = job(&host, runner, Provider::Anthropic, dir.path(), &tools) else { return };
    let server = tempfile::tempdir().unwrap();
    job.foreword = server.path().join("foreword.mjs");
    fs::write(&job.foreword, include_str!("support/mcp_server.js")).unwrap();
    fs::set_permissions(&job.foreword, fs::Permissions::from_mode(0o700)).unwrap();
    let (outcome, events) = turn(&job);
    assert_eq!(outcome, Outcome::Done, "{events:?}");
    assert_eq!(results(&events), ["skill_propose: tea was taken in"]);
    assert_eq!(host.actions().len(), 1);
    assert_eq!(offered(&model), ["Read", "mcp__foreword__skill_propose"]);
    check_requests(&model, &host, runner, Provider::Anthropic);
}

#[test]
fn pi_calls_tools_of_the_host_through_its_extension() {
    for provider in [Provider::Anthropic, Provider::OpenAi] {
        let dir = workspace();
        let model = ModelServer::start([
            Reply::calls(&[("skill_propose", json!({"skill": "tea", "content": "# Tea"}))]),
            Reply::calls(&[("skill_list", json!({}))]),
            Reply::calls(&[("bash", json!({"command": "echo \"<$FOREWORD_CALL_TOKEN>\""}))]),
            Reply::says("Done."),
        ]);
        let host = TestHost::start(model.port(), prompt().system(), |action| match action {
            Action::SkillPropose(args) => Ok(json!(format!("{} was taken in", args.skill))),
            _ => Err(Failure::new(ErrorCode::Tainted, "the session is tainted")),
        });
        let tools = ["bash", "skill_propose", "skill_list"];
        let Some(job) = job(&host, RunnerKind::Pi, provider, dir.path(), &tools) else { return };
        let (outcome, events) = turn(&job);
        assert_eq!(outcome, Outcome::Done, "{events:?}");
        assert_eq!(
            results(&events),
            [
                "skill_propose: tea was taken in",
                "!skill_list: the session is tainted",
                "bash: <>\n"
            ]
        );
        assert_eq!(host.actions().len(), 2);
        check_requests(&model, &host, RunnerKind::Pi, provider);
    }
}

#[test]
fn a_loop_ends_at_its_limit() {
    for (runner, provider) in RUNS {
        let dir = workspace();
        let call = match runner {
            RunnerKind::Pi => ("ls", json!({})),
            _ => ("Glob", json!({"pattern": "*"})),
        };
        let model = ModelServer::start((0..9).map(|_| Reply::calls(std::slice::from_ref(&call))));
        let host = only_model(model.port(), prompt().system());
        let Some(mut job) = job(&host, runner, provider, dir.path(), &["list"]) else { continue };
        job.limits.max_steps = 2;
        let (outcome, events) = turn(&job);
        assert_eq!(outcome, Outcome::Done, "{events:?}");
        let Some(AgentEvent::Done { stop_reason, .. }) = events.last() else { panic!() };
        assert_eq!(*stop_reason, StopReason::MaxSteps);
        assert!((2..=3).contains(&model.asked().len()), "{}", model.asked().len());
    }
}

#[test]
fn a_program_that_is_not_there_or_fails_is_explained() {
    let dir = workspace();
    let host = only_model(1, "");
    for (runner, package) in [
        (RunnerKind::ClaudeCode, "@anthropic-ai/claude-code@"),
        (RunnerKind::Pi, "@mariozechner/pi-coding-agent@"),
    ] {
        let mut job = crate::support::job(&host, Provider::Anthropic, dir.path(), &[]);
        job.runner = runner;
        let message = |job: &Job| match turn(job).1.pop() {
            Some(AgentEvent::Error { message }) => message,
            other => panic!("{other:?}"),
        };
        assert!(message(&job).contains("sent no program"));
        job.cli = Some(CliProgram { program: "/no/such/program".into(), args: Vec::new() });
        assert!(message(&job).contains(&format!("npm install -g {package}")));
        job.cli = Some(CliProgram {
            program: "sh".into(),
            args: vec!["-c".into(), "echo no; echo '{\"type\":7}'; echo broken >&2; exit 4".into()],
        });
        let message = message(&job);
        assert!(message.contains("exit status: 4") && message.contains("broken"), "{message}");
    }
}
