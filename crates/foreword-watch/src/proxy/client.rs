//! The client's side of a connection, and who may be one.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use foreword_protocol::peer_socket;

use super::head::{self, HeadError, MAX_HEAD_BYTES, RequestHead};

/// How long a connection may wait for its next request.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long a client may take to send or read a piece of a body.
const PIECE_TIME: Duration = Duration::from_secs(120);

/// Which programs may use the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callers {
    /// Those of the same user, as the kernel says.
    SameUser,
    /// Those that know this first part of the path, where the kernel does not say.
    WithToken(String),
    /// Every program on this machine.
    Anyone,
}

impl Callers {
    /// Programs of this user: by the kernel's table of connections where there is one, else by a token.
    #[must_use]
    pub fn of_this_user(random: [u8; 16]) -> Self {
        if std::path::Path::new("/proc/self/net/tcp").exists() {
            return Self::SameUser;
        }
        Self::WithToken(random.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Whether a connection may be served, as far as the connection itself tells.
    pub(super) fn admit(&self, stream: &TcpStream) -> bool {
        match self {
            Self::Anyone | Self::WithToken(_) => true,
            Self::SameUser => {
                let own = rustix::process::geteuid().as_raw();
                peer_socket(stream).is_ok_and(|peer| peer.is_some_and(|peer| peer.uid == own))
            }
        }
    }

    /// The target without the token; `None` if the token is not there.
    pub(super) fn strip<'t>(&self, target: &'t str) -> Option<&'t str> {
        let Self::WithToken(token) = self else { return Some(target) };
        let (shown, rest) = target.strip_prefix('/')?.split_at_checked(token.len())?;
        let differences =
            shown.bytes().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        (differences == 0 && rest.starts_with('/')).then_some(rest)
    }
}

/// Why there is no further request.
#[derive(Debug)]
pub(super) enum NoRequest {
    /// The client closed the connection, or was silent for too long.
    Ended,
    Bad(HeadError),
}

/// A connection of a client, with what was read ahead.
pub(super) struct Client {
    pub(super) stream: TcpStream,
    ahead: Vec<u8>,
}

impl Client {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PIECE_TIME))?;
        Ok(Self { stream, ahead: Vec::new() })
    }

    /// The next request's head.
    pub(super) fn next(&mut self) -> Result<RequestHead, NoRequest> {
        let mut deadline = Instant::now() + IDLE;
        let mut started = false;
        loop {
            // A blank line before a request is allowed.
            while self.ahead.starts_with(b"\r\n") {
                self.ahead.drain(..2);
            }
            if let Some(end) = head::end(&self.ahead) {
                let parsed = RequestHead::parse(self.ahead.get(..end).unwrap_or_default());
                self.ahead.drain(..end);
                return parsed.map_err(NoRequest::Bad);
            }
            if self.ahead.len() > MAX_HEAD_BYTES {
                return Err(NoRequest::Bad(HeadError::TooLarge));
            }
            if !started && !self.ahead.is_empty() {
                started = true;
                deadline = Instant::now() + HEAD_TIME;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return Err(NoRequest::Ended);
            }
            let mut piece = [0; 16 << 10];
            match self.stream.read(&mut piece) {
                Ok(count @ 1..) => {
                    self.ahead.extend_from_slice(piece.get(..count).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(NoRequest::Ended),
            }
        }
    }

    /// Reads bytes of a body into an empty buffer; none at the end of the connection.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        if !self.ahead.is_empty() {
            std::mem::swap(buffer, &mut self.ahead);
            return Ok(());
        }
        self.stream.set_read_timeout(Some(PIECE_TIME))?;
        buffer.resize(64 << 10, 0);
        let count = self.stream.read(buffer)?;
        buffer.truncate(count);
        Ok(())
    }

    /// Gives bytes back that belong to the next request.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        self.ahead.splice(0..0, bytes.iter().copied());
    }

    /// Whether the next request is here already.
    pub(super) fn has_more(&self) -> bool {
        !self.ahead.is_empty()
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Closes the connection so that the client cannot take a cut body for a whole one.
    pub(super) fn abort(&self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Closes the connection after an answer, reading on for a moment: a client that is still sending
    /// would lose the answer otherwise.
    pub(super) fn close(&mut self) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let until = Instant::now() + Duration::from_millis(300);
        let mut rest = [0; 16 << 10];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let waits = !left.is_zero() && self.stream.set_read_timeout(Some(left)).is_ok();
            if !waits || !matches!(self.stream.read(&mut rest), Ok(1..)) {
                break;
            }
        }
    }
}
