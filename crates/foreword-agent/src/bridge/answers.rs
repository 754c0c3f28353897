//! Answers of HTTP, whole and in chunks.

use std::io::{self, Write};

use foreword_protocol::Provider;
use foreword_protocol::{ErrorCode, Failure};
use serde_json::{Value, json};

/// A whole answer in JSON.
pub(super) fn whole(
    out: &mut dyn Write,
    status: u16,
    body: &Value,
    keep_alive: bool,
) -> io::Result<()> {
    let body = body.to_string();
    // The programs' own clients ask again on some failures unless they are told not to.
    let no_retry = if status >= 400 { "x-should-retry: false\r\n" } else { "" };
    let connection = if keep_alive { "" } else { "Connection: close\r\n" };
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{no_retry}{connection}\r\n",
        reason(status),
        body.len()
    );
    out.write_all((head + &body).as_bytes())
}

/// An answer without a body.
pub(super) fn empty(out: &mut dyn Write, status: u16) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status} {}\r\nContent-Length: 0\r\n\r\n", reason(status));
    out.write_all(head.as_bytes())
}

/// The start of an answer in chunks.
pub(super) fn begin_chunks(out: &mut dyn Write, status: u16, content_type: &str) -> io::Result<()> {
    // Whoever wrote the type, it is one line.
    let content_type: String = content_type.chars().filter(|c| !c.is_control()).collect();
    let no_retry = if status >= 400 { "x-should-retry: false\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n{no_retry}\r\n",
        reason(status)
    );
    out.write_all(head.as_bytes())
}

/// A chunk. An empty one would be the end.
pub(super) fn chunk(out: &mut dyn Write, data: &str) -> io::Result<()> {
    if data.is_empty() {
        return Ok(());
    }
    // In one piece: each write is a packet of its own.
    out.write_all(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes())
}

/// The end of the chunks.
pub(super) fn end_chunks(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"0\r\n\r\n")
}

/// The status for a failure of the host: never one that invites to ask again.
pub(super) fn status_of(failure: &Failure) -> u16 {
    match failure.code {
        ErrorCode::Tainted | ErrorCode::Refused | ErrorCode::BadToken => 403,
        ErrorCode::NotFound | ErrorCode::UnknownAction => 404,
        ErrorCode::TooLarge => 413,
        _ => 400,
    }
}

/// An error as the provider writes it.
pub(super) fn error(provider: Provider, status: u16, message: &str) -> Value {
    let kind = match status {
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        _ => "invalid_request_error",
    };
    match provider {
        Provider::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Provider::OpenAi => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
    }
}

/// An error in the middle of a stream.
pub(super) fn error_event(provider: Provider, message: &str) -> String {
    let error = error(provider, 400, message);
    match provider {
        Provider::Anthropic => format!("event: error\ndata: {error}\n\n"),
        Provider::OpenAi => format!("data: {error}\n\n"),
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Answer",
    }
}
