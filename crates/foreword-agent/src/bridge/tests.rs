use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use foreword_protocol::Provider;
use foreword_protocol::{Action, ErrorCode, Failure};
use serde_json::{Value, json};

use super::{Bridge, MAX_CONNECTIONS, Settings};
use crate::host::Host;

#[path = "../../tests/it/support/mod.rs"]
mod support;

use support::host::TestHost;
use support::model::{ModelServer, Reply};

struct House {
    model: ModelServer,
    host: TestHost,
    bridge: Bridge,
}

fn house(script: impl IntoIterator<Item = Reply>) -> House {
    let model = ModelServer::start(script);
    let host = TestHost::start(model.port(), "PROMPT", |action| match action {
        Action::SkillList(_) => Ok(json!("none")),
        _ => Err(Failure::new(ErrorCode::Tainted, "too tainted")),
    });
    let job =
        support::job(&host, Provider::Anthropic, ".".as_ref(), &["skill_list", "skill_propose"]);
    let settings = Settings {
        host: Host::new(&job),
        model: "test-model".into(),
        key: "key".into(),
        call_token: Some("call-token".into()),
    };
    let bridge = Bridge::start(None, settings).unwrap();
    House { model, host, bridge }
}

impl House {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.bridge.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, and reads until the bridge closes.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> String {
        self.raw(
            format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
                .as_bytes(),
        )
    }
}

/// The body of an answer, its chunks joined.
fn body(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let mut rest = body.as_bytes();
    let mut all = Vec::new();
    loop {
        let end = rest.iter().position(|byte| *byte == b'\r').unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if size == 0 {
            assert_eq!(rest, b"\r\n", "more after the last chunk");
            return String::from_utf8(all).unwrap();
        }
        all.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

const CALL: &str = r#"{"system":"a PROMPT b","messages":[],"stream":true}"#;

#[test]
fn a_call_of_the_model_goes_through_as_it_is() {
    let house = house([Reply::says("hällo"), Reply::says("again"), Reply::says("third")]);
    let headers = "x-api-key: key\r\nanthropic-beta: some-beta\r\nx-other: no\r\n";
    let answer = house.post("/v1/messages?beta=true", headers, CALL);
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"),
        "{answer}"
    );
    assert!(body(&answer).contains(r#""text":"hällo""#));
    let asked = &house.model.asked()[0];
    assert_eq!((asked.path.as_str(), asked.body.as_str()), ("/v1/messages?beta=true", CALL));
    let beta = ("anthropic-beta".to_owned(), "some-beta".to_owned());
    assert!(asked.headers.contains(&beta));
    assert!(!asked.headers.iter().any(|(name, _)| name == "x-other" || name == "x-api-key"));

    let chat = r#"{"messages":[{"role":"system","content":"PROMPT"}],"stream":true}"#;
    let bearer = "Authorization: Bearer key\r\n";
    let answer = house.post("/chat/completions", bearer, chat);
    assert!(body(&answer).ends_with("data: [DONE]\n\n"));
    assert_eq!(house.model.asked()[1].path, "/v1/chat/completions");

    let pretty = "{\n  \"system\": \"PROMPT\",\n  \"messages\": []\n}";
    assert!(body(&house.post("/messages", bearer, pretty)).contains("third"));
    assert_eq!(house.model.asked()[2].body, pretty.replace('\n', " "));
}

#[test]
fn a_connection_is_kept_and_chunks_are_read() {
    let house = house([Reply::says("one"), Reply::says("two")]);
    let mut stream = house.connect();
    let (half, rest) = CALL.split_at(20);
    let chunked = format!(
        "POST /v1/messages HTTP/1.1\r\nx-api-key: key\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n{:x};ext=1\r\n{half}\r\n{:X}\r\n{rest}\r\n0\r\nTrailer: x\r\n\r\n",
        half.len(),
        rest.len()
    );
    // Byte by byte at the start, as a slow program would.
    for byte in chunked.as_bytes().iter().take(30) {
        stream.write_all(&[*byte]).unwrap();
    }
    stream.write_all(&chunked.as_bytes()[30..]).unwrap();
    stream
        .write_all(b"GET /v1/models HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{all}");
    assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 3, "{all}");
    assert!(all.contains(r#""id":"test-model""#));
    assert_eq!(house.model.asked()[0].body, CALL);
}

#[test]
fn failures_look_like_the_providers_and_do_not_invite_to_try_again() {
    let house = house([
        Reply::raw(529, "application/json", r#"{"type":"error"}"#),
        Reply::raw(200, "text/plain\r\nx-evil: 1", "x"),
    ]);
    let key = "x-api-key: key\r\n";
    let no_prompt = house.post("/v1/messages", key, r#"{"system":"other"}"#);
    assert!(no_prompt.starts_with("HTTP/1.1 403 "), "{no_prompt}");
    let error: Value = serde_json::from_str(&body(&no_prompt)).unwrap();
    assert_eq!(
        error,
        json!({"type": "error", "error": {"type": "permission_error", "message": "the call lacks the session's prompt"}})
    );
    assert_eq!(house.host.refused().len(), 1);
    let chat = house.post("/v1/chat/completions", key, "{}");
    let error: Value = serde_json::from_str(&body(&chat)).unwrap();
    assert_eq!(error["error"]["type"], "permission_error");

    let twice = house.post("/v1/messages", key, r#"{"system":"PROMPT","system":"evil"}"#);
    assert!(twice.starts_with("HTTP/1.1 400 ") && twice.contains("occurs twice"), "{twice}");
    for wrong in ["", "{", "hello", "\u{feff}{}"] {
        let answer = house.post("/v1/messages", key, wrong);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{wrong}: {answer}");
    }
    let overloaded = house.post("/v1/messages", key, CALL);
    assert!(
        overloaded.starts_with("HTTP/1.1 529 ") && overloaded.contains("x-should-retry: false")
    );
    let split = house.post("/v1/messages", key, CALL);
    assert!(!split.contains("\r\nx-evil"), "{split}");

    let stranger = house.post("/v1/messages", "x-api-key: guess\r\n", CALL);
    assert!(stranger.starts_with("HTTP/1.1 401 "), "{stranger}");
    assert!(house.post("/v1/messages", "", CALL).starts_with("HTTP/1.1 401 "));
    assert_eq!(house.model.asked().len(), 2);
}

#[test]
fn a_stream_that_fails_in_the_middle_says_so() {
    // The host dies between the parts: here, a host that is a script of lines.
    use std::os::unix::net::UnixListener;
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream
            .write_all(b"{\"id\":1,\"stream\":{\"head\":{\"status\":200,\"contentType\":\"text/event-stream\"}}}\n{\"id\":1,\"stream\":{\"data\":\"data: 1\\n\\n\"}}\n")
            .unwrap();
    });
    let house = house([]);
    let mut job = support::job(&house.host, Provider::Anthropic, ".".as_ref(), &[]);
    job.socket = socket;
    let settings =
        Settings { host: Host::new(&job), model: "m".into(), key: "key".into(), call_token: None };
    let bridge = Bridge::start(None, settings).unwrap();
    let house = House { bridge, ..house };
    let answer = house.post("/v1/messages", "x-api-key: key\r\n", CALL);
    thread.join().unwrap();
    let body = body(&answer);
    assert!(body.starts_with("data: 1\n\nevent: error\ndata: {\"error\":"), "{body}");
    // Without a token nobody calls tools.
    let call = r#"{"name":"skill_list","input":{}}"#;
    assert!(
        house
            .post("/foreword/call", "Authorization: Bearer \r\n", call)
            .starts_with("HTTP/1.1 401")
    );
}

#[test]
fn external_results_go_out_fenced_and_others_as_they_are() {
    let house = house(std::iter::repeat_with(|| Reply::says("ok")).take(5));
    let sent = |path: &str, body: &Value| {
        house.post(path, "x-api-key: key\r\n", &body.to_string());
        house.model.asked().last().unwrap().body.clone()
    };
    let claude = |content: Value| {
        json!({"system": "PROMPT", "messages": [
            {"role": "user", "content": "read it"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": content}]},
        ]})
    };
    let plain = claude(json!("a parcel"));
    assert_eq!(sent("/v1/messages", &plain), plain.to_string(), "byte for byte");
    let expected = claude(json!("[Read fenced] EVIL"));
    for _ in 0..2 {
        let body = sent("/v1/messages", &claude(json!("EVIL")));
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    }
    let (mark, picture) = (json!({"type": "ephemeral"}), json!({"type": "image", "source": {}}));
    let parts = json!([{"type": "text", "text": "EVIL", "cache_control": mark}, picture, {"type": "text", "text": "more"}]);
    let fenced = json!([{"type": "text", "text": "[Read fenced] EVIL\nmore", "cache_control": mark}, picture]);
    let body = sent("/v1/messages", &claude(parts));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), claude(fenced));
    let chat = |content: &str| {
        json!({"messages": [
            {"role": "system", "content": "PROMPT"},
            {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": content},
        ]})
    };
    let body = sent("/v1/chat/completions", &chat("EVIL"));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), chat("[read fenced] EVIL"));
}

#[test]
fn tools_are_called_with_the_extensions_token_alone() {
    let house = house([]);
    let call = |token: &str, body: &str| {
        let answer =
            house.post("/foreword/call", &format!("Authorization: Bearer {token}\r\n"), body);
        let status = answer.split(' ').nth(1).unwrap().to_owned();
        (status, body_json(&answer))
    };
    fn body_json(answer: &str) -> Value {
        serde_json::from_str(&body(answer)).unwrap()
    }
    let list = r#"{"name":"skill_list","input":{}}"#;
    assert_eq!(call("call-token", list), ("200".into(), json!({"content": "none"})));
    for token in ["key", "", "call-toke", "call-token2"] {
        assert_eq!(call(token, list).0, "401", "{token}");
    }
    let (status, tainted) =
        call("call-token", r#"{"name":"skill_propose","input":{"skill":"a","content":"b"}}"#);
    assert_eq!((status.as_str(), &tainted["error"]["message"]), ("403", &json!("too tainted")));
    for (body, expected) in [
        (r#"{"name":"bash","input":{}}"#, "403"),
        (r#"{"name":"skill_read","input":{}}"#, "403"),
        (r#"{"name":"model_call","input":{}}"#, "403"),
        (r#"{"name":"skill_list","input":{"x":1}}"#, "400"),
        (r#"{"name":"skill_list"}"#, "400"),
        ("", "400"),
    ] {
        assert_eq!(call("call-token", body).0, expected, "{body}");
    }
    assert_eq!(house.host.actions().len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_of_the_program_cannot_call_the_model_with_its_key() {
    let house = house([Reply::says("to the program"), Reply::says("to the command")]);
    let key = "x-api-key: key\r\n";
    assert!(house.post("/v1/messages", key, CALL).starts_with("HTTP/1.1 200 "));
    // The shell and its connection are another process, as every command of the program is.
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}; printf 'POST %s HTTP/1.1\\r\\nx-api-key: key\\r\\n\
         authorization: Bearer call-token\\r\\nConnection: close\\r\\nContent-Length: {}\\r\\n\\r\\n%s' \
         \"$1\" \"$2\" >&3; cat <&3",
        house.bridge.port(),
        CALL.len(),
    );
    for path in ["/v1/messages", "/v1/chat/completions", "/foreword/call"] {
        let command = std::process::Command::new("bash")
            .args(["-c", &script, "command", path, CALL])
            .output()
            .unwrap();
        let answer = String::from_utf8_lossy(&command.stdout);
        assert!(answer.starts_with("HTTP/1.1 401 "), "{path}: {answer}");
        assert!(answer.contains("the program that the agent started"), "{answer}");
    }
    assert_eq!(house.model.asked().len(), 1, "the model was not asked");
    assert!(house.post("/v1/messages", key, CALL).starts_with("HTTP/1.1 200 "));
}

#[test]
fn other_questions_are_answered_without_the_model() {
    let house = house([]);
    let key = "x-api-key: key\r\n";
    let counted = body(&house.post("/v1/messages/count_tokens?beta=true", key, CALL));
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert_eq!(counted["input_tokens"], foreword::estimate(CALL));
    for (request, status) in [
        ("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n", "200"),
        ("HEAD /x HTTP/1.1\r\nConnection: close\r\n\r\n", "404"),
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "404"),
        ("GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n", "200"),
        ("DELETE /v1/messages HTTP/1.1\r\nConnection: close\r\n\r\n", "404"),
        ("POST /v1/../foreword/call HTTP/1.1\r\nConnection: close\r\n\r\n", "401"),
        (
            "POST /api/event_logging/batch HTTP/1.1\r\nx-api-key: key\r\nConnection: close\r\n\r\n",
            "404",
        ),
    ] {
        let answer = house.raw(request.as_bytes());
        assert_eq!(answer.split(' ').nth(1), Some(status), "{request}");
    }
    assert!(house.model.asked().is_empty());
}

#[test]
fn hostile_requests_are_refused() {
    let house = house([]);
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(40_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200));
    let big_chunk = "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n";
    for (request, status) in [
        (long.as_str(), "431"),
        (many.as_str(), "431"),
        (big_chunk, "413"),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", "413"),
        ("POST / HTTP/1.1\r\nContent-Length: 40000000\r\n\r\n", "413"),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n", "400"),
        ("GET / HTTP/1.0\r\n\r\n", "505"),
        ("GET / HTTP/2\r\n\r\n", "505"),
        ("GET http://other/ HTTP/1.1\r\n\r\n", "400"),
        ("GET  / HTTP/1.1\r\n\r\n", "400"),
        ("get / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nx : y\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n folded\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nx: \u{1}\r\n\r\n", "400"),
        ("\u{16}\u{3}\u{1}\u{2}\n", "400"),
    ] {
        let answer = house.raw(request.as_bytes());
        let shown: String = request.chars().take(80).collect();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{shown:?}: {answer}");
        assert!(answer.contains("Connection: close"));
    }
    for half in ["", "G", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"] {
        assert_eq!(house.raw(half.as_bytes()), "", "{half}");
    }
    assert!(house.raw(b"\xff\xfe\n").starts_with("HTTP/1.1 400 "));
    assert!(house.raw(b"HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 200"));
}

#[test]
fn connections_are_counted_and_end_with_the_bridge() {
    let house = house([]);
    let kept: Vec<TcpStream> = (0..MAX_CONNECTIONS)
        .map(|_| {
            let mut stream = house.connect();
            stream.write_all(b"HEAD / HTTP/1.1\r\n\r\n").unwrap();
            assert!(stream.read(&mut [0; 256]).unwrap() > 0);
            stream
        })
        .collect();
    assert!(house.raw(b"HEAD / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
    let House { bridge, model: _model, host: _host } = house;
    let start = Instant::now();
    drop(bridge);
    for mut stream in kept {
        assert_eq!(stream.read(&mut [0; 256]).unwrap_or(0), 0);
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}
