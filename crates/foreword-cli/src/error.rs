//! The error of the command line: its kind, a message and hints.

use std::fmt;

use foreword::{BlueprintError, ContextError};
use foreword_gather::GatherError;
use foreword_search::MemoryError;
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

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CheckFailed => "failed",
            Self::Usage => "usage",
            Self::Internal => "internal",
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

impl From<GatherError> for CliError {
    fn from(error: GatherError) -> Self {
        let out = Self::usage(error.to_string());
        match error.hint() {
            Some(hint) => out.hint(hint),
            None => out,
        }
    }
}

impl From<WorkspaceError> for CliError {
    fn from(error: WorkspaceError) -> Self {
        Self::usage(error.to_string()).hint(error.hint())
    }
}

impl From<SkillError> for CliError {
    fn from(error: SkillError) -> Self {
        let out = if error.is_refusal() {
            Self::failed(error.to_string())
        } else {
            Self::usage(error.to_string())
        };
        match error.hint() {
            Some(hint) => out.hint(hint),
            None => out,
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::from(SkillError::from(error))
    }
}

impl From<MemoryError> for CliError {
    fn from(error: MemoryError) -> Self {
        let out = Self::usage(error.to_string());
        match error.hint() {
            Some(hint) => out.hint(hint),
            None => out,
        }
    }
}

impl From<WatchError> for CliError {
    fn from(error: WatchError) -> Self {
        let out = Self::usage(error.to_string());
        match error.hint() {
            Some(hint) => out.hint(hint),
            None => out,
        }
    }
}

impl From<ContextError> for CliError {
    fn from(error: ContextError) -> Self {
        let ContextError::Json(json) = &error else { return Self::usage(error.to_string()) };
        // The caller adds the file with line and column.
        let message = json.to_string();
        let place = format!(" at line {} column {}", json.line(), json.column());
        let message = message.strip_suffix(&place).unwrap_or(&message);
        match unknown_field(message) {
            Some((field, hint)) => {
                Self::usage(format!("invalid Context: unknown field `{field}`")).hint(hint)
            }
            None => Self::usage(format!("invalid Context: {message}")),
        }
    }
}

/// The field that serde does not know, and a hint.
fn unknown_field(message: &str) -> Option<(&str, String)> {
    let (field, rest) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let hint = match foreword::nearest(field, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known fields: {}", known.join(", ")),
    };
    Some((field, hint))
}

impl From<BlueprintError> for CliError {
    fn from(error: BlueprintError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(format!("cannot write JSON: {error}"))
    }
}
