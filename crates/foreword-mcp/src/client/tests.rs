use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::json;

use super::*;

const SERVER: &str = include_str!("test_server.py");

fn limits() -> ClientLimits {
    ClientLimits {
        start: Duration::from_secs(10),
        call: Duration::from_secs(2),
        max_message_bytes: 1 << 20,
    }
}

/// A server of our own in a program; `None` where there is no Python.
fn server(kind: &str) -> Option<(Child, Result<McpClient, McpClientError>)> {
    let mut command = Command::new("python3");
    command.args(["-c", SERVER, kind]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        foreword_testing::skip("python3", "there is no python3");
        return None;
    };
    let (output, input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = McpClient::over_pipes(output.into(), input.into(), limits());
    Some((child, client))
}

fn call(client: &McpClient, text: &str) -> Result<ToolAnswer, McpClientError> {
    let arguments = json!({ "text": text });
    client.call("echo", arguments.as_object().cloned().unwrap())
}

#[test]
fn tools_are_listed_and_called() {
    let Some((mut child, client)) = server("good") else { return };
    let client = client.unwrap();
    let tools = client.tools().unwrap().tools;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "add", "picture"], "both pages");
    assert_eq!(tools[0].description, "Echo a text.");
    assert_eq!(tools[0].input_schema["required"], json!(["text"]));
    assert_eq!(
        call(&client, "hello").unwrap(),
        ToolAnswer { text: "hello".into(), is_error: false }
    );
    let picture = client.call("picture", Map::new()).unwrap();
    assert_eq!(picture.text, "[image image/png, 8 bytes of base64, not shown]");
    let refused = client.call("nothing", Map::new()).unwrap_err();
    assert_eq!(refused, McpClientError::Refused("no such tool".into()));
    assert!(!refused.ends_connection());
    let failed = client.call("add", Map::new()).unwrap();
    assert!(failed.is_error);
    assert!(!client.took_back_its_list());
    drop(client);
    assert!(child.wait().unwrap().success(), "it ends with its input");
}

#[test]
fn a_hostile_server_is_an_error_with_a_name() {
    for (kind, expected) in [
        ("hang", McpClientError::TimedOut(Duration::from_secs(2))),
        ("crash", McpClientError::Closed),
        ("huge", McpClientError::TooLarge { limit: 1 << 20 }),
        ("flood", McpClientError::Flood { limit: 16 << 20 }),
    ] {
        let Some((mut child, client)) = server(kind) else { return };
        let start = Instant::now();
        let client = client.unwrap();
        assert_eq!(call(&client, "x").unwrap_err(), expected, "{kind}");
        assert!(start.elapsed() < Duration::from_secs(8), "{kind}: {:?}", start.elapsed());
        let _ = child.kill();
        let _ = child.wait();
    }
    let Some((mut child, client)) = server("loop") else { return };
    let error = client.unwrap().tools().unwrap_err().to_string();
    assert!(error.contains("begins again"), "{error}");
    let _ = child.kill();
    let _ = child.wait();
}

/// The JSON reader gives up on it, so the call would wait for its limit.
#[test]
fn a_list_that_nests_too_deep_is_said_at_once() {
    let Some((mut child, client)) = server("deep") else { return };
    let error = client.unwrap().tools().unwrap_err();
    assert_eq!(error, McpClientError::TooDeep { limit: 100 });
    assert!(error.ends_connection());
    let _ = child.kill();
    let _ = child.wait();
}

/// Report 15, number 13: one entry that is no tool turned off the whole server, and was not named.
#[test]
fn a_tool_without_a_schema_is_left_out_by_name() {
    let Some((mut child, client)) = server("noschema") else { return };
    let client = client.unwrap();
    let offered = client.tools().unwrap();
    let names: Vec<&str> = offered.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "add", "picture"]);
    assert_eq!(offered.left_out, ["tool `bare` is left out: it has no `inputSchema`"]);
    drop(client);
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn a_server_that_takes_back_its_list_is_noticed() {
    let Some((mut child, client)) = server("changes") else { return };
    let client = client.unwrap();
    call(&client, "x").unwrap();
    let start = Instant::now();
    while !client.took_back_its_list() && start.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    drop(client);
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn what_is_no_server_is_said() {
    let Some((mut child, client)) = server("mute") else { return };
    let _ = child.kill();
    let error = client.unwrap_err();
    assert!(matches!(error, McpClientError::TimedOut(_)), "{error}");
    let _ = child.wait();
    let Some((mut child, client)) = server("exit") else { return };
    assert_eq!(client.unwrap_err(), McpClientError::EndedAtStart);
    let _ = child.wait();
}

/// Answers each POST of a client in a thread, as JSON or as a stream of events.
fn http_server(as_events: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().take(20).flatten() {
            thread::spawn(move || serve_http(stream, as_events));
        }
    });
    url
}

fn serve_http(stream: TcpStream, as_events: bool) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream;
    loop {
        let (mut length, mut session, mut key) = (0, false, false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            session |= line == "mcp-session-id: s1";
            key |= line == "authorization: bearer t0";
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let method = asked["method"].as_str().unwrap_or_default();
        let result = match method {
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "h", "version": "1"}}),
            "tools/call" if asked["params"]["arguments"]["text"] == "huge" => {
                json!({"content": [{"type": "text", "text": "x".repeat(3 << 20)}]})
            }
            "tools/call" => {
                let said = format!("{} {session} {key}", asked["params"]["arguments"]["text"]);
                json!({"content": [{"type": "text", "text": said}]})
            }
            _ => json!({}),
        };
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        let text = asked["params"]["arguments"]["text"].as_str().unwrap_or_default();
        let (status, kind, body) = match method {
            "tools/list" => ("500 Oops", "text/plain", "out of order".to_owned()),
            _ if text == "page" => ("200 OK", "text/html", "<html>Log in</html>".to_owned()),
            _ if text == "nothing" => ("202 Accepted", "application/json", String::new()),
            _ if text == "cut" => ("200 OK", "text/event-stream", "data: {\"json".to_owned()),
            _ if text == "other" => (
                "200 OK",
                "application/json",
                r#"{"jsonrpc":"2.0","id":99,"result":{}}"#.to_owned(),
            ),
            _ if asked.get("id").is_none() => ("202 Accepted", "text/plain", String::new()),
            _ if as_events => (
                "200 OK",
                "text/event-stream",
                format!(": hi\n\nevent: message\ndata: {answer}\n\n"),
            ),
            _ => ("200 OK", "application/json", answer),
        };
        // A stream that stays open promises more than it says.
        let length = body.len() + if text == "open" { 1 } else { 0 };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: s1\r\ncontent-length: {length}\r\n\r\n"
        );
        if out.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_server_at_a_url_is_reached_like_a_program() {
    for as_events in [false, true] {
        let headers = vec![("authorization".to_owned(), "Bearer t0".to_owned())];
        let client = McpClient::over_http(&http_server(as_events), headers, limits()).unwrap();
        assert_eq!(call(&client, "hi").unwrap().text, "\"hi\" true true");
        let error = client.tools().unwrap_err();
        assert_eq!(error.to_string(), "answered with HTTP status 500: out of order");
        let huge = call(&client, "huge").unwrap_err();
        assert_eq!(huge, McpClientError::TooLarge { limit: 1 << 20 });
    }
    let gone = McpClient::over_http("http://127.0.0.1:9/mcp", Vec::new(), limits()).unwrap_err();
    let gone = gone.to_string();
    assert!(gone.starts_with("cannot be reached at http://127.0.0.1:9/mcp: "), "{gone}");
}

#[test]
fn a_server_that_ends_its_answer_without_a_reply_is_not_waited_for() {
    let limits = ClientLimits { call: Duration::from_secs(60), ..limits() };
    let client = McpClient::over_http(&http_server(true), Vec::new(), limits).unwrap();
    let began = Instant::now();
    for (text, error) in [
        ("page", "broke the protocol: HTTP status 200 OK without a reply to the call (text/html)"),
        (
            "nothing",
            "broke the protocol: HTTP status 202 Accepted without a reply to the call (application/json)",
        ),
        (
            "cut",
            "broke the protocol: HTTP status 200 OK without a reply to the call (text/event-stream)",
        ),
        (
            "other",
            "broke the protocol: HTTP status 200 OK without a reply to the call (application/json)",
        ),
    ] {
        assert_eq!(call(&client, text).unwrap_err().to_string(), error, "{text}");
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_stream_that_stays_open_after_the_reply_does_not_delay_the_next_call() {
    let limits = ClientLimits { call: Duration::from_secs(60), ..limits() };
    let client = McpClient::over_http(&http_server(true), Vec::new(), limits).unwrap();
    let began = Instant::now();
    assert_eq!(call(&client, "open").unwrap().text, "\"open\" true false");
    assert_eq!(call(&client, "next").unwrap().text, "\"next\" true false");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
