//! The heads of requests and answers.

use thiserror::Error;

use super::framing::Framing;

/// The most bytes of the lines before a body.
pub(super) const MAX_HEAD_BYTES: usize = 128 << 10;
const MAX_HEADERS: usize = 200;

/// Why a head cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum HeadError {
    #[error("the head of the message is not valid HTTP/1.1: {0}")]
    Malformed(String),
    #[error("the head of the message has more than {MAX_HEAD_BYTES} bytes")]
    TooLarge,
    #[error("{0}")]
    Framing(&'static str),
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) method: String,
    pub(super) target: String,
    /// HTTP/1.0 rather than HTTP/1.1.
    pub(super) is_old: bool,
    pub(super) headers: Vec<(String, Vec<u8>)>,
}

/// The head of an answer, with the bytes it came in.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    pub(super) is_old: bool,
    pub(super) reason: String,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) raw: Vec<u8>,
}

/// Headers that concern one connection only.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "trailer",
    "upgrade",
    "expect",
];

/// Codings that a recorded answer can be read in.
const READABLE_CODINGS: [&str; 4] = ["gzip", "x-gzip", "deflate", "identity"];

/// Where the head ends in these bytes, behind its blank line.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn owned(headers: &[httparse::Header<'_>]) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect()
}

pub(super) fn find<'h>(headers: &'h [(String, Vec<u8>)], name: &str) -> Option<&'h [u8]> {
    headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_slice())
}

/// All elements of a list header, in lower case.
fn elements(headers: &[(String, Vec<u8>)], name: &str) -> Vec<String> {
    headers
        .iter()
        .filter(|(known, _)| known.eq_ignore_ascii_case(name))
        .flat_map(|(_, value)| {
            let value = String::from_utf8_lossy(value).to_ascii_lowercase();
            value.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>()
        })
        .filter(|part| !part.is_empty())
        .collect()
}

/// The framing that the headers state, if any. Whatever two readers could understand differently is
/// refused, so that nobody can hide a request in another.
fn stated_framing(headers: &[(String, Vec<u8>)]) -> Result<Option<Framing>, HeadError> {
    let codings = elements(headers, "transfer-encoding");
    let lengths = elements(headers, "content-length");
    match (codings.as_slice(), lengths.as_slice()) {
        ([], []) => Ok(None),
        ([coding], []) if coding == "chunked" => Ok(Some(Framing::chunked())),
        ([], [first, rest @ ..]) => {
            if rest.iter().any(|other| other != first) {
                return Err(HeadError::Framing("two different Content-Length headers"));
            }
            let digits = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
            let length = first.parse().ok().filter(|_| digits);
            let length = length.ok_or(HeadError::Framing("Content-Length is not a number"))?;
            Ok(Some(Framing::Length(length)))
        }
        ([_, ..], [_, ..]) => {
            Err(HeadError::Framing("both Transfer-Encoding and Content-Length are present"))
        }
        _ => Err(HeadError::Framing("unsupported Transfer-Encoding; only `chunked` is")),
    }
}

impl RequestHead {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, HeadError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => {
                return Err(HeadError::Malformed("incomplete".to_owned()));
            }
            Err(error) => return Err(HeadError::Malformed(error.to_string())),
        }
        Ok(Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            is_old: request.version == Some(0),
            headers: owned(request.headers),
        })
    }

    pub(super) fn header(&self, name: &str) -> Option<&[u8]> {
        find(&self.headers, name)
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count()
    }

    pub(super) fn framing(&self) -> Result<Framing, HeadError> {
        Ok(stated_framing(&self.headers)?.unwrap_or(Framing::Length(0)))
    }

    pub(super) fn keeps_alive(&self) -> bool {
        let asked = elements(&self.headers, "connection");
        if self.is_old {
            asked.iter().any(|word| word == "keep-alive")
        } else {
            !asked.iter().any(|word| word == "close")
        }
    }

    pub(super) fn expects_continue(&self) -> bool {
        !self.is_old && elements(&self.headers, "expect").iter().any(|word| word == "100-continue")
    }

    /// The head for the upstream: another target and host, without what concerns this connection, and
    /// without codings of the answer that a capture could not be read in. All else stays as it is.
    pub(super) fn for_upstream(&self, target: &str, authority: &str) -> Vec<u8> {
        let named = elements(&self.headers, "connection");
        let mut out =
            format!("{} {target} HTTP/1.1\r\nHost: {authority}\r\n", self.method).into_bytes();
        for (name, value) in &self.headers {
            let lower = name.to_ascii_lowercase();
            if lower == "host" || HOP_BY_HOP.contains(&lower.as_str()) || named.contains(&lower) {
                continue;
            }
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            if lower == "accept-encoding" {
                out.extend_from_slice(readable_codings(value).as_bytes());
            } else {
                out.extend_from_slice(value);
            }
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

fn readable_codings(value: &[u8]) -> String {
    let value = String::from_utf8_lossy(value);
    let coding = |part: &&str| {
        let name = part.split(';').next().unwrap_or_default().trim();
        READABLE_CODINGS.iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    let kept: Vec<&str> = value.split(',').map(str::trim).filter(coding).collect();
    if kept.is_empty() { "identity".to_owned() } else { kept.join(", ") }
}

impl ResponseHead {
    /// Reads a head that ends with these bytes.
    pub(super) fn parse(raw: Vec<u8>) -> Result<Self, HeadError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        match response.parse(&raw) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => {
                return Err(HeadError::Malformed("incomplete".to_owned()));
            }
            Err(error) => return Err(HeadError::Malformed(error.to_string())),
        }
        Ok(Self {
            status: response.code.unwrap_or_default(),
            is_old: response.version == Some(0),
            reason: response.reason.unwrap_or_default().to_owned(),
            headers: owned(response.headers),
            raw: Vec::new(),
        }
        .with_raw(raw))
    }

    fn with_raw(mut self, raw: Vec<u8>) -> Self {
        self.raw = raw;
        self
    }

    /// How the body of the answer ends.
    pub(super) fn framing(&self, method: &str) -> Result<Framing, HeadError> {
        if method == "HEAD" || matches!(self.status, 100..=199 | 204 | 304) {
            return Ok(Framing::Length(0));
        }
        Ok(stated_framing(&self.headers)?.unwrap_or(Framing::UntilClose))
    }

    pub(super) fn keeps_alive(&self) -> bool {
        let asked = elements(&self.headers, "connection");
        if self.is_old {
            asked.iter().any(|word| word == "keep-alive")
        } else {
            !asked.iter().any(|word| word == "close")
        }
    }

    /// The head for a client whose connection closes after the answer.
    pub(super) fn closing(&self, without_chunks: bool) -> Vec<u8> {
        let mut out = format!("HTTP/1.1 {:03} {}\r\n", self.status, self.reason).into_bytes();
        for (name, value) in &self.headers {
            let lower = name.to_ascii_lowercase();
            let dropped = matches!(lower.as_str(), "connection" | "keep-alive")
                || (without_chunks && matches!(lower.as_str(), "transfer-encoding" | "trailer"));
            if !dropped {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
        }
        out.extend_from_slice(b"Connection: close\r\n\r\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> RequestHead {
        RequestHead::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_head_changes_as_little_as_a_proxy_must() {
        let head = request(
            "POST /anthropic/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:7\r\nX-Api-Key: k\r\nConnection: keep-alive, x-own\r\nX-Own: 1\r\naccept-encoding: br, gzip;q=0.5, zstd\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
        );
        let out = String::from_utf8(head.for_upstream("/v1/messages", "api.example")).unwrap();
        assert_eq!(
            out,
            "POST /v1/messages HTTP/1.1\r\nHost: api.example\r\nX-Api-Key: k\r\naccept-encoding: gzip;q=0.5\r\nContent-Length: 2\r\n\r\n"
        );
        assert!(head.expects_continue() && head.keeps_alive());
        assert_eq!(readable_codings(b"br, *"), "identity");
    }

    #[test]
    fn ambiguous_bodies_are_refused() {
        for headers in [
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked, chunked\r\n",
            "Content-Length: +1\r\n",
            "Content-Length: 99999999999999999999\r\n",
        ] {
            let head = request(&format!("POST / HTTP/1.1\r\n{headers}\r\n"));
            assert!(matches!(head.framing(), Err(HeadError::Framing(_))), "{headers}");
        }
        let head = request("POST / HTTP/1.1\r\nContent-Length: 3, 3\r\n\r\n");
        assert!(matches!(head.framing(), Ok(Framing::Length(3))));
    }
}
