//! What can go wrong in a task, and what to do about it.

use thiserror::Error;

/// Why a task did not succeed.
#[derive(Debug, Error)]
pub(crate) enum TaskError {
    /// Wrong arguments.
    #[error("{message}\n\nSee `cargo xtask help`.")]
    Usage { message: String },
    /// A program that is not there.
    #[error("`{program}` is not installed: {hint}")]
    Missing { program: String, hint: &'static str },
    /// One or more steps failed; their output stands above.
    #[error("failed: {}", steps.join(", "))]
    Failed { steps: Vec<String> },
    /// A program that could not be started or read.
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl TaskError {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into() }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }

    /// 1: the thing asked about is not right. 2: wrong use or a missing tool.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Failed { .. } => 1,
            Self::Usage { .. } | Self::Missing { .. } | Self::Io { .. } => 2,
        }
    }
}
