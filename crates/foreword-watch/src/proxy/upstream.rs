//! A connection to an upstream, plain or with TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::route::Route;
use crate::error::WatchError;

/// How long it may take to reach one address of an upstream.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// How long an upstream may take to accept a piece of a request.
const WRITE_TIME: Duration = Duration::from_secs(120);

/// The settings of TLS, shared by all connections.
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    pub(super) fn new(certificates: Option<&Path>) -> Result<Self, WatchError> {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(path) = certificates {
            let wrong = |reason: String| WatchError::Certificates { path: path.to_owned(), reason };
            let found =
                CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
                // A bundle may hold certificates that are no roots for servers.
                let _ = roots.add(certificate);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| WatchError::Certificates {
                path: "built-in".into(),
                reason: error.to_string(),
            })?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

/// What happened first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Readable,
    ClientGone,
    TimedOut,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A connection to the upstream of one route.
pub(super) struct Upstream {
    stream: Stream,
    route: String,
    /// What was read behind the head of an answer.
    ahead: Vec<u8>,
    /// Whether an answer came over it before.
    pub(super) is_used: bool,
}

impl Upstream {
    pub(super) fn connect(route: &Route, tls: &Tls) -> io::Result<Self> {
        let tunnel = route.tunnel();
        let mut tcp = match tunnel {
            Some(tunnel) => connect(tunnel.host(), tunnel.port())?,
            None => connect(route.host(), route.port())?,
        };
        tcp.set_nodelay(true)?;
        tcp.set_write_timeout(Some(WRITE_TIME))?;
        if let Some(tunnel) = tunnel {
            tcp.set_read_timeout(Some(CONNECT_TIME))?;
            tunnel.open(&mut tcp, &format!("{}:{}", route.bracketed_host(), route.port()))?;
            tcp.set_read_timeout(None)?;
        }
        let stream = if route.is_tls() {
            let name = ServerName::try_from(route.host().to_owned())
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            let connection = ClientConnection::new(Arc::clone(&tls.0), name)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            let mut stream = StreamOwned::new(connection, tcp);
            stream.sock.set_read_timeout(Some(CONNECT_TIME))?;
            while stream.conn.is_handshaking() {
                stream.conn.complete_io(&mut stream.sock)?;
            }
            stream.sock.set_read_timeout(None)?;
            Stream::Tls(Box::new(stream))
        } else {
            Stream::Plain(tcp)
        };
        Ok(Self { stream, route: route.name().to_owned(), ahead: Vec::new(), is_used: false })
    }

    pub(super) fn is_for(&self, route: &Route) -> bool {
        self.route == route.name()
    }

    /// Whether a kept connection is still good: nothing arrived on it since its last answer.
    pub(super) fn is_idle(&self) -> bool {
        let mut waits = [PollFd::new(self.socket(), PollFlags::IN)];
        let quiet = poll(&mut waits, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        let is_plain = matches!(self.stream, Stream::Plain(_));
        // With TLS, a ticket for the next session may arrive at any time.
        self.ahead.is_empty() && (matches!(quiet, Ok(0)) || (!is_plain && !self.is_closed()))
    }

    fn is_closed(&self) -> bool {
        let _ = self.socket().set_nonblocking(true);
        let closed = matches!(self.socket().peek(&mut [0; 1]), Ok(0));
        let _ = self.socket().set_nonblocking(false);
        closed
    }

    fn socket(&self) -> &TcpStream {
        match &self.stream {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
        }
    }

    /// Waits until there is something to read, the client has gone, or the deadline has passed.
    pub(super) fn wait(&mut self, client: Option<&TcpStream>, deadline: Instant) -> Event {
        if !self.ahead.is_empty() || self.has_plaintext() {
            return Event::Readable;
        }
        let mut client = client;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Event::TimedOut;
            }
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut waits = vec![PollFd::new(self.socket(), PollFlags::IN)];
            if let Some(client) = client {
                waits.push(PollFd::new(client, PollFlags::IN));
            }
            match poll(&mut waits, Some(&timeout)) {
                Ok(0) => return Event::TimedOut,
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return Event::Readable,
            }
            let is_ready = |at: usize| waits.get(at).is_some_and(|wait| !wait.revents().is_empty());
            if is_ready(0) {
                return Event::Readable;
            }
            if is_ready(1) {
                match client.map(|client| client.peek(&mut [0; 1])) {
                    // The next request is waiting already; the client is there.
                    Some(Ok(1..)) => client = None,
                    Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => client = None,
                    _ => return Event::ClientGone,
                }
            }
        }
    }

    fn has_plaintext(&mut self) -> bool {
        match &mut self.stream {
            Stream::Plain(_) => false,
            Stream::Tls(stream) => {
                let state = stream.conn.process_new_packets();
                state.is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
            }
        }
    }

    /// Reads what is there; nothing at the end of the connection.
    pub(super) fn read<'b>(&mut self, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        if !self.ahead.is_empty() {
            buffer.clear();
            std::mem::swap(buffer, &mut self.ahead);
            return Ok(buffer);
        }
        buffer.resize(32 << 10, 0);
        let count = match &mut self.stream {
            Stream::Plain(stream) => stream.read(buffer)?,
            Stream::Tls(stream) => stream.read(buffer)?,
        };
        buffer.truncate(count);
        Ok(buffer)
    }

    /// Gives back what was read too far.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        self.ahead.splice(0..0, bytes.iter().copied());
    }
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIME) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}
