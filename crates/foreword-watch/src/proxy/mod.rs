//! The recording proxy: a loopback reverse proxy that passes bytes on as they arrive and keeps a copy.
//!
//! One thread serves one connection of a client, with one connection to the upstream of its own, so that
//! keep-alive, time-outs and disconnects on one side are those on the other. The heads of requests are
//! rewritten as little as a proxy must; bodies and answers pass byte for byte. A copy of each exchange
//! goes to a [`Sink`] when the exchange has ended.
//!
//! The proxy is for programs on this machine and nobody else. It refuses `CONNECT`, absolute URIs, a
//! foreign `Host` and any `Origin`, so that no page in a browser can use it, and follows no redirect.

mod client;
mod connection;
mod framing;
mod head;
mod refusal;
mod route;
mod tunnel;
mod upstream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::error::WatchError;

pub use self::client::Callers;
pub use self::route::Route;
use self::upstream::Tls;

/// The largest body of which a copy is kept. Larger ones pass, and the copy is cut.
pub const MAX_RECORDED_BODY: usize = 64 << 20;
/// Bytes of all copies that are kept at the same time.
const MAX_RECORDED_BYTES: usize = 768 << 20;
/// Clients at the same time.
const MAX_CONNECTIONS: usize = 1024;
/// How long an upstream may be silent before its client is told so.
const UPSTREAM_SILENCE: Duration = Duration::from_secs(15 * 60);

/// What a proxy does.
#[derive(Debug)]
pub struct ProxyConfig {
    /// 0 for a free one.
    pub port: u16,
    pub routes: Vec<Route>,
    pub callers: Callers,
    /// How long an upstream may be silent; 15 minutes if absent.
    pub upstream_silence: Option<Duration>,
}

/// Takes the copies of exchanges. Called on the thread of the connection, so it should return soon.
pub trait Sink: Send + Sync {
    fn record(&self, exchange: Exchange);
}

/// A copy of a request and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// When the head of the request had been read.
    pub at: SystemTime,
    /// The name of the route.
    pub route: String,
    pub method: String,
    /// The path and query at the upstream.
    pub target: String,
    pub request_headers: Vec<(String, Vec<u8>)>,
    pub request: RecordedBody,
    /// 0 if there was no answer.
    pub status: u16,
    pub response_headers: Vec<(String, Vec<u8>)>,
    pub response: RecordedBody,
    /// From the end of the request's head to the first byte of the answer.
    pub first_byte: Duration,
    pub total: Duration,
    /// Why there is no complete answer.
    pub problem: Option<String>,
}

impl Exchange {
    /// The value of a request header, its name in lower case.
    #[must_use]
    pub fn request_header(&self, name: &str) -> Option<&[u8]> {
        head::find(&self.request_headers, name)
    }

    /// The value of a response header, its name in lower case.
    #[must_use]
    pub fn response_header(&self, name: &str) -> Option<&[u8]> {
        head::find(&self.response_headers, name)
    }
}

/// The copy of a body, without its transfer coding.
#[derive(Debug, Default)]
pub struct RecordedBody {
    pub bytes: Vec<u8>,
    /// How long the body was; more than `bytes` if the copy was cut.
    pub length: u64,
    /// Counted against the copies that are kept at the same time.
    held: Option<Held>,
}

impl RecordedBody {
    /// A whole body.
    #[must_use]
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len() as u64, bytes, held: None }
    }

    /// Whether the copy lacks a part of the body.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.length > self.bytes.len() as u64
    }

    fn in_shared(shared: &Arc<AtomicUsize>) -> Self {
        Self { held: Some(Held { all: Arc::clone(shared), own: 0 }), ..Self::default() }
    }

    fn push(&mut self, piece: &[u8]) {
        let complete = !self.is_cut();
        self.length = self.length.saturating_add(piece.len() as u64);
        let fits = self.bytes.len().saturating_add(piece.len()) <= MAX_RECORDED_BODY;
        if complete && fits && self.held.as_mut().is_none_or(|held| held.take(piece.len())) {
            self.bytes.extend_from_slice(piece);
        }
    }
}

#[derive(Debug)]
struct Held {
    all: Arc<AtomicUsize>,
    own: usize,
}

impl Held {
    fn take(&mut self, bytes: usize) -> bool {
        let before = self.all.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > MAX_RECORDED_BYTES {
            self.all.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.own += bytes;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// A running proxy. It stops when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What the threads of a proxy share.
struct Shared {
    port: u16,
    routes: Vec<Route>,
    callers: Callers,
    silence: Duration,
    tls: Tls,
    sink: Arc<dyn Sink>,
    stopped: AtomicBool,
    /// Exchanges under way, to wait for at the end.
    exchanges: Mutex<usize>,
    idle: Condvar,
    connections: AtomicUsize,
    held: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts to listen on 127.0.0.1. `certificates` names a PEM file with further roots to trust.
    pub fn start(
        config: ProxyConfig,
        certificates: Option<&Path>,
        sink: Arc<dyn Sink>,
    ) -> Result<Self, WatchError> {
        let port = config.port;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|source| {
            if source.kind() == io::ErrorKind::AddrInUse {
                WatchError::PortInUse { port }
            } else {
                WatchError::Listen { port, source }
            }
        })?;
        let address =
            listener.local_addr().map_err(|source| WatchError::Listen { port, source })?;
        let shared = Arc::new(Shared {
            port: address.port(),
            routes: config.routes,
            callers: config.callers,
            silence: config.upstream_silence.unwrap_or(UPSTREAM_SILENCE),
            tls: Tls::new(certificates)?,
            sink,
            stopped: AtomicBool::new(false),
            exchanges: Mutex::new(0),
            idle: Condvar::new(),
            connections: AtomicUsize::new(0),
            held: Arc::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::Builder::new()
            .name("watch-accept".to_owned())
            .spawn(move || accept(&listener, &accepting))
            .map_err(|source| WatchError::Listen { port, source })?;
        Ok(Self { address, shared })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL that replaces the upstream of a route.
    #[must_use]
    pub fn base_url(&self, route: &Route) -> String {
        let prefix = match &self.shared.callers {
            Callers::WithToken(token) => format!("/{token}"),
            Callers::SameUser | Callers::Anyone => String::new(),
        };
        format!("http://{}{prefix}/{}{}", self.address, route.name(), route.base_path())
    }

    /// Accepts no more connections, and waits until the exchanges under way have ended.
    pub fn finish(self, patience: Duration) {
        self.shared.stop(self.address);
        let until = Instant::now() + patience;
        let mut exchanges = self.shared.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        while *exchanges > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.idle.wait_timeout(exchanges, left);
            exchanges = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop(self.address);
    }
}

impl Shared {
    fn stop(&self, address: SocketAddr) {
        if !self.stopped.swap(true, Ordering::SeqCst) {
            // Wakes the thread that waits for a connection.
            let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Counts an exchange while it is under way.
    fn begin_exchange(&self) -> Underway<'_> {
        *self.exchanges.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Underway(self)
    }
}

struct Underway<'s>(&'s Shared);

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        *self.0.exchanges.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.idle.notify_all();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped() {
            return;
        }
        let Ok(stream) = stream else {
            // Out of file handles, most likely: let some connections end.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        if shared.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
            refusal::too_many_connections(stream);
            continue;
        }
        let served = Arc::clone(shared);
        let thread = thread::Builder::new().name("watch-client".to_owned()).spawn(move || {
            connection::serve(stream, &served);
            served.connections.fetch_sub(1, Ordering::SeqCst);
        });
        if thread.is_err() {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
