//! What the proxy itself answers, when there is no answer of an upstream to pass on.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// A refusal in the form of an error that the clients of all providers can show.
pub(super) fn answer(status: u16, message: &str) -> Vec<u8> {
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Error",
    };
    let body = serde_json::json!({
        "type": "error",
        "error": {
            "type": "foreword_watch",
            "code": status,
            "status": "FOREWORD_WATCH",
            "message": format!("foreword watch: {message}"),
        },
    })
    .to_string();
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(super) fn too_many_connections(mut stream: TcpStream) {
    let _ = stream.set_write_timeout(Some(Duration::from_secs(1)));
    let _ = stream.write_all(&answer(503, "too many connections at the same time"));
    let _ = stream.shutdown(Shutdown::Write);
}
