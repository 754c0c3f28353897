//! HTTP as it goes over the wire, without a library that would put things right.
#![allow(dead_code, clippy::needless_pass_by_value, reason = "each test uses its part")]

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use foreword_mcp::{Backend, HttpOptions, HttpServer, ServeError, Stopper};
use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "a-token-for-tests-0123456789";

/// A server on a thread, stopped when it is dropped.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Server {
    pub(crate) fn start(backend: impl Backend + 'static) -> Self {
        let options = HttpOptions { addr: ([127, 0, 0, 1], 0).into(), token: TOKEN.to_owned() };
        let server = HttpServer::bind(Arc::new(backend), &options).unwrap();
        let (addr, stopper) = (server.addr(), server.stopper());
        Self { addr, stopper, thread: Some(std::thread::spawn(|| server.run())) }
    }

    /// A request of the protocol, and its answer.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.post(&[], body.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.message()
    }

    /// A body for the server, as a client with the token sends it; `headers` come instead.
    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let host = self.addr.to_string();
        let bearer = format!("Bearer {TOKEN}");
        let usual = [
            ("Host", host.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let given = |name: &str| headers.iter().any(|(other, _)| *other == name);
        let usual = usual.iter().filter(|(name, _)| !given(name));
        let headers: Vec<_> =
            usual.chain(headers).copied().filter(|(_, value)| !value.is_empty()).collect();
        self.request("POST", "/mcp", &headers, body)
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !headers.iter().any(|(name, _)| matches!(*name, "Content-Length" | "Transfer-Encoding"))
        {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        head += "\r\n";
        let mut stream = TcpStream::connect(self.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        Answer::read(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).unwrap(), 0, "no answer: {head:?}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let head = head.to_ascii_lowercase();
        let mut body = Vec::new();
        if head.contains("transfer-encoding: chunked") {
            loop {
                let mut size = String::new();
                stream.read_line(&mut size).unwrap();
                let size = usize::from_str_radix(size.trim(), 16).unwrap();
                let start = body.len();
                body.resize(start + size + 2, 0);
                stream.read_exact(&mut body[start..]).unwrap();
                body.truncate(start + size);
                if size == 0 {
                    break;
                }
            }
        } else {
            stream.read_to_end(&mut body).unwrap();
        }
        Self { status, head, body: String::from_utf8(body).unwrap() }
    }

    /// The message, plain or the last of a stream of events.
    pub(crate) fn message(&self) -> Value {
        let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let text = events.rfind(|data| data.starts_with('{'));
        serde_json::from_str(text.unwrap_or(&self.body)).unwrap()
    }
}

/// A way to a server for clients that can send no token: it adds one to each request.
pub(crate) fn add_token(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            std::thread::spawn(move || pass_on(client, server));
        }
    });
    addr
}

/// One request, and its answer up to the end of the connection.
fn pass_on(client: TcpStream, server: SocketAddr) -> Option<()> {
    let mut request = BufReader::new(client.try_clone().ok()?);
    let mut head = String::new();
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if request.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if !line.to_ascii_lowercase().starts_with("connection:") && line != "\r\n" {
            head += &line;
        }
    }
    head += &format!("Authorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n");
    let mut upstream = TcpStream::connect(server).ok()?;
    upstream.write_all(head.as_bytes()).ok()?;
    let mut answer = upstream.try_clone().ok()?;
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut request, &mut upstream);
        // The client has gone: so do we.
        let _ = upstream.shutdown(Shutdown::Both);
    });
    let mut client = client;
    let _ = std::io::copy(&mut answer, &mut client);
    client.shutdown(Shutdown::Both).ok()
}
