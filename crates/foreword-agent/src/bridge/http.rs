//! Requests of HTTP/1.1, read within limits of size and time.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use thiserror::Error;

/// The most bytes of the lines before a body.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;
/// The most bytes of a body.
pub(super) const MAX_BODY_BYTES: usize = 32 << 20;
/// The most headers.
const MAX_HEADERS: usize = 100;
/// How long a connection may wait for the next request.
const IDLE: Duration = Duration::from_secs(300);
/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(60);

/// Why there is no request.
#[derive(Debug, Error)]
pub(super) enum HttpError {
    /// The other side has closed the connection.
    #[error("the connection ended")]
    Ended,
    #[error("{0}")]
    Bad(&'static str),
    #[error("the request timed out")]
    TimedOut,
    #[error("the headers have more than {MAX_HEAD_BYTES} bytes")]
    HeadTooLarge,
    #[error("the body has more than {MAX_BODY_BYTES} bytes")]
    BodyTooLarge,
    #[error("only HTTP/1.1 is supported")]
    Version,
    #[error("the connection failed: {0}")]
    Io(io::Error),
}

impl HttpError {
    /// The status to answer with; nothing if nobody listens.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Ended | Self::Io(_) => None,
            Self::Bad(_) => Some(400),
            Self::TimedOut => Some(408),
            Self::HeadTooLarge => Some(431),
            Self::BodyTooLarge => Some(413),
            Self::Version => Some(505),
        }
    }
}

impl From<io::Error> for HttpError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::TimedOut,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => Self::Ended,
            _ => Self::Io(error),
        }
    }
}

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    pub(super) query: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Will the other side go on after the answer?
    pub(super) keep_alive: bool,
}

impl Request {
    /// The value of a header, its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The other side of a connection, which must be done by a deadline.
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

/// Reads requests from a connection, one after another.
pub(super) struct Requests {
    input: BufReader<Timed>,
}

impl Requests {
    pub(super) fn new(stream: TcpStream) -> Self {
        let timed = Timed { stream, deadline: Instant::now() };
        Self { input: BufReader::with_capacity(16 << 10, timed) }
    }

    fn give(&mut self, time: Duration) {
        self.input.get_mut().deadline = Instant::now() + time;
    }

    /// The next request. `Expect: 100-continue` is answered on the way.
    pub(super) fn next(&mut self) -> Result<Request, HttpError> {
        self.give(IDLE);
        if self.input.fill_buf()?.is_empty() {
            return Err(HttpError::Ended);
        }
        self.give(HEAD_TIME);
        let mut room = MAX_HEAD_BYTES;
        let mut line = self.line(&mut room)?;
        if line.is_empty() {
            // One blank line before a request is forgiven.
            line = self.line(&mut room)?;
        }
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(HttpError::Bad("the first line is not that of a request"));
        };
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(HttpError::Bad("the method is not one"));
        }
        if version != "HTTP/1.1" {
            return Err(if version.starts_with("HTTP/") {
                HttpError::Version
            } else {
                HttpError::Bad("the first line is not that of a request")
            });
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if !path.starts_with('/') {
            return Err(HttpError::Bad("the address is not a path"));
        }
        let mut request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: self.headers(&mut room)?,
            body: Vec::new(),
            keep_alive: true,
        };
        request.keep_alive =
            !request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        self.body(&mut request)?;
        Ok(request)
    }

    /// A line without its end, of the bytes that are left for the head.
    fn line(&mut self, room: &mut usize) -> Result<String, HttpError> {
        let mut line = Vec::new();
        let most = u64::try_from(*room).unwrap_or(u64::MAX);
        let read = (&mut self.input).take(most).read_until(b'\n', &mut line)?;
        *room = room.saturating_sub(read);
        if line.pop_if(|last| *last == b'\n').is_none() {
            return Err(if *room == 0 { HttpError::HeadTooLarge } else { HttpError::Ended });
        }
        line.pop_if(|last| *last == b'\r');
        if line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return Err(HttpError::Bad("a line has control characters"));
        }
        String::from_utf8(line).map_err(|_| HttpError::Bad("a line is not UTF-8"))
    }

    fn headers(&mut self, room: &mut usize) -> Result<Vec<(String, String)>, HttpError> {
        let mut headers = Vec::new();
        loop {
            let line = self.line(room)?;
            if line.is_empty() {
                return Ok(headers);
            }
            if headers.len() >= MAX_HEADERS {
                return Err(HttpError::HeadTooLarge);
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(HttpError::Bad("a header has no colon"));
            };
            let is_token =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(HttpError::Bad("the name of a header is not one"));
            }
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn body(&mut self, request: &mut Request) -> Result<(), HttpError> {
        let of = |name: &str| -> Result<Option<String>, HttpError> {
            let mut values = request.headers.iter().filter(|(known, _)| known == name);
            let value = values.next().map(|(_, value)| value.clone());
            // Two readers could take different ones.
            if values.next().is_some() {
                return Err(HttpError::Bad("a header about the body occurs twice"));
            }
            Ok(value)
        };
        let (length, coding) = (of("content-length")?, of("transfer-encoding")?);
        let chunked = match (&length, &coding) {
            (Some(_), Some(_)) => {
                return Err(HttpError::Bad("a body has a length or chunks, not both"));
            }
            (_, Some(coding)) if coding.eq_ignore_ascii_case("chunked") => true,
            (_, Some(_)) => return Err(HttpError::Bad("the transfer coding is not known")),
            (_, None) => false,
        };
        let length = match length.as_deref() {
            None => 0,
            Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().map_err(|_| HttpError::BodyTooLarge)?
            }
            Some(_) => return Err(HttpError::Bad("the length of the body is not a number")),
        };
        if length > MAX_BODY_BYTES {
            return Err(HttpError::BodyTooLarge);
        }
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
        {
            self.input.get_mut().stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        self.give(BODY_TIME);
        if chunked {
            request.body = self.chunks()?;
        } else {
            self.exactly(length, &mut request.body)?;
        }
        Ok(())
    }

    fn exactly(&mut self, length: usize, body: &mut Vec<u8>) -> Result<(), HttpError> {
        let most = u64::try_from(length).unwrap_or(u64::MAX);
        let read = (&mut self.input).take(most).read_to_end(body)?;
        if read < length { Err(HttpError::Ended) } else { Ok(()) }
    }

    fn chunks(&mut self) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        // Lines of sizes cost something too: no more of them than would fit a head, per megabyte.
        let mut room = MAX_BODY_BYTES;
        loop {
            let line = self.line(&mut room)?;
            let size = line.split(';').next().unwrap_or_default().trim();
            if size.is_empty()
                || size.len() > 8
                || !size.bytes().all(|byte| byte.is_ascii_hexdigit())
            {
                return Err(HttpError::Bad("the size of a chunk is not a number"));
            }
            let size = usize::from_str_radix(size, 16)
                .map_err(|_| HttpError::Bad("the size of a chunk is not a number"))?;
            if size == 0 {
                break;
            }
            if body.len() + size > MAX_BODY_BYTES {
                return Err(HttpError::BodyTooLarge);
            }
            self.exactly(size, &mut body)?;
            if !self.line(&mut room)?.is_empty() {
                return Err(HttpError::Bad("a chunk is longer than its size"));
            }
        }
        // Headers after the chunks say nothing here.
        while !self.line(&mut room)?.is_empty() {}
        Ok(body)
    }
}
