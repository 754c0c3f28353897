//! A server at a URL (streamable HTTP), put behind two pipes.
//!
//! Each message goes out as one POST. What comes back, one JSON message or a stream of events, is
//! written into a pipe line by line, where it is read and bounded like the output of a program. A stream
//! that stays open after the reply is closed, and one that ends without it is an error, so no call waits
//! longer than the server is going to say something. The server's own stream of notifications is not opened:
//! nothing that it could say there is waited for.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::bounded::Traffic;
use super::{ClientLimits, McpClientError};

const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
/// How much of the body of an error is repeated.
const MAX_ERROR_BYTES: u64 = 500;

/// Reaches a server: its answers are read from the first pipe, messages to it are written to the second.
pub(super) fn connect(
    url: &str,
    headers: Vec<(String, String)>,
    limits: ClientLimits,
    traffic: &Arc<Traffic>,
) -> io::Result<(OwnedFd, OwnedFd)> {
    let (answers, answer) = io::pipe()?;
    let (messages, message) = io::pipe()?;
    let limit = limits.call.max(limits.start);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        // A redirect could lead to a server that nobody agreed to.
        .max_redirects(0)
        .timeout_global(Some(limit))
        .build()
        .into();
    let mut session = Session {
        agent,
        url: url.to_owned(),
        headers,
        max_message_bytes: limits.max_message_bytes,
        limit,
        id: None,
        version: None,
        waits_for: None,
        traffic: Arc::clone(traffic),
    };
    thread::Builder::new().name("foreword-mcp-http".to_owned()).spawn(move || {
        // Either end that is gone ends the thread.
        let _ = session.pump(messages, answer);
        session.end();
    })?;
    Ok((answers.into(), message.into()))
}

/// What came of one message; the error is the server's or that of the way to it.
type Posted = Result<(), McpClientError>;

struct Session {
    agent: ureq::Agent,
    url: String,
    headers: Vec<(String, String)>,
    max_message_bytes: usize,
    limit: Duration,
    /// The session that the server gave, and the version that was agreed on.
    id: Option<String>,
    version: Option<String>,
    traffic: Arc<Traffic>,
    /// The id of the call whose reply has not come yet.
    waits_for: Option<Value>,
}

/// What tells a reply from other messages.
#[derive(Deserialize)]
struct Reply {
    id: Value,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Session {
    fn pump(&mut self, messages: PipeReader, mut answer: PipeWriter) -> io::Result<()> {
        for line in BufReader::new(messages).lines() {
            let line = line?;
            let asked: Value = serde_json::from_str(&line).unwrap_or_default();
            // A message without an id waits for nothing.
            let call = asked.get("id").filter(|_| asked.get("method").is_some());
            self.waits_for = call.cloned();
            if let Err(fault) = self.post(line, &mut answer)?
                && let Some(id) = call
            {
                let error = json!({"code": -32000, "message": fault.to_string()});
                // What the waiting call is told; the message below only ends its waiting.
                self.traffic.set_http_fault(fault);
                let failed = json!({"jsonrpc": "2.0", "id": id, "error": error});
                writeln!(answer, "{failed}")?;
            }
        }
        Ok(())
    }

    /// Sends a message and writes down what comes back; the inner error is the server's.
    fn post(&mut self, message: String, answer: &mut PipeWriter) -> io::Result<Posted> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in self.standing_headers() {
            request = request.header(name, value);
        }
        let mut response = match request.send(message) {
            Ok(response) => response,
            Err(ureq::Error::Timeout(_)) => {
                return Ok(Err(McpClientError::TimedOut(self.limit)));
            }
            Err(error) => return Ok(Err(self.unreachable(&error))),
        };
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        if let Some(id) = header(SESSION_HEADER) {
            self.id = Some(id);
        }
        let status = response.status();
        let kind = header("content-type");
        let is_stream = kind.as_deref().is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !status.is_success() {
            let mut body = String::new();
            let reader = response.body_mut().as_reader();
            let _ = reader.take(MAX_ERROR_BYTES).read_to_string(&mut body);
            let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
            let said = body.chars().filter(|c| !c.is_control()).collect();
            return Ok(Err(McpClientError::Http { status: status.as_u16(), said }));
        }
        // One byte more than is allowed, so that whoever reads the pipe sees that there is too much.
        let most = (self.max_message_bytes as u64).saturating_mul(16).saturating_add(2);
        let body = BufReader::new(response.body_mut().as_reader().take(most));
        let read = if is_stream { self.events(body, answer)? } else { self.message(body, answer)? };
        Ok(read.and_then(|()| match &self.waits_for {
            Some(_) => Err(McpClientError::Protocol(format!(
                "HTTP status {status} without a reply to the call ({})",
                kind.as_deref().unwrap_or("no content type")
            ))),
            None => Ok(()),
        }))
    }

    fn message(
        &mut self,
        mut body: impl io::BufRead,
        answer: &mut PipeWriter,
    ) -> io::Result<Posted> {
        let mut text = Vec::new();
        let most = self.max_message_bytes as u64 + 2;
        if let Err(error) = body.by_ref().take(most).read_to_end(&mut text) {
            return Ok(Err(self.unreachable(&error)));
        }
        if text.trim_ascii().is_empty() {
            return Ok(Ok(()));
        }
        self.write(&text, answer)?;
        Ok(Ok(()))
    }

    /// The data of each event, until the reply has come or the stream ends.
    fn events(
        &mut self,
        mut body: impl io::BufRead,
        answer: &mut PipeWriter,
    ) -> io::Result<Posted> {
        let mut data: Vec<u8> = Vec::new();
        loop {
            let mut line = Vec::new();
            let most = self.max_message_bytes as u64 + 16;
            let read = match body.by_ref().take(most).read_until(b'\n', &mut line) {
                Ok(read) => read,
                Err(error) => return Ok(Err(self.unreachable(&error))),
            };
            let line = line.trim_ascii_end();
            if read == 0 || line.is_empty() {
                let was_waiting = self.waits_for.is_some();
                if !data.trim_ascii().is_empty() {
                    self.write(&data, answer)?;
                }
                data.clear();
                let is_answered = was_waiting && self.waits_for.is_none();
                if read == 0 || is_answered {
                    return Ok(Ok(()));
                }
            } else if let Some(piece) = line.strip_prefix(b"data:") {
                data.extend_from_slice(piece);
                // Whoever reads the pipe ends a connection with a message that is too long.
                if data.len() > self.max_message_bytes {
                    self.write(&data, answer)?;
                    return Ok(Ok(()));
                }
            }
        }
    }

    /// Writes a message as one line.
    fn write(&mut self, message: &[u8], answer: &mut PipeWriter) -> io::Result<()> {
        let line: Vec<u8> = message
            .iter()
            .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte })
            .collect();
        if let Ok(reply) = serde_json::from_slice::<Reply>(&line)
            && (reply.result.is_some() || reply.error.is_some())
            && self.waits_for.as_ref() == Some(&reply.id)
        {
            self.waits_for = None;
        }
        if self.version.is_none()
            && let Ok(value) = serde_json::from_slice::<Value>(&line)
        {
            let version = value.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.version = version.map(str::to_owned);
        }
        answer.write_all(&line)?;
        answer.write_all(b"\n")
    }

    fn unreachable(&self, error: &dyn std::fmt::Display) -> McpClientError {
        // A key may be part of what is asked for.
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        McpClientError::Unreachable(format!("{url}: {error}"))
    }

    fn standing_headers(&self) -> Vec<(&str, &str)> {
        let own = [(SESSION_HEADER, &self.id), (VERSION_HEADER, &self.version)];
        let own = own.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let given = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        given.chain(own).collect()
    }

    /// Tells the server that the session is over.
    fn end(&self) {
        if self.id.is_some() {
            let mut request = self.agent.delete(&self.url);
            for (name, value) in self.standing_headers() {
                request = request.header(name, value);
            }
            let _ = request.call();
        }
    }
}
