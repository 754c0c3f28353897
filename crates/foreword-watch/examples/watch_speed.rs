//! Measures what the recording proxy adds to a call. Run with `cargo xtask bench-watch`.
//!
//! Everything is on loopback and in one process: a model that answers at once with a stream, clients with
//! and without the proxy in turn, and the recorder with its redaction and comparison behind the proxy, as in
//! `foreword watch`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measurement that fails loudly"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use foreword_watch::{Callers, CaptureStore, Proxy, ProxyConfig, Route, Sink};

const CALLS: usize = 2_000;
const STREAMS: usize = 200;
const EVENTS: usize = 20;
const BIG: usize = 64 << 20;

fn main() {
    let upstream = start_model();
    let directory = std::env::temp_dir().join(format!("foreword-bench-{}", std::process::id()));
    let store = CaptureStore::new(directory.clone());
    let (_, recorder) = store.create(&[], &directory, [0; 4], |_| {}).unwrap();
    let config = ProxyConfig {
        port: 0,
        routes: vec![Route::new("anthropic", &format!("http://{upstream}")).unwrap()],
        callers: Callers::of_this_user([7; 16]),
        upstream_silence: None,
    };
    let proxy = Proxy::start(config, None, Arc::clone(&recorder) as Arc<dyn Sink>).unwrap();
    let watched = proxy.address();

    let body = request_body(20_000);
    let (mut direct, mut added) = (Vec::new(), Vec::new());
    let mut plain = Client::connect(upstream, "/v1/messages");
    let mut through = Client::connect(watched, "/anthropic/v1/messages");
    for call in 0..CALLS + 100 {
        // In turn, so that whatever else the machine does disturbs both alike.
        let one = plain.call(&body).0;
        let other = through.call(&body).0;
        if call >= 100 {
            direct.push(one);
            added.push(other.saturating_sub(one));
        }
    }
    println!("{CALLS} calls of {} KB on kept connections, in turn:", body.len() / 1000);
    println!("  time to first byte without the proxy   {}", quantiles(&mut direct));
    println!("  added by the proxy                     {}", quantiles(&mut added));

    let (mut direct, mut added) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let one = Client::timed(upstream, "/v1/messages", &body);
        let other = Client::timed(watched, "/anthropic/v1/messages", &body);
        direct.push(one);
        added.push(other.saturating_sub(one));
    }
    println!("500 calls on new connections, in turn:");
    println!("  time to first byte without the proxy   {}", quantiles(&mut direct));
    println!("  added by the proxy                     {}", quantiles(&mut added));

    let started = Instant::now();
    let mut first: Vec<Duration> = thread::scope(|scope| {
        let clients: Vec<_> = (0..STREAMS)
            .map(|_| {
                let body = &body;
                scope.spawn(move || {
                    let (first, bytes) =
                        Client::connect(watched, "/anthropic/v1/slow/messages").call(body);
                    assert!(bytes >= EVENTS * 8, "the stream is whole: {bytes} bytes");
                    first
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    println!("{STREAMS} streams at the same time, {EVENTS} events of 50 ms each:");
    println!(
        "  all whole after {:.2} s (at least 1.00 s by themselves)",
        started.elapsed().as_secs_f64()
    );
    println!("  time to first byte                     {}", quantiles(&mut first));

    let big = "x".repeat(BIG);
    let time = |address: SocketAddr, path: &str| {
        let started = Instant::now();
        Client::connect(address, path).call(&big);
        started.elapsed()
    };
    let (without, with) = (time(upstream, "/v1/other"), time(watched, "/anthropic/v1/other"));
    println!(
        "a request body of {} MB: {:.0} ms without the proxy, {:.0} ms with it",
        BIG >> 20,
        ms(without),
        ms(with)
    );
    proxy.finish(Duration::from_secs(5));
    let started = Instant::now();
    recorder.finish(None).unwrap();
    println!(
        "recording what was left took {:.2} s after the last answer",
        started.elapsed().as_secs_f64()
    );
    let _ = std::fs::remove_dir_all(directory);
}

fn request_body(bytes: usize) -> String {
    let line = "Keep every module free of surprises and explain what it does. ";
    let text = line.repeat(bytes / line.len());
    serde_json::json!({"model": "claude-sonnet-4", "system": text, "messages": [{"role": "user", "content": "Hi"}]}).to_string()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn quantiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    format!("median {:.3} ms, p95 {:.3} ms, p99 {:.3} ms", at(0.5), at(0.95), at(0.99))
}

/// A client that keeps its connection.
struct Client {
    stream: TcpStream,
    head: String,
}

impl Client {
    fn connect(address: SocketAddr, path: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self {
            stream,
            head: format!(
                "POST {path} HTTP/1.1\r\nHost: {address}\r\nx-api-key: test-key-0123456789\r\n"
            ),
        }
    }

    fn timed(address: SocketAddr, path: &str, body: &str) -> Duration {
        let started = Instant::now();
        let mut client = Self::connect(address, path);
        let connected = started.elapsed();
        connected + client.call(body).0
    }

    /// The time to the first byte, and how many bytes came.
    fn call(&mut self, body: &str) -> (Duration, usize) {
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        let started = Instant::now();
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut piece = [0; 16 << 10];
        let mut all = Vec::new();
        let mut first = None;
        while !all.ends_with(b"0\r\n\r\n") {
            let count = self.stream.read(&mut piece).unwrap();
            first.get_or_insert_with(|| started.elapsed());
            assert!(count > 0, "{}", String::from_utf8_lossy(&all));
            all.extend_from_slice(&piece[..count]);
        }
        (first.unwrap(), all.len())
    }
}

/// A model that answers at once, or in events of 50 ms.
fn start_model() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || serve(stream));
        }
    });
    address
}

fn serve(mut stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut bytes: Vec<u8> = Vec::new();
    let mut piece = vec![0; 256 << 10];
    loop {
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            match stream.read(&mut piece) {
                Ok(count @ 1..) => bytes.extend_from_slice(&piece[..count]),
                _ => return,
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length: usize = head
            .split("content-length: ")
            .nth(1)
            .unwrap()
            .split("\r\n")
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let mut left = length.saturating_sub(bytes.len() - end);
        bytes.clear();
        while left > 0 {
            left -= stream.read(&mut piece).unwrap();
        }
        let mut answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n".to_vec();
        if head.contains("/slow/") {
            for _ in 0..EVENTS {
                stream.write_all(&answer).unwrap();
                answer = b"8\r\ndata: 1\n\r\n".to_vec();
                thread::sleep(Duration::from_millis(50));
            }
        }
        answer.extend_from_slice(b"0\r\n\r\n");
        stream.write_all(&answer).unwrap();
    }
}
