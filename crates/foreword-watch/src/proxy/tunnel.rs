//! The way to an upstream through an HTTP proxy of the network: a tunnel made with `CONNECT`.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

use url::Url;

use super::head;

/// The longest answer to `CONNECT`.
const MAX_ANSWER: usize = 16 << 10;

/// A proxy of the network.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Tunnel {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

impl std::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The authorization is nobody's business.
        f.debug_struct("Tunnel").field("host", &self.host).field("port", &self.port).finish()
    }
}

impl Tunnel {
    /// Reads the URL of a proxy; a bare `host:port` counts as one, as it does for most programs.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let url = url.trim();
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let parsed = Url::parse(&url).map_err(|error| error.to_string())?;
        if parsed.scheme() != "http" {
            return Err("only http proxies are supported".to_owned());
        }
        let host = parsed.host_str().ok_or("the URL has no host")?.to_owned();
        let (name, password) = (parsed.username(), parsed.password().unwrap_or_default());
        let authorization = (!name.is_empty()).then(|| {
            let pair = [decoded(name), b":".to_vec(), decoded(password)].concat();
            format!("Basic {}", base64(&pair))
        });
        let port = parsed.port_or_known_default().unwrap_or(80);
        Ok(Self { host, port, authorization })
    }

    pub(super) fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Asks the proxy for a connection to `authority`.
    pub(super) fn open(&self, stream: &mut TcpStream, authority: &str) -> io::Result<()> {
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if let Some(authorization) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        // Byte by byte: what follows belongs to the upstream.
        let mut byte = [0; 1];
        while head::end(&answer).is_none() {
            if answer.len() >= MAX_ANSWER || stream.read(&mut byte)? == 0 {
                return Err(io::Error::other("the proxy of the network gave no valid answer"));
            }
            answer.extend_from_slice(&byte);
        }
        let head = head::ResponseHead::parse(answer).map_err(io::Error::other)?;
        if head.status != 200 {
            let message = format!("the proxy of the network answered {}", head.status);
            return Err(io::Error::other(message));
        }
        Ok(())
    }
}

/// Undoes `%41` in the name and password of a URL.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%');
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for index in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * index) & 63) as usize).copied();
            let is_filler = index > three.len();
            out.push(if is_filler { '=' } else { char::from(letter.unwrap_or(b'=')) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_with_their_credentials() {
        let tunnel = Tunnel::parse("http://ada:p%40ss@proxy.example:3128").unwrap();
        assert_eq!((tunnel.host(), tunnel.port()), ("proxy.example", 3128));
        assert_eq!(tunnel.authorization.as_deref(), Some("Basic YWRhOnBAc3M="));
        assert!(!format!("{tunnel:?}").contains("YWRh"));
        let bare = Tunnel::parse("proxy:8080").unwrap();
        assert_eq!((bare.host(), bare.port()), ("proxy", 8080));
        assert_eq!(bare.authorization, None);
        for wrong in ["", "https://proxy", "socks5://proxy:1"] {
            assert!(Tunnel::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            [base64(b"a"), base64(b"ab"), base64(b"abc"), base64(b"")],
            ["YQ==", "YWI=", "YWJj", ""]
        );
    }
}
