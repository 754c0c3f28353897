use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use foreword_protocol::{ErrorCode, Failure};
use serde_json::{Value, json};

use super::*;
use crate::backend::{PromptInfo, SkillInfo, ToolInfo};

const TOKEN: &str = "0123456789abcdef";

/// A tool that takes its time, and notes how many run at once.
#[derive(Default)]
struct Slow {
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Backend for Slow {
    fn tools(&self) -> Vec<ToolInfo> {
        vec![ToolInfo {
            name: "slow".to_owned(),
            description: "Wait.".to_owned(),
            input_schema: json!({"type": "object"}),
            read_only: true,
            sensitive: false,
        }]
    }

    fn call(&self, _: &str, _: Value) -> Result<Value, Failure> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(200));
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(json!({"slow": true}))
    }

    fn skills(&self) -> Result<Vec<SkillInfo>, Failure> {
        Ok(Vec::new())
    }

    fn skill(&self, _: &str) -> Result<String, Failure> {
        Err(Failure::new(ErrorCode::NotFound, "none"))
    }

    fn prompts(&self) -> Result<Vec<PromptInfo>, Failure> {
        Ok(Vec::new())
    }

    fn prompt(&self, _: &str, _: Option<&str>) -> Result<String, Failure> {
        Err(Failure::new(ErrorCode::NotFound, "none"))
    }
}

struct Running {
    addr: SocketAddr,
    stopper: Stopper,
    thread: JoinHandle<Result<(), ServeError>>,
    backend: Arc<Slow>,
}

fn start(limits: Limits) -> Running {
    let backend = Arc::new(Slow::default());
    let options = HttpOptions { addr: ([127, 0, 0, 1], 0).into(), token: TOKEN.to_owned() };
    let server =
        HttpServer::bind_within(Arc::clone(&backend) as Arc<dyn Backend>, &options, limits)
            .unwrap();
    let (addr, stopper) = (server.addr(), server.stopper());
    Running { addr, stopper, thread: std::thread::spawn(|| server.run()), backend }
}

impl Running {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    fn stop(self) {
        self.stopper.stop();
        self.thread.join().unwrap().unwrap();
    }
}

/// A call, as it goes over the wire.
fn call(addr: SocketAddr) -> String {
    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{}}}"#;
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {addr}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn all(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn who_dawdles_is_shown_the_door() {
    let server = start(Limits { patience: Duration::from_millis(300), ..LIMITS });
    let begun = Instant::now();
    let mut head = server.connect();
    head.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    let mut body = server.connect();
    let call = call(server.addr);
    body.write_all(&call.as_bytes()[..call.len() - 5]).unwrap();

    assert!(all(body).starts_with("HTTP/1.1 408 "));
    all(head);
    assert!(begun.elapsed() < Duration::from_secs(5));
    server.stop();
}

#[test]
fn connections_with_a_request_are_bounded_and_come_free_again() {
    let server = start(Limits { connections: 2, ..LIMITS });
    let ask = || {
        let mut stream = server.connect();
        stream.write_all(call(server.addr).as_bytes()).unwrap();
        stream
    };
    let busy = [ask(), ask()];
    // Let these two be taken first.
    std::thread::sleep(Duration::from_millis(50));
    let mut third = ask();
    third.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut byte = [0];
    assert!(third.read(&mut byte).is_err(), "a third client was answered");
    third.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    for stream in busy.into_iter().chain([third]) {
        assert!(all(stream).contains(r#"{"slow":true}"#));
    }
    server.stop();
}

#[test]
fn idle_connections_delay_nobody() {
    let server = start(LIMITS);
    let mut idle: Vec<TcpStream> = (0..70).map(|_| server.connect()).collect();
    for half in idle.iter_mut().step_by(2) {
        // Already closed to make room, some of them.
        let _ = half.write_all(b"POST /mcp HTTP/1.1\r\nHost: ");
    }
    let begun = Instant::now();
    let mut client = server.connect();
    client.write_all(call(server.addr).as_bytes()).unwrap();
    assert!(all(client).contains(r#"{"slow":true}"#));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());

    // Those that gave way are the oldest; the youngest can still ask.
    let mut youngest = idle.pop().unwrap();
    youngest.write_all(call(server.addr).as_bytes()).unwrap();
    assert!(all(youngest).contains(r#"{"slow":true}"#));
    let mut oldest = idle.swap_remove(0);
    let mut byte = [0];
    assert!(!matches!(oldest.read(&mut byte), Ok(1..)), "the oldest is closed");
    server.stop();
}

#[test]
fn calls_are_bounded_too_and_none_is_lost() {
    let server = start(LIMITS);
    let clients: Vec<_> = (0..30)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(call(server.addr).as_bytes()).unwrap();
            stream
        })
        .collect();
    for client in clients {
        assert!(all(client).contains(r#""isError":false"#));
    }
    let most = server.backend.most.load(Ordering::SeqCst);
    assert!((2..=8).contains(&most), "{most} calls ran at once");
    server.stop();
}

#[test]
fn what_is_under_way_is_finished_before_the_end() {
    let server = start(LIMITS);
    let mut stream = server.connect();
    stream.write_all(call(server.addr).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(80));
    let addr = server.addr;
    server.stopper.stop();
    assert!(all(stream).contains(r#"{"slow":true}"#));
    server.stop();
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn an_idle_connection_does_not_keep_the_server() {
    let server = start(LIMITS);
    let idle = server.connect();
    std::thread::sleep(Duration::from_millis(50));
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(3));
    drop(idle);
}

#[test]
fn the_end_comes_even_if_a_call_does_not_end() {
    let server = start(Limits { grace: Duration::from_millis(50), ..LIMITS });
    let mut stream = server.connect();
    stream.write_all(call(server.addr).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(80));
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_millis(1500));
}
