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
    #[error("invalid job from the host: {0}")]
    Job(String),
    #[error("cannot read the agent's blueprint: {0}")]
    Blueprint(#[from] BlueprintError),
    #[error("cannot use the agent's working directory {}: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Host(#[from] ClientError),
    #[error(transparent)]
    Model(#[from] ProviderError),
    #[error("cannot send events to the host: {0}")]
    Events(io::Error),
    #[error("the turn is too large: an event has {bytes} bytes, the limit is {limit}")]
    EventTooLarge { bytes: usize, limit: usize },
    #[error("the host sent no program for the runner `{runner}`; use a host of the same version")]
    NoProgram { runner: &'static str },
    #[error("cannot start {program}: {source}; {advice}")]
    Start { program: String, source: io::Error, advice: &'static str },
    #[error("{program} failed: {message}")]
    Program { program: &'static str, message: String },
    #[error("cannot write the agent's private files: {0}")]
    Private(io::Error),
    #[error("cannot open the bridge to the model: {0}")]
    Bridge(io::Error),
}

impl From<Failure> for AgentError {
    fn from(failure: Failure) -> Self {
        Self::Host(failure.into())
    }
}
