//! A model that returns garbage, an error page, half a stream, 429s or nothing: a message a person can
//! act on, a turn that is on record as failed, and a next turn that works.

use std::time::{Duration, Instant};

use crate::support::model::{Answer, ModelServer, text, tool};
use crate::support::{Foreword, Scratch};

const KEY: &str = "sk-ant-test-key-of-the-host";

fn workspace() -> Scratch {
    let config = "[model]\nname = 'test-model'\ntimeout_seconds = 2\nretries = 1\n";
    let scratch = Scratch::new(&[("foreword.toml", config), ("AGENTS.md", "Work on the shop.\n")]);
    std::fs::create_dir_all(scratch.config_dir()).unwrap();
    scratch
}

fn run(scratch: &Scratch, url: &str) -> Foreword {
    let args = ["run", "--quiet", "--trust", "--session", "s", "-m", "Hello!", "--json"];
    scratch
        .command(&args)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", KEY)
}

fn raw(status: u16, body: &str) -> Answer {
    Answer::Raw(status, vec![("content-type".into(), "application/json".into())], body.into())
}

/// How a run against such a server fails; the next one, against a server that is well, works.
fn fails_with(answers: Vec<Answer>) -> (String, usize) {
    let scratch = workspace();
    let model = ModelServer::saying(answers);
    let failed = run(&scratch, &model.url).run();
    let error = failed.fails(1).trim_end().to_owned();
    assert!(!error.contains(KEY), "{error}");
    let well = ModelServer::saying(vec![text("Hello back.")]);
    let next = run(&scratch, &well.url).run().ok().json();
    assert_eq!((next["turn"].as_u64(), next["answer"].as_str()), (Some(2), Some("Hello back.")));
    // What failed is no part of the conversation, and the failure is on record.
    assert_eq!(well.asked()[0].body["messages"].as_array().unwrap().len(), 1);
    let log = scratch.run(&["audit", "log", "--action", "turn.fail", "--json"]).ok().json();
    let reason = log[0]["detail"]["reason"].as_str().unwrap();
    assert_eq!(error.lines().next(), Some(format!("error: {reason}").as_str()));
    scratch.run(&["audit", "verify"]).ok();
    (error, model.asked().len())
}

#[test]
fn garbage() {
    let (error, calls) = fails_with(vec![raw(200, "\u{1}\u{2} not json at all")]);
    assert!(error.starts_with("error: cannot read the model's answer: "), "{error}");
    assert_eq!(calls, 1);
}

#[test]
fn what_a_failed_turn_cost_is_on_record() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![
        tool("list", serde_json::json!({"path": "."})),
        raw(200, "not json at all"),
    ]);
    run(&scratch, &model.url).run().fails(1);
    let shown = scratch.run(&["session", "show", "s", "--json"]).ok().json();
    let turn = &shown["turns"][0];
    assert_eq!(turn["state"], "failed", "{shown}");
    assert!(turn["usage"]["input"].as_u64().unwrap() > 0, "{shown}");
    assert!(turn["usage"]["calls"].as_u64().unwrap() > 0, "{shown}");
    let log = scratch.run(&["audit", "log", "--action", "turn.fail", "--json"]).ok().json();
    assert_eq!(log[0]["detail"]["usage"], turn["usage"]);
}

#[test]
fn an_error_page() {
    let page = "<!doctype html><html><head><title>Bad gateway</title></head><body>…</body></html>";
    let (error, calls) = fails_with(vec![raw(502, page)]);
    assert_eq!(
        error,
        "error: the model server returned a web page (status 502): Bad gateway; check the model's base URL"
    );
    assert_eq!(calls, 2, "a bad gateway may be well in a moment");
    let (error, calls) = fails_with(vec![raw(200, page)]);
    assert!(error.contains("a web page"), "{error}");
    assert_eq!(calls, 1);
}

#[test]
fn half_a_stream() {
    let (error, _) = fails_with(vec![Answer::HalfAStream("Once upon a time there was".into())]);
    assert!(error.contains("the model's answer is incomplete"), "{error}");
}

#[test]
fn too_many_requests() {
    let busy = |seconds: &str| {
        let headers = vec![("retry-after".to_owned(), seconds.to_owned())];
        let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
        Answer::Raw(429, headers, body.to_owned())
    };
    let (error, calls) = fails_with(vec![busy("0")]);
    assert_eq!(error, "error: the model's server refused the call (status 429): slow down");
    assert_eq!(calls, 2);

    let scratch = workspace();
    let model = ModelServer::saying(vec![busy("1"), text("Now I have time.")]);
    let began = Instant::now();
    let report = run(&scratch, &model.url).run().ok().json();
    assert_eq!(report["answer"], "Now I have time.");
    assert!(began.elapsed() > Duration::from_secs(1), "the server asked for a second");
}

#[test]
fn a_broken_server_and_a_refusal() {
    let (error, calls) = fails_with(vec![raw(500, "")]);
    assert!(error.contains("(status 500): it does not say why"), "{error}");
    assert_eq!(calls, 2);
    let echo = format!(r#"{{"error":{{"type":"auth","message":"the key {KEY} is wrong"}}}}"#);
    let (error, calls) = fails_with(vec![raw(401, &echo)]);
    assert!(error.contains("(status 401): the key [redacted"), "{error}");
    assert_eq!(calls, 1);
}

#[test]
fn a_silent_server() {
    let began = Instant::now();
    let (error, _) = fails_with(vec![Answer::Silence(Duration::from_secs(20))]);
    assert!(error.contains("the model server at http://127.0.0.1:"), "{error}");
    assert!(error.contains("did not answer within 2 s"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn nobody_there() {
    let scratch = workspace();
    let failed = run(&scratch, "http://127.0.0.1:9").run();
    let error = failed.fails(1);
    assert!(
        error.starts_with("error: cannot reach the model server at http://127.0.0.1:9: "),
        "{error}"
    );
    let well = ModelServer::saying(vec![text("Hello back.")]);
    assert_eq!(run(&scratch, &well.url).run().ok().json()["turn"], 2);
}
