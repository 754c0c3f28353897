//! Why a turn failed.

use std::io;
use std::path::PathBuf;

use foreword::BlueprintError;
use foreword_protocol::ProviderError;
use foreword_protocol::{ClientError, Failure};
use thiserror::Error;

/// Why a turn failed, in words for the person who asked.
#[derive(Debug, Error)]
pub(crate) enum AgentError {
    #[error("the agent was not started by a host that knows it: {0}")]
    Job(String),
    #[error("the agent's blueprint cannot be read: {0}")]
    Blueprint(#[from] BlueprintError),
    #[error("the agent's work directory {} cannot be used: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Host(#[from] ClientError),
    #[error(transparent)]
    Model(#[from] ProviderError),
    #[error("the host takes no more events: {0}")]
    Events(io::Error),
    #[error("the turn has become too large: an event of {bytes} bytes, and {limit} are allowed")]
    EventTooLarge { bytes: usize, limit: usize },
    #[error("the runner `{runner}` needs its program, and the host named none")]
    NoProgram { runner: &'static str },
    #[error("{program} cannot be started: {source}; {advice}")]
    Start { program: String, source: io::Error, advice: &'static str },
    #[error("{program} failed: {message}")]
    Program { program: &'static str, message: String },
    #[error("the agent's own files cannot be written: {0}")]
    Private(io::Error),
    #[error("the bridge to the model cannot be opened: {0}")]
    Bridge(io::Error),
}

impl From<Failure> for AgentError {
    fn from(failure: Failure) -> Self {
        Self::Host(failure.into())
    }
}
