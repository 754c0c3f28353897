//! A client of other MCP servers: blocking calls over a connection that one thread holds.
//!
//! A server is not trusted. What it sends is bounded in size and time, it can ask for nothing (no
//! sampling, no roots, no questions to the person), and what goes wrong is an error with a name. Whoever
//! starts the server's program gives its pipes; a server at a URL is reached by [`http`], which puts its
//! answers into a pipe as well, so that both kinds are read and bounded in one place.

mod bounded;
mod connection;
mod http;
mod messages;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use bounded::Traffic;
use connection::{Request, Wanted};
pub use messages::{OfferedTool, OfferedTools, ToolAnswer};

/// How long a thread may take beyond the time of a call to say that it is over.
const GRACE: Duration = Duration::from_secs(2);

/// What bounds a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Time to start and to introduce itself.
    pub start: Duration,
    /// Time for a call.
    pub call: Duration,
    /// Bytes of one message.
    pub max_message_bytes: usize,
}

/// Why a server gave no answer, as the rest of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum McpClientError {
    /// Nothing came in time.
    #[error("did not answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// A message is too long.
    #[error("sent a message of more than {limit} bytes")]
    TooLarge {
        /// The most a message may have.
        limit: usize,
    },
    /// A message is nested too deep.
    #[error("sent a message that nests more than {limit} levels deep")]
    TooDeep {
        /// The most levels a message may have.
        limit: usize,
    },
    /// It sends without end and answers nothing.
    #[error("sent more than {limit} bytes without answering")]
    Flood {
        /// The most it may send until it answers.
        limit: u64,
    },
    /// It is gone.
    #[error("ended the connection")]
    Closed,
    /// Its program ended before it had introduced itself.
    #[error("ended before it was ready")]
    EndedAtStart,
    /// Nothing answers at its URL.
    #[error("cannot be reached at {0}")]
    Unreachable(String),
    /// What is at its URL answered with an error of HTTP.
    #[error("answered with HTTP status {status}{}", in_its_words(.said))]
    Http {
        /// The status.
        status: u16,
        /// The beginning of the body.
        said: String,
    },
    /// What it said is not MCP, or not what was asked for.
    #[error("broke the protocol: {0}")]
    Protocol(String),
    /// It answered with an error.
    #[error("refused: {0}")]
    Refused(String),
    /// This machine has no thread or pipe for it.
    #[error("cannot be reached: {0}")]
    Io(String),
}

impl McpClientError {
    /// Whether the connection is of no further use. A refusal is an answer like any other.
    pub fn ends_connection(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            // The server has forgotten the session.
            Self::Http { status, .. } => *status == 404,
            _ => true,
        }
    }

    /// Whether the message repeats what the server said.
    pub fn quotes_server(&self) -> bool {
        match self {
            Self::Protocol(_) | Self::Refused(_) => true,
            Self::Http { said, .. } => !said.is_empty(),
            _ => false,
        }
    }

    /// The same without what the server said.
    #[must_use]
    pub fn in_own_words(&self) -> String {
        match self {
            Self::Protocol(_) => "broke the protocol".to_owned(),
            Self::Refused(_) => "refused".to_owned(),
            Self::Http { status, .. } => {
                Self::Http { status: *status, said: String::new() }.to_string()
            }
            other => other.to_string(),
        }
    }
}

fn in_its_words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// A connection to a server. Dropping it ends the connection.
#[derive(Debug)]
pub struct McpClient {
    requests: Option<UnboundedSender<Request>>,
    traffic: Arc<Traffic>,
    limits: ClientLimits,
    thread: Option<JoinHandle<()>>,
}

impl McpClient {
    /// Introduces itself to a program, over its standard output and input.
    pub fn over_pipes(
        output: OwnedFd,
        input: OwnedFd,
        limits: ClientLimits,
    ) -> Result<Self, McpClientError> {
        Self::over(output, input, limits, Arc::new(Traffic::new(limits.max_message_bytes)))
    }

    fn over(
        output: OwnedFd,
        input: OwnedFd,
        limits: ClientLimits,
        traffic: Arc<Traffic>,
    ) -> Result<Self, McpClientError> {
        let io = |error: std::io::Error| McpClientError::Io(error.to_string());
        let (sender, receiver) = unbounded_channel();
        let (ready, is_ready) = mpsc::channel();
        let shared = Arc::clone(&traffic);
        let thread = thread::Builder::new()
            .name("foreword-mcp-client".to_owned())
            .spawn(move || connection::run(output, input, limits, &shared, receiver, &ready))
            .map_err(io)?;
        let client = Self { requests: Some(sender), traffic, limits, thread: Some(thread) };
        match is_ready.recv_timeout(limits.start + GRACE) {
            Ok(Ok(())) => Ok(client),
            Ok(Err(error)) => Err(client.traffic.explains(error)),
            Err(_) => Err(McpClientError::TimedOut(limits.start)),
        }
    }

    /// Introduces itself to a server at a URL, with these headers.
    pub fn over_http(
        url: &str,
        headers: Vec<(String, String)>,
        limits: ClientLimits,
    ) -> Result<Self, McpClientError> {
        let traffic = Arc::new(Traffic::new(limits.max_message_bytes));
        let (output, input) = http::connect(url, headers, limits, &traffic)
            .map_err(|error| McpClientError::Io(error.to_string()))?;
        Self::over(output, input, limits, traffic)
    }

    /// The tools it offers, all pages of them.
    pub fn tools(&self) -> Result<OfferedTools, McpClientError> {
        let (reply, answer) = mpsc::channel();
        self.ask(Request { wanted: Wanted::Tools(reply) })?;
        self.wait(&answer)
    }

    /// Calls a tool.
    pub fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolAnswer, McpClientError> {
        let (reply, answer) = mpsc::channel();
        self.ask(Request { wanted: Wanted::Call { tool: tool.to_owned(), arguments, reply } })?;
        self.wait(&answer)
    }

    /// Whether it said since the last question that its tools are others now.
    pub fn took_back_its_list(&self) -> bool {
        self.traffic.take_list_changed()
    }

    fn ask(&self, request: Request) -> Result<(), McpClientError> {
        self.traffic.begin_call();
        let sent = self.requests.as_ref().map(|requests| requests.send(request));
        sent.and_then(Result::ok).ok_or_else(|| self.traffic.explains(McpClientError::Closed))
    }

    fn wait<T>(
        &self,
        answer: &mpsc::Receiver<Result<T, McpClientError>>,
    ) -> Result<T, McpClientError> {
        match answer.recv_timeout(self.limits.call + GRACE) {
            Ok(answer) => answer.map_err(|error| self.traffic.explains(error)),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(McpClientError::TimedOut(self.limits.call)),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(self.traffic.explains(McpClientError::Closed))
            }
        }
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        drop(self.requests.take());
        self.traffic.stop();
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
