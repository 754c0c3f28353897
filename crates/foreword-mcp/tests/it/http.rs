//! The server over HTTP: who comes in, and what happens to bad requests.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use crate::parts::Parts;
use crate::wire::{Server, TOKEN};
use foreword_mcp::{HttpOptions, HttpServer, ServeError};
use serde_json::json;

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn parts() -> Parts {
    Parts::new(&crate::programs::workspace("tideline"))
}

#[test]
fn a_client_with_the_token_is_served() {
    let server = Server::start(parts());
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let hello = server.ask("initialize", hello);
    assert_eq!(hello["result"]["serverInfo"]["name"], "foreword");
    let call = json!({"name": "prompt_build", "arguments": {"agent": "marlow"}});
    let built = server.ask("tools/call", call);
    let text = built["result"]["structuredContent"]["text"].as_str().unwrap();
    assert!(text.contains("Marlow"));
    let unknown = server.ask("resources/read", json!({"uri": "foreword://skills/nope"}));
    assert_eq!(unknown["error"]["code"], -32002);
}

#[test]
fn without_the_token_nobody_is() {
    let server = Server::start(parts());
    let basic = format!("Basic {TOKEN}");
    for authorization in ["", "Bearer", "Bearer wrong-token-0123456789", TOKEN, basic.as_str()] {
        let answer = server.post(&[("Authorization", authorization)], PING);
        assert_eq!(answer.status, 401, "{authorization:?}");
        assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
        assert!(!answer.body.contains(TOKEN));
    }
    assert_eq!(server.post(&[], PING).status, 200);
}

#[test]
fn pages_of_elsewhere_are_refused_even_with_the_token() {
    let server = Server::start(parts());
    for (name, value) in [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1.evil.example"),
        ("Host", "localhost.evil.example:80"),
        ("Origin", "http://evil.example"),
        ("Origin", "https://localhost.evil.example"),
        ("Origin", "null"),
        ("Origin", "garbage"),
    ] {
        assert_eq!(server.post(&[(name, value)], PING).status, 403, "{name}: {value}");
    }
    assert_eq!(server.post(&[("Host", "")], PING).status, 400);
    for (name, value) in
        [("Host", "localhost:1234"), ("Host", "[::1]"), ("Origin", "http://localhost:6274")]
    {
        assert_eq!(server.post(&[(name, value)], PING).status, 200, "{name}: {value}");
    }
}

#[test]
fn exactly_one_host_in_plain_notation_is_accepted() {
    let server = Server::start(parts());
    let own = server.addr.to_string();
    for host in ["evil@127.0.0.1", "evil:x@localhost", "127.1", "localhost.", "localhost:x"] {
        assert_eq!(server.post(&[("Host", host)], PING).status, 403, "{host}");
    }
    for second in [own.as_str(), "evil.example"] {
        let doubled = server.post(&[("Host", own.as_str()), ("Host", second)], PING);
        assert_eq!(doubled.status, 400, "{second}: {}", doubled.body);
    }
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Host", own.as_str()), ("Authorization", bearer.as_str())];
    for target in ["http://evil.example/mcp", "http://127.0.0.1/mcp"] {
        assert_eq!(server.request("POST", target, &headers, PING).status, 400, "{target}");
    }
}

#[test]
fn headers_are_limited() {
    let server = Server::start(parts());
    let many: Vec<String> = (0..90).map(|n| format!("X-{n}")).collect();
    let value = "x".repeat(12_000);
    assert_eq!(server.post(&[("X-0", value.as_str())], PING).status, 200);
    // The server answers before it has read everything, so a client may only see the end.
    for (count, length) in [(1, 17_000), (1, 100_000), (90, 300)] {
        let value = "x".repeat(length);
        let mut head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", server.addr);
        for name in many.iter().take(count) {
            head += &format!("{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(server.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(format!("{head}\r\n").as_bytes());
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        let timed_out = ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        let answer = String::from_utf8_lossy(&answer);
        assert!(!timed_out, "{count} of {length}: {answer}");
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{count} of {length}: {answer}"
        );
    }
    assert_eq!(server.post(&[], PING).status, 200);
}

#[test]
fn other_paths_and_methods_are_not_served() {
    let server = Server::start(parts());
    let host = server.addr.to_string();
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Host", host.as_str()), ("Authorization", &bearer), ("Accept", "*/*")];
    for path in ["/", "/mcp/", "/mcpx", "/.well-known/oauth-protected-resource"] {
        assert_eq!(server.request("GET", path, &headers, b"").status, 404, "{path}");
    }
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(server.request(method, "/mcp", &headers, b"").status, 405, "{method}");
    }
}

#[test]
fn bad_bodies_are_refused_and_the_server_stays() {
    let server = Server::start(parts());
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    for body in [&b""[..], b"{", b"\xff\xfe", b"null", b"[]", b"{}", &deep] {
        let status = server.post(&[], body).status;
        assert!((400..500).contains(&status), "{status}: {:?}", body.get(..10));
    }
    assert_eq!(server.post(&[("Content-Type", "text/plain")], PING).status, 415);
    let unknown = server.ask("no/such/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(server.post(&[], PING).status, 200);
}

#[test]
fn large_bodies_are_refused_before_or_while_they_come() {
    let server = Server::start(parts());
    let announced = server.post(&[("Content-Length", "4194305")], b"{");
    assert_eq!(announced.status, 413);
    assert!(announced.body.contains("4 MiB"));
    let mut chunks = format!("{:x}\r\n", (4 << 20) + 1).into_bytes();
    chunks.resize(chunks.len() + (4 << 20) + 1, b' ');
    let chunked = server.post(&[("Transfer-Encoding", "chunked")], &chunks);
    assert_eq!(chunked.status, 413);
    // The largest there may be: blanks, and then a request.
    let mut largest = vec![b' '; (4 << 20) - PING.len()];
    largest.extend_from_slice(PING);
    assert_eq!(server.post(&[], &largest).status, 200);
}

#[test]
fn only_this_machine_a_free_port_and_a_real_token_will_do() {
    let bind = |addr: &str, token: &str| {
        let options = HttpOptions { addr: addr.parse().unwrap(), token: token.to_owned() };
        HttpServer::bind(Arc::new(parts()), &options)
    };
    for addr in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = bind(addr, TOKEN).err().unwrap();
        assert!(matches!(error, ServeError::NotLoopback { .. }), "{error}");
    }
    let error = bind("127.0.0.1:0", "short").err().unwrap();
    assert!(matches!(error, ServeError::BadToken), "{error}");
    let first = bind("127.0.0.1:0", TOKEN).unwrap();
    let error = bind(&first.addr().to_string(), TOKEN).err().unwrap();
    assert!(matches!(error, ServeError::Listen { .. }), "{error}");
}
