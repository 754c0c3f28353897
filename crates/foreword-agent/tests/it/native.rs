//! Whole turns of the native loop: a real socket, a host in a thread, a model on loopback.

use std::fs;

use crate::support::host::{TestHost, only_model};
use crate::support::model::{ModelServer, Reply};
use crate::support::{events, job, prompt, results, said};
use foreword_agent::{Outcome, Surroundings, run};
use foreword_protocol::{Action, AgentEvent, ErrorCode, Failure, Job};
use foreword_protocol::{Block, Content, Message, Provider, Role, StopReason, Usage, system_text};
use serde_json::{Value, json};

const PROVIDERS: [Provider; 2] = [Provider::Anthropic, Provider::OpenAi];

fn turn(job: &Job) -> (Outcome, Vec<AgentEvent>) {
    let mut output = Vec::new();
    let stdin = serde_json::to_string(job).unwrap() + "\nwhat comes after is not read";
    let outcome = run(stdin.as_bytes(), &mut output, &surroundings());
    (outcome, events(&output))
}

fn surroundings() -> Surroundings {
    Surroundings { variables: std::env::vars_os().collect(), temp_dir: std::env::temp_dir() }
}

/// The message of the error that ended the turn.
fn error(events: &[AgentEvent]) -> &str {
    match events.last() {
        Some(AgentEvent::Error { message }) => message,
        other => panic!("no error at the end: {other:?}"),
    }
}

fn done(events: &[AgentEvent]) -> (&[Message], &StopReason, Usage) {
    match events.last() {
        Some(AgentEvent::Done { messages, stop_reason, usage }) => (messages, stop_reason, *usage),
        other => panic!("the turn is not done: {other:?}"),
    }
}

#[test]
fn a_turn_without_tools() {
    for (provider, stream) in PROVIDERS.into_iter().flat_map(|p| [(p, true), (p, false)]) {
        let model = ModelServer::start([Reply::says("Not much — thänk you 😀.")]);
        let host = only_model(model.port(), prompt().system());
        let dir = tempfile::tempdir().unwrap();
        let mut job = job(&host, provider, dir.path(), &["read"]);
        job.stream = stream;
        job.history = vec![Message::user("Hello"), Message::assistant("Good day.")];
        let (outcome, events) = turn(&job);
        assert_eq!(outcome, Outcome::Done);
        assert_eq!(events[0], AgentEvent::Prompt { digest: prompt().digest() });
        assert_eq!(said(&events), "Not much — thänk you 😀.");
        assert!(!stream || events.len() > 4, "the text comes in pieces");
        let (messages, stop_reason, usage) = done(&events);
        let text = "Not much — thänk you 😀.".to_owned();
        let expected =
            Message { role: Role::Assistant, content: Content::Blocks(vec![Block::Text { text }]) };
        assert_eq!((messages, stop_reason), (&[expected][..], &StopReason::EndTurn));
        assert_eq!((usage.output_tokens, usage.cache_read_tokens), (5, 3));

        let asked = model.asked();
        assert_eq!(asked.len(), 1);
        let prompt = prompt();
        assert_eq!(system_text(provider, &asked[0].body).unwrap(), [prompt.system()]);
        let body = asked[0].json();
        assert_eq!((&body["stream"], &body["model"]), (&json!(stream), &json!("test-model")));
        let newest = &body["messages"].as_array().unwrap().last().unwrap()["content"];
        let newest = match provider {
            Provider::Anthropic => {
                assert_eq!(newest[0]["text"], prompt.turn_context());
                newest[1]["text"].as_str().unwrap()
            }
            Provider::OpenAi => {
                newest.as_str().unwrap().strip_prefix(prompt.turn_context()).unwrap()
            }
        };
        assert_eq!(newest.trim(), "What is up?");
    }
}

#[test]
fn tools_of_the_sandbox_and_of_the_host() {
    for provider in PROVIDERS {
        let model = ModelServer::start([
            Reply::Calls(
                "First I write.".into(),
                vec![
                    ("write".into(), json!({"path": "a.txt", "content": "héllo"})),
                    ("read".into(), json!({"path": "a.txt"})),
                    ("skill_list".into(), json!({})),
                ],
            ),
            Reply::calls(&[("skill_propose", json!({"skill": "tea", "content": "# Tea"}))]),
            Reply::says("Done."),
        ]);
        let host = TestHost::start(model.port(), prompt().system(), |action| match action {
            Action::SkillList(_) => Ok(json!({"skills": ["notes"]})),
            _ => Err(Failure::new(
                ErrorCode::Tainted,
                "the session is tainted: 40% of it came from outside",
            )),
        });
        let dir = tempfile::tempdir().unwrap();
        let job =
            job(&host, provider, dir.path(), &["read", "write", "skill_list", "skill_propose"]);
        let (outcome, events) = turn(&job);
        assert_eq!(outcome, Outcome::Done, "{events:?}");
        assert_eq!(
            results(&events),
            [
                "write: Created a.txt: 6 bytes.",
                "read: héllo\n",
                "skill_list: {\n  \"skills\": [\n    \"notes\"\n  ]\n}",
                "!skill_propose: the session is tainted: 40% of it came from outside",
            ]
        );
        assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "héllo");
        let names: Vec<_> = host.actions().iter().map(Action::name).collect();
        assert_eq!(names, ["skill_list", "skill_propose"]);
        let (messages, _, usage) = done(&events);
        assert_eq!(messages.len(), 5);
        assert_eq!(usage.output_tokens, 15, "all calls count");
        let last = &model.asked()[2].body;
        assert!(last.contains("the session is tainted"), "the model learns why");
        // The beginning of the request stays as it was, so that the provider's cache holds.
        let first = model.asked()[0].json();
        assert_eq!(model.asked()[2].json()["messages"][0]["role"], first["messages"][0]["role"]);
    }
}

#[test]
fn tools_that_were_not_given_and_inputs_that_are_none() {
    let model = ModelServer::start([
        Reply::calls(&[("bash", json!({"command": "touch made"})), ("skill_list", json!({}))]),
        Reply::calls(&[("model_call", json!({"path": "/", "body": {}})), ("nonsense", json!({}))]),
        Reply::RawCall("read".into(), "{\"path\": \"a".into()),
        Reply::calls(&[("read", json!({"path": "none"})), ("todo_write", json!({"items": 3}))]),
        Reply::says("I give up."),
    ]);
    let host = only_model(model.port(), prompt().system());
    let dir = tempfile::tempdir().unwrap();
    let job =
        job(&host, Provider::Anthropic, dir.path(), &["read", "list", "search", "todo_write"]);
    let (outcome, events) = turn(&job);
    assert_eq!(outcome, Outcome::Done);
    let results = results(&events);
    for (result, expected) in results.iter().zip([
        "!bash: [NotSent]",
        "!skill_list: [NotSent]",
        "!model_call: [NotSent]",
        "!nonsense: [NotSent]",
        "!read: [Arguments]",
        "!read: none: No such file",
        "!todo_write: [Arguments]",
    ]) {
        assert!(result.starts_with(expected), "{result}");
    }
    assert_eq!(results.len(), 7);
    assert!(!dir.path().join("made").exists());
    assert!(host.actions().is_empty());
    assert_eq!(said(&events), "I give up.");
}

#[test]
fn a_loop_ends_at_its_limit() {
    let model = ModelServer::start((0..9).map(|_| Reply::calls(&[("list", json!({}))])));
    let host = only_model(model.port(), prompt().system());
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(&host, Provider::Anthropic, dir.path(), &["list"]);
    job.limits.max_steps = 3;
    let (outcome, events) = turn(&job);
    assert_eq!(outcome, Outcome::Done);
    let (messages, stop_reason, _) = done(&events);
    assert_eq!((messages.len(), stop_reason), (6, &StopReason::MaxSteps));
    assert_eq!(model.asked().len(), 3);
    assert_eq!(results(&events)[2], "!list: [StepLimit]");
}

#[test]
fn a_model_that_fails_is_explained() {
    let refused = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    for (reply, expected) in [
        (Reply::raw(429, "application/json", refused), "refused the call (status 429): slow down"),
        (
            Reply::raw(502, "text/html", "<html><title>Bad Gateway</title>"),
            "a web page (status 502)",
        ),
        (
            Reply::raw(200, "text/html", "<html><title>Sign in</title>"),
            "returned a web page: Sign in",
        ),
        (Reply::raw(200, "text/event-stream", "garbage"), "cannot read the model's answer"),
        (Reply::raw(200, "text/event-stream", ""), "the stream ended early"),
        (Reply::Half("I was about to".into()), "the stream ended early"),
    ] {
        for provider in PROVIDERS {
            let model = ModelServer::start([reply.clone()]);
            let host = only_model(model.port(), prompt().system());
            let dir = tempfile::tempdir().unwrap();
            let (outcome, events) = turn(&job(&host, provider, dir.path(), &[]));
            assert_eq!(outcome, Outcome::Failed);
            assert!(error(&events).contains(expected), "{reply:?}: {}", error(&events));
            assert_eq!(model.asked().len(), 1, "trying again is the host's business");
        }
    }
}

#[test]
fn a_host_that_refuses_or_is_not_there() {
    let model = ModelServer::start([]);
    let host = only_model(model.port(), "another prompt");
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(&host, Provider::Anthropic, dir.path(), &[]);
    let (_, events) = turn(&job);
    assert_eq!(error(&events), "the call lacks the session's prompt");
    assert!(model.asked().is_empty());

    job.token = "guessed".into();
    assert_eq!(error(&turn(&job).1), "that is not this session's token");

    job.socket = dir.path().join("none.sock");
    assert!(error(&turn(&job).1).starts_with("cannot reach the host"));

    job.cwd = dir.path().join("none");
    assert!(error(&turn(&job).1).contains("working directory"));
}

#[test]
fn a_host_that_goes_away_in_the_middle() {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    let host = only_model(1, "");
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(&host, Provider::Anthropic, dir.path(), &[]);
    job.socket = dir.path().join("s.sock");
    for said in [
        "",
        "{\"id\":1,\"stream\":{\"head\":{\"status\":200,\"contentType\":\"x\"}}}\n",
        "{\"id\":1,\"str",
        "no json\n",
    ] {
        let listener = UnixListener::bind(&job.socket).unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1 << 16]).unwrap();
            stream.write_all(said.as_bytes()).unwrap();
        });
        let (outcome, events) = turn(&job);
        thread.join().unwrap();
        assert_eq!(outcome, Outcome::Failed);
        assert!(error(&events).contains("the host"), "{}", error(&events));
        fs::remove_file(&job.socket).unwrap();
    }
}

#[test]
fn a_host_that_listens_no_more_ends_the_turn() {
    struct Closed(usize);
    impl std::io::Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(std::io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let model = ModelServer::start([Reply::says("a long answer in many pieces")]);
    let host = only_model(model.port(), prompt().system());
    let dir = tempfile::tempdir().unwrap();
    let job = serde_json::to_string(&job(&host, Provider::Anthropic, dir.path(), &[])).unwrap();
    assert_eq!(run(job.as_bytes(), &mut Closed(2), &surroundings()), Outcome::Failed);
}

#[test]
fn large_results_are_cut_before_the_model_sees_them() {
    let model = ModelServer::start([Reply::calls(&[("skill_list", json!({}))]), Reply::says("ok")]);
    let host = TestHost::start(model.port(), prompt().system(), |_| {
        Ok(Value::String("x".repeat(500_000)))
    });
    let dir = tempfile::tempdir().unwrap();
    let (_, events) = turn(&job(&host, Provider::Anthropic, dir.path(), &["skill_list"]));
    let result = &results(&events)[0];
    assert!(result.len() < 70_000 && result.ends_with("bytes left out …]"), "{}", result.len());
}
