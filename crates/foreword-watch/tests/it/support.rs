//! A loopback upstream, a client, and a sink that keeps what it gets.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use foreword_watch::{Callers, Exchange, Proxy, ProxyConfig, Route, Sink};

/// Serves every connection with a function, until the test ends.
pub(crate) fn upstream(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}")
}

/// An upstream that answers every request on a connection with the same bytes.
pub(crate) fn answering(answer: &'static [u8]) -> String {
    upstream(move |mut stream| {
        while read_request(&mut stream).is_some() {
            stream.write_all(answer).unwrap();
        }
    })
}

/// Reads a request: its head and its body, which has a length.
pub(crate) fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 64 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end + 4].to_vec()).unwrap();
            let lower = head.to_ascii_lowercase();
            let length = lower.split("content-length: ").nth(1);
            let length: usize =
                length.map_or(0, |rest| rest.split("\r\n").next().unwrap().trim().parse().unwrap());
            let mut body = bytes[end + 4..].to_vec();
            while body.len() < length {
                match stream.read(&mut piece) {
                    Ok(count @ 1..) => body.extend_from_slice(&piece[..count]),
                    _ => return None,
                }
            }
            return Some((head, body));
        }
        match stream.read(&mut piece) {
            Ok(count @ 1..) => bytes.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}

/// Keeps exchanges.
#[derive(Default)]
pub(crate) struct Kept {
    all: Mutex<Vec<Exchange>>,
    more: Condvar,
}

impl Sink for Kept {
    fn record(&self, exchange: Exchange) {
        self.all.lock().unwrap().push(exchange);
        self.more.notify_all();
    }
}

impl Kept {
    /// How many have been recorded by now.
    pub(crate) fn count(&self) -> usize {
        self.all.lock().unwrap().len()
    }

    /// The next exchange that ends.
    pub(crate) fn next(&self) -> Exchange {
        let until = Instant::now() + Duration::from_secs(30);
        let mut all = self.all.lock().unwrap();
        while all.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no exchange was recorded");
            all = self.more.wait_timeout(all, left).unwrap().0;
        }
        all.remove(0)
    }
}

/// A proxy before an upstream, as `anthropic`.
pub(crate) fn proxy(upstream: &str) -> (Proxy, Arc<Kept>) {
    proxy_with(upstream, Callers::SameUser, None)
}

pub(crate) fn proxy_with(
    upstream: &str,
    callers: Callers,
    upstream_silence: Option<Duration>,
) -> (Proxy, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let routes = vec![Route::new("anthropic", upstream).unwrap()];
    let config = ProxyConfig { port: 0, routes, callers, upstream_silence };
    let proxy = Proxy::start(config, None, Arc::clone(&kept) as Arc<dyn Sink>).unwrap();
    (proxy, kept)
}

pub(crate) fn connect(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// A request with a body.
pub(crate) fn post(proxy: &Proxy, path: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        proxy.address(),
        body.len()
    )
    .into_bytes()
}

/// Sends bytes and reads all that comes back until the other side closes.
pub(crate) fn exchange(proxy: &Proxy, request: &[u8]) -> String {
    let mut stream = connect(proxy);
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reads exactly so many bytes.
pub(crate) fn read_bytes(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}
