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
        (
            r#"{"id": 1, "method": "build", "params": {"workspace": "gone"}}"#,
            "gone: directory not found",
        ),
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

/// Each method through one session, as a program would use it.
#[test]
fn every_method_answers() {
    let skill = "---\nname: tea\ndescription: How to make tea\n---\nBoil water.\n";
    let workspace = Scratch::new(&[("SOUL.md", "Calm.\n"), ("skills/tea/SKILL.md", skill)]);
    let call = |method: &str, params: Value| {
        let line = json!({"id": 1, "method": method, "params": params}).to_string();
        let answer = session(&workspace, &[&line]).remove(0);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    };
    assert_eq!(call("count", json!({"text": "Hello", "tokenizer": "o200k"}))["tokens"], 1);
    assert_eq!(call("count", json!({"text": "Hello world", "tokenizer": "o200k"}))["tokens"], 2);
    let tools = json!([
        {"name": "play_music", "description": "Plays a song"},
        {"name": "set_alarm", "description": "Rings at a given time"},
    ]);
    let picked = call("select", json!({"task": "play me a song", "tools": tools}));
    assert_eq!(picked["tools"][0]["name"], "play_music");
    assert_eq!(picked["tools"][0]["index"], 0);
    let nothing = call("select", json!({"task": "", "tools": []}));
    assert_eq!(nothing["tools"], json!([]));

    let context = json!({"task": "Hi", "now": NOW, "memories": ["Ada likes tea"]});
    for format in ["anthropic", "openai", "responses", "gemini"] {
        let body = call("build", json!({"context": context, "format": format}));
        let checked = call("check_request", json!({"body": body, "build": {"context": context}}));
        let prompt = &checked["prompt"];
        assert_eq!(
            (&prompt["isRight"], &prompt["turnContext"]),
            (&json!(true), &json!("before-user-message")),
            "{format}: {checked}"
        );
        assert_eq!(checked["totals"]["calls"], 1);
        let text = call("check_request", json!({"body": body.to_string()}));
        assert_eq!((&text["prompt"], &text["calls"]), (&Value::Null, &checked["calls"]));
    }

    let added = call("memory_add", json!({"text": "Ada likes green tea", "kind": "preference"}));
    assert_eq!(added["state"], "new");
    call("memory_add", json!({"text": "The staging server is in Oslo"}));
    let page = call("memory_list", json!({"limit": 1}));
    assert_eq!(page["memories"].as_array().unwrap().len(), 1);
    let rest = call("memory_list", json!({"after": page["next"]}));
    assert_eq!(rest["memories"][0]["text"], "Ada likes green tea");
    assert_eq!(rest["next"], Value::Null);
    let found =
        call("memory_search", json!({"query": "what does Ada like to drink?", "all": true}));
    assert_eq!(found["hits"][0]["id"], added["id"]);
    assert_eq!(call("memory_forget", json!({"ids": [added["id"]]}))["forgotten"], 1);
    assert_eq!(call("memory_forget", json!({"allOf": {"everything": true}}))["forgotten"], 1);

    assert_eq!(call("skill_list", json!({}))[0]["status"], "local");
    assert_eq!(call("skills", json!({})), call("skill_list", json!({})));
    assert!(
        call("skill_read", json!({"name": "tea"}))["content"].as_str().unwrap().contains("Boil")
    );
    // The name that the tool of agents has for it.
    assert_eq!(
        call("skill_read", json!({"skill": "tea"})),
        call("skill_read", json!({"name": "tea"}))
    );
    let draft = "---\nname: coffee\ndescription: How to make coffee\n---\nGrind beans.\n";
    let risky = json!({"content": draft, "taintRatio": 0.1, "agent": "ada", "reason": "asked"});
    let proposed = call("skill_propose", risky);
    assert_eq!(proposed["commit"], Value::Null, "a tainted session waits for a person: {proposed}");
    let waiting = call("skill_proposals", json!({}));
    assert_eq!(
        (&waiting[0]["id"], &waiting[0]["proposedBy"]),
        (&proposed["id"], &json!("agent:ada"))
    );
    let shown = call("skill_proposals", json!({"id": proposed["id"]}));
    assert!(shown[0]["diff"].as_str().unwrap().contains("+Grind beans."));
    let decided = call("skill_decide", json!({"id": proposed["id"], "decision": "approve"}));
    assert_eq!((&decided["state"], &decided["skill"]), (&json!("approved"), &json!("coffee")));
    assert!(workspace.path().join("skills/coffee/SKILL.md").exists());
    let other = json!({"content": draft.replace("coffee", "cocoa"), "taintRatio": 0.1});
    let other = call("skill_propose", other);
    let rejected = json!({"id": other["id"], "decision": "reject", "reason": "no cocoa"});
    assert_eq!(call("skill_decide", rejected)["state"], "rejected");
}

#[test]
fn requests_that_cannot_be_checked_are_refused() {
    let workspace = Scratch::new(&[("SOUL.md", "Calm.\n")]);
    let refused = |params: Value| {
        let line = json!({"id": 1, "method": "check_request", "params": params}).to_string();
        let answer = session(&workspace, &[&line]).remove(0);
        assert_eq!(answer["error"]["kind"], "usage", "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let prompt = json!({"system": "You are Pickle.", "stable": "Pickle"});
    let body = json!({"messages": []});
    assert_eq!(
        refused(json!({"body": body, "prompt": prompt})),
        "`stable` is not the beginning of `system`"
    );
    let both = json!({"body": body, "prompt": {"system": "x"}, "build": {}});
    assert_eq!(refused(both), "pass `prompt` or `build`, not both");
    assert!(refused(json!({"body": "{"})).starts_with("invalid request body: "));
    assert!(refused(json!({"body": 7})).starts_with("invalid parameters: "));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let workspace = Scratch::new(&[]);
    for (method, params, message) in [
        ("memory_forget", json!({}), "pass either `ids` or `allOf`"),
        ("memory_forget", json!({"allOf": {}}), "`allOf` has no condition"),
        ("memory_forget", json!({"ids": ["x"], "allOf": {"tainted": true}}), "pass either"),
        ("memory_search", json!({"query": "x", "minScore": 2}), "expected a number from 0 to 1"),
        ("skill_propose", json!({"content": "x", "taintRatio": 2}), "`taintRatio` is 2"),
        ("skill_decide", json!({"id": "x", "decision": "maybe"}), "unknown value `maybe`"),
        ("count", json!({"text": "x", "tokenizer": "none"}), "unknown value `none`"),
        ("select", json!({"task": "x", "tools": vec!["t"; 10_001]}), "at most 10000"),
        ("select", json!({"task": "x", "tools": [{"nme": "t"}]}), "unknown field `nme`"),
        ("lint", json!({"task": "x"}), "unknown field `task`"),
    ] {
        let line = json!({"id": 1, "method": method, "params": params}).to_string();
        let answer = session(&workspace, &[&line]).remove(0);
        let said = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{method}: {answer}");
    }
}
