//! The server over standard input and output, line by line.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    last: u64,
}

impl Client {
    fn start(workspace: &Path) -> Self {
        let mut command = Command::new(crate::programs::serve_parts());
        let command = command.arg(workspace).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (lines, received) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().try_for_each(|line| lines.send(line.unwrap()))
        });
        Self { process, input, output: received, last: 0 }
    }

    /// A client that has shaken hands.
    fn opened(workspace: &Path) -> Self {
        let mut client = Self::start(workspace);
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = client.ask("initialize", hello);
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(hello["result"]["serverInfo"]["name"], "foreword");
        client.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn write(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.write(call.to_string().as_bytes());
        self.last
    }

    fn next(&self) -> Value {
        let line = self.output.recv_timeout(Duration::from_secs(20));
        serde_json::from_str(&line.expect("the server has gone, or does not answer")).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, &params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn code(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_conversation() {
    let mut client = Client::opened(&crate::programs::workspace("tideline"));
    let tools = client.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "prompt_build");
    let explain = json!({"name": "prompt_explain", "arguments": {"agent": "marlow"}});
    let explained = client.ask("tools/call", explain);
    assert!(explained["result"]["structuredContent"]["result"].is_array());
    let complete = json!({
        "ref": {"type": "ref/resource", "uri": "foreword://skills/{name}"},
        "argument": {"name": "name", "value": "p"},
    });
    let completed = client.ask("completion/complete", complete);
    assert_eq!(
        completed["result"]["completion"],
        json!({"values": ["postmortem"], "total": 1, "hasMore": false})
    );
}

#[test]
fn what_there_is_none_of_is_told_by_code() {
    let mut client = Client::opened(&crate::programs::workspace("tideline"));
    assert_eq!(client.code("tools/call", json!({"name": "model_call"})), -32602);
    let calls = [
        ("resources/read", json!({"uri": "foreword://skills/nope"}), -32002),
        ("resources/read", json!({"uri": "foreword://skills/../SOUL.md"}), -32002),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32002),
        ("prompts/get", json!({"name": "nope"}), -32602),
        ("prompts/get", json!({"name": "../marlow"}), -32602),
        ("prompts/get", json!({"name": "marlow", "arguments": {"task": 7}}), -32602),
        ("prompts/get", json!({"name": "marlow", "arguments": {"tusk": "x"}}), -32602),
        ("tools/list", json!({"cursor": "nope"}), -32602),
        ("prompts/list", json!({"cursor": "nope"}), -32602),
        ("no/such/method", json!({}), -32601),
    ];
    for (method, params, code) in calls {
        assert_eq!(client.code(method, params.clone()), code, "{method} {params}");
    }
}

#[test]
fn a_failure_is_a_result_and_a_log_message_for_who_asked() {
    let mut client = Client::opened(&crate::programs::workspace("tideline"));
    let call = || json!({"name": "test_error_handling", "arguments": {}});
    assert_eq!(client.ask("tools/call", call())["result"]["isError"], true);
    client.ask("logging/setLevel", json!({"level": "warning"}));
    client.send("tools/call", &call());
    let message = client.next();
    assert_eq!(message["method"], "notifications/message");
    assert_eq!(message["params"]["level"], "warning");
    assert_eq!(message["params"]["data"]["code"], "refused");
    assert_eq!(client.next()["result"]["isError"], true);
    let quiet = json!({"name": "test_simple_text", "arguments": {}});
    assert_eq!(client.ask("tools/call", quiet)["result"]["isError"], false);
}

#[test]
fn garbage_does_not_end_a_session() {
    let mut client = Client::opened(&crate::programs::workspace("tideline"));
    for line in [&b"{"[..], b"", b"not json", b"[[[[[[", b"\xff\xfe\x00"] {
        client.write(line);
    }
    // Far longer than any message may be.
    client.write(&vec![b'x'; 5 << 20]);
    client.write(&b"[".repeat(100_000));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    // What cannot be a message is answered, without an id.
    for line in [&br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#[..], b"[]", b"null"] {
        client.write(line);
        let answer = client.next();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)));
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn more_calls_than_there_is_room_for_are_refused_and_the_others_answered() {
    let mut client = Client::opened(&crate::programs::workspace("tideline"));
    let calls = 300;
    for _ in 0..calls {
        client.send("tools/call", &json!({"name": "test_slow", "arguments": {}}));
    }
    let (mut done, mut refused) = (0, 0);
    for _ in 0..calls {
        let result = client.next()["result"].take();
        if result["isError"] == false {
            done += 1;
        } else {
            assert_eq!(result["structuredContent"]["error"]["code"], "limit", "{result}");
            refused += 1;
        }
    }
    assert!(done >= 256 && refused > 0, "{done} done, {refused} refused");
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn what_was_asked_is_answered_after_the_last_line_and_then_it_ends() {
    let mut client = Client::opened(&crate::programs::workspace("tideline"));
    let id = client.send("tools/call", &json!({"name": "test_slow", "arguments": {}}));
    drop(client.input.take());
    let answer = client.next();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(false)));
    let ended = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        client.process.try_wait().unwrap().is_some_and(|status| status.success())
    });
    assert!(ended, "the server did not end");
}

#[test]
fn who_leaves_before_a_word_leaves_nothing_behind() {
    let mut client = Client::start(&crate::programs::workspace("tideline"));
    drop(client.input.take());
    assert!(client.process.wait().unwrap().success());
}

#[test]
fn many_skills_come_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("foreword.toml"), "").unwrap();
    let all: BTreeSet<String> = (0..250).map(|index| format!("skill-{index:03}")).collect();
    for name in &all {
        let skill = folder.path().join("skills").join(name);
        std::fs::create_dir_all(&skill).unwrap();
        let text = format!("---\nname: {name}\ndescription: Skill {name}.\n---\n\nDo it.\n");
        std::fs::write(skill.join("SKILL.md"), text).unwrap();
    }
    let mut client = Client::opened(folder.path());
    let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let mut page = client.ask("resources/list", params)["result"].take();
        for resource in page["resources"].as_array().unwrap() {
            assert!(seen.insert(resource["name"].as_str().unwrap().to_owned()));
        }
        pages += 1;
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((pages, seen), (3, all));
    let complete = json!({
        "ref": {"type": "ref/resource", "uri": "foreword://skills/{name}"},
        "argument": {"name": "name", "value": "skill-"},
    });
    let completion = client.ask("completion/complete", complete)["result"]["completion"].take();
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(250), &json!(true)));
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
}
