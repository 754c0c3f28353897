//! Judges the head of a request before anything else reads it.
//!
//! A browser can be made to send requests here under another name (DNS rebinding), and programs in
//! between may disagree about which name counts. So there is exactly one name, in one notation, and it
//! is one of this machine.

use std::net::Ipv6Addr;

use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, StatusCode};

/// All header lines of a request.
pub(super) const MAX_HEAD_BYTES: usize = 16 << 10;

/// Why a head is refused: the status and a text.
pub(super) type Refusal = (StatusCode, &'static str);

/// Whether a head is small, asks for a path, and names this machine once.
pub(super) fn check(head: &Parts) -> Result<(), Refusal> {
    if size(head) > MAX_HEAD_BYTES {
        let text = "the headers of a request may be at most 16 KiB";
        return Err((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text));
    }
    if head.uri.authority().is_some() || head.uri.scheme().is_some() {
        return Err((StatusCode::BAD_REQUEST, "ask for the path /mcp, without a host"));
    }
    let mut hosts = head.headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err((StatusCode::BAD_REQUEST, "send exactly one Host header"));
    };
    if host.to_str().is_ok_and(is_this_machine) {
        Ok(())
    } else {
        Err((StatusCode::FORBIDDEN, "the Host header must be localhost, 127.0.0.1 or [::1]"))
    }
}

fn size(head: &Parts) -> usize {
    let line = |name: &str, value: &[u8]| name.len() + value.len() + 4;
    let lines = |headers: &HeaderMap| -> usize {
        headers.iter().map(|(name, value)| line(name.as_str(), value.as_bytes())).sum()
    };
    let path = head.uri.path_and_query().map_or(0, |path| path.as_str().len());
    lines(&head.headers) + path
}

/// `localhost`, `127.0.0.1` or `[::1]`, with a port or without.
fn is_this_machine(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) => {
                let loopback = address.parse().is_ok_and(|ip: Ipv6Addr| ip.is_loopback());
                (if loopback { "localhost" } else { "" }, port)
            }
            None => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port_fits = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| {
            (1..=5).contains(&port.len())
                && port.bytes().all(|b| b.is_ascii_digit())
                && port.parse::<u16>().is_ok()
        });
    port_fits && (name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_in_their_plain_notation_pass() {
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8"]
        {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "evil@127.0.0.1",
            "evil:pass@localhost:80",
            "localhost@evil.example",
            "127.0.0.1.evil.example",
            "localhost.",
            "localhost:",
            "localhost:+80",
            "localhost:65536",
            "localhost:000080",
            "localhost:80:80",
            "localhost:80/",
            "localhost/mcp",
            "127.0.0.1 ",
            " 127.0.0.1",
            "127.0.0.1,evil.example",
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "0.0.0.0",
            "::1",
            "[::1",
            "[::1]x",
            "[::2]",
            "[::1%25lo]",
            "[::ffff:127.0.0.1]",
            "localhost#",
            "localhost?",
            "ｌocalhost",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
