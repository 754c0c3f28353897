//! The error of the command line: its kind, a message and hints.

use std::fmt;

use foreword::{BlueprintError, ContextError};
use foreword_embed::{EmbedError, Incomparable};
use foreword_gather::GatherError;
use foreword_host::HostError;
use foreword_search::MemoryError;
use foreword_serve::{Failure, FailureKind};
use foreword_skills::SkillError;
use foreword_store::StoreError;
use foreword_watch::WatchError;
use foreword_workspace::WorkspaceError;

/// The kind of an error, which gives the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The check that the user asked for failed: exit 1.
    CheckFailed,
    /// Invalid usage, invalid settings or unreadable input: exit 2.
    Usage,
    /// A bug, or a failure of the machine: exit 3.
    Internal,
}

impl Kind {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::CheckFailed => 1,
            Self::Usage => 2,
            Self::Internal => 3,
        }
    }
}

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}

impl CliError {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { kind: Kind::CheckFailed, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { kind: Kind::Internal, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same error, with the file it is about.
    pub(crate) fn in_file(mut self, file: &str) -> Self {
        self.message = format!("{file}: {}", self.message);
        self
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let kind = match failure.kind {
            FailureKind::CheckFailed => Kind::CheckFailed,
            FailureKind::Usage => Kind::Usage,
            FailureKind::Internal => Kind::Internal,
        };
        Self { kind, message: failure.message, hints: failure.hints }
    }
}

/// Errors of the libraries, as every front end shows them.
macro_rules! as_failure {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Failure::from(error).into()
            }
        }
    )+};
}

as_failure!(
    BlueprintError,
    ContextError,
    EmbedError,
    GatherError,
    HostError,
    Incomparable,
    MemoryError,
    SkillError,
    StoreError,
    WorkspaceError,
    serde_json::Error,
    WatchError,
);
