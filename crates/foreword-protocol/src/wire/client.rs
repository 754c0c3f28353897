//! The agent's end of the socket.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

use crate::MAX_MODEL_CALL_BYTES;
use crate::actions::action::Action;
use crate::wire::call::Call;
use crate::wire::frame::{FrameError, Frames};
use crate::wire::reply::{ErrorCode, Failure, Reply, StreamPart};

/// Why a call brought nothing.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The host said no.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The host cannot be reached.
    #[error("cannot reach the host: {0}")]
    Io(#[from] io::Error),
    /// The host's answer makes no sense.
    #[error("cannot read the host's answer: {0}")]
    Answer(String),
}

impl ClientError {
    /// As the failure of an action.
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            error => Failure::new(ErrorCode::Unavailable, error.to_string()),
        }
    }
}

impl From<FrameError> for ClientError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Io(error) => Self::Io(error),
            error => Self::Answer(error.to_string()),
        }
    }
}

/// A connection to the host, for one call at a time.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    frames: Frames<UnixStream>,
    token: String,
    last: u64,
}

impl Client {
    /// Connects.
    pub fn connect(socket: &Path, token: &str) -> Result<Self, ClientError> {
        let stream = UnixStream::connect(socket)?;
        let frames = Frames::new(stream.try_clone()?, MAX_MODEL_CALL_BYTES);
        Ok(Self { stream, frames, token: token.to_owned(), last: 0 })
    }

    /// How long to wait for each line of an answer; for ever unless told.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)
    }

    /// Calls, and waits for the result.
    pub fn call(&mut self, action: Action) -> Result<Value, ClientError> {
        self.call_streaming(action, &mut |_| Ok(()))
    }

    /// Calls, and hands over the parts of the answer as they come.
    ///
    /// If `each` fails, the connection cannot be used again.
    pub fn call_streaming(
        &mut self,
        action: Action,
        each: &mut dyn FnMut(StreamPart) -> io::Result<()>,
    ) -> Result<Value, ClientError> {
        self.last += 1;
        let call = Call { id: self.last, token: self.token.clone(), action };
        let mut line = call.line().map_err(|error| ClientError::Answer(error.to_string()))?;
        line.push('\n');
        self.stream.write_all(line.as_bytes())?;
        loop {
            let Some(line) = self.frames.next_line()? else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            };
            let reply: Reply = serde_json::from_slice(line)
                .map_err(|error| ClientError::Answer(error.to_string()))?;
            // A line that could not be read is answered without an id.
            if reply.id.is_some_and(|id| id != self.last) {
                continue;
            }
            if let Some(part) = reply.stream {
                each(part)?;
            } else if let Some(failure) = reply.error {
                return Err(failure.into());
            } else {
                return Ok(reply.result.unwrap_or(Value::Null));
            }
        }
    }
}
