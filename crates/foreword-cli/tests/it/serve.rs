//! `foreword serve --stdio`: one session, many requests, and nothing that ends it early.

use crate::support::{Foreword, NOW, Scratch, keys, strings};
use serde_json::{Value, json};

/// The answers to a session's lines. Every session ends with exit 0 at the end of its input.
fn session(workspace: &Scratch, lines: &[&str]) -> Vec<Value> {
    let run = Foreword::new(&["serve", "--stdio", "-w", "."])
        .here(workspace.path())
        .stdin(lines.join("\n"))
        .run()
        .ok();
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn requests_are_answered_in_order_with_their_ids() {
    let workspace = Scratch::new(&[("SOUL.md", "Calm.\n")]);
    let request = |id: Value, method: &str, params: Value| {
        json!({"id": id, "method": method, "params": params}).to_string()
    };
    let lines = [
        request(json!(1), "ping", json!({})),
        request(json!("two"), "build", json!({"task": "Hello", "now": NOW})),
        request(json!(3), "explain", json!({"task": "Hello", "now": NOW})),
        request(json!({"n": 4}), "lint", json!({})),
        request(json!(null), "build", json!({"context": {"task": "Hi"}, "blueprint": "semantic"})),
        r#"{"method": "ping"}"#.to_owned(),
    ];
    let answers = session(&workspace, &lines.each_ref().map(String::as_str));
    assert_eq!(answers.len(), 6);
    for (answer, id) in answers.iter().zip([
        json!(1),
        json!("two"),
        json!(3),
        json!({"n": 4}),
        json!(null),
        json!(null),
    ]) {
        assert_eq!(keys(answer), ["id", "result"], "{answer}");
        assert_eq!(answer["id"], id);
    }
    // The same as the command line gives.
    let (mut served, mut built) = (answers[1]["result"].clone(), workspace.build(&["Hello"]));
    for manifest in [&mut served, &mut built] {
        manifest["metadata"]["buildTimeMs"] = Value::Null;
    }
    built.as_object_mut().unwrap().remove("schemaVersion");
    assert_eq!(served, built);
    // `explain` is the account without the text.
    let mut explained = answers[2]["result"].clone();
    explained["metadata"]["buildTimeMs"] = Value::Null;
    // The task came before, so its vector is known.
    assert_eq!(explained["selection"]["embeddingCalls"], 0);
    explained["selection"]["embeddingCalls"] = json!(1);
    for text in ["content", "system", "turnContext"] {
        built.as_object_mut().unwrap().remove(text);
    }
    assert_eq!(explained, built);
    assert_eq!(answers[3]["result"], json!([]));
    assert!(answers[4]["result"]["content"].as_str().unwrap().ends_with("# TASK\n\nHi"));
    assert_eq!(keys(&answers[5]["result"]), ["version"]);
}

#[test]
fn an_error_answers_its_request_and_the_session_goes_on() {
    let workspace = Scratch::new(&[]);
    let deep = "[".repeat(100_000);
    let cases = [
        ("no JSON at all", "invalid request"),
        ("{\"id\": 1, \"method\": \"build\"", "invalid request"),
        (deep.as_str(), "recursion limit"),
        ("[1, \"ping\"]", "invalid request"),
        ("\"ping\"", "invalid request"),
        (r#"{"id": 1}"#, "missing field `method`"),
        (r#"{"id": 1, "method": 7}"#, "invalid request"),
        (r#"{"id": 1, "method": "ping", "more": 1}"#, "unknown field `more`"),
        (r#"{"id": 1, "method": "buld"}"#, "unknown method `buld`"),
        (r#"{"id": 1, "method": "build", "params": {"taks": "x"}}"#, "unknown field `taks`"),
        (r#"{"id": 1, "method": "build", "params": {"workspace": "gone"}}"#, "gone: there is no"),
        (r#"{"id": 1, "method": "build", "params": {"agent": "x"}}"#, "there is no agent `x`"),
        (r#"{"id": 1, "method": "build", "params": {"blueprint": "x"}}"#, "no blueprint"),
        (r#"{"id": 1, "method": "build", "params": {"taintRatio": 2}}"#, "`taintRatio` is 2"),
        (r#"{"id": 1, "method": "build", "params": {"context": {"taintRatio": 2}}}"#, "is 2"),
        (r#"{"id": 1, "method": "build", "params": {"context": {"tsk": 2}}}"#, "`tsk`"),
        (r#"{"id": 1, "method": "build", "params": {"now": "later"}}"#, "RFC 3339"),
        (r#"{"id": 1, "method": "lint", "params": {"agent": "x"}}"#, "there is no agent `x`"),
    ];
    let ping = r#"{"id": "alive", "method": "ping"}"#;
    let lines: Vec<&str> = cases.iter().flat_map(|(line, _)| [*line, "", ping]).collect();
    let answers = session(&workspace, &lines);
    assert_eq!(answers.len(), cases.len() * 2, "blank lines have no answer");
    for ((line, message), answer) in cases.iter().zip(answers.chunks(2)) {
        let error = &answer[0]["error"];
        let shown = &line[..line.len().min(80)];
        assert_eq!(keys(&answer[0]), ["error", "id"], "{shown}: {}", answer[0]);
        assert_eq!(keys(error), ["hints", "kind", "message"], "{shown}");
        assert_eq!(error["kind"], "usage", "{shown}");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(message), "{shown}: {said}");
        assert_eq!(answer[1]["id"], "alive", "{shown}");
    }
    assert_eq!(strings(&answers[16]["error"]["hints"]), ["did you mean `build`?"]);
}

#[test]
fn parameters_beside_a_context_count() {
    let workspace = Scratch::new(&[]);
    let line = r#"{"id": 1, "method": "build", "params": {
        "context": {"task": "Old", "maxPromptTokens": 5000}, "task": "New", "agent": "ada",
        "mode": "plan", "model": "m-1", "maxPromptTokens": 900}}"#
        .replace('\n', " ");
    let answers = session(&workspace, &[&line]);
    let result = &answers[0]["result"];
    let content = result["content"].as_str().unwrap();
    assert!(content.ends_with("## Task\n\nNew"), "{content}");
    assert!(content.contains("## Rules: plan mode"), "{content}");
    assert!(content.contains("ada") && content.contains("m-1"), "{content}");
    assert!(result["metadata"]["estimatedTokens"].as_u64().unwrap() <= 900);
    let wrong = r#"{"id": 2, "method": "build", "params": {"context": {}, "taintRatio": 3}}"#;
    assert_eq!(
        session(&workspace, &[wrong])[0]["error"]["message"],
        "`taintRatio` is 3: it must be a ratio from 0 to 1"
    );
}

#[test]
fn large_requests_are_answered_and_odd_bytes_are_refused() {
    let workspace = Scratch::new(&[]);
    let text = "word ".repeat(400_000);
    let large =
        json!({"id": 1, "method": "build", "params": {"context": {"contextContent": text}}});
    let mut input = large.to_string().into_bytes();
    input.extend(b"\n\xff\xfe\x00\n{\"id\": 2, \"method\": \"ping\"}");
    let run = Foreword::new(&["serve", "--stdio"]).here(workspace.path()).stdin(input).run().ok();
    let answers: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3);
    // Two million characters do not fit the window, and the account says what became of them.
    assert_eq!(answers[0]["result"]["filtered"][0]["id"], "CONTEXT.md");
    assert!(answers[1]["error"]["message"].as_str().unwrap().starts_with("invalid request"));
    assert_eq!(answers[2]["id"], 2, "a last line without a line break counts");
}

#[test]
fn an_empty_session_ends_well_and_stdio_is_asked_for() {
    let workspace = Scratch::new(&[]);
    assert_eq!(workspace.run(&["serve", "--stdio"]).ok().stdout, "");
    assert!(workspace.run(&["serve"]).fails(2).contains("--stdio"));
}
