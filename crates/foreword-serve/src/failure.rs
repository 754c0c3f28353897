//! The error that every front end shows: its kind, a message and hints.

use std::fmt;

use foreword::{BlueprintError, ContextError};
use foreword_embed::{EmbedError, Incomparable};
use foreword_gather::GatherError;
use foreword_host::HostError;
use foreword_search::MemoryError;
use foreword_skills::SkillError;
use foreword_store::StoreError;
use foreword_watch::WatchError;
use foreword_workspace::WorkspaceError;
use schemars::JsonSchema;
use serde::Serialize;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum FailureKind {
    /// The check that the caller asked for failed, or an action was refused.
    #[serde(rename = "failed")]
    CheckFailed,
    /// Invalid parameters, settings or input.
    #[serde(rename = "usage")]
    Usage,
    /// A bug, or a failure of the machine.
    #[serde(rename = "internal")]
    Internal,
}

impl FailureKind {
    /// The name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CheckFailed => "failed",
            Self::Usage => "usage",
            Self::Internal => "internal",
        }
    }
}

/// What is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What is wrong, and where.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Failure {
    /// Invalid parameters, settings or input.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, message: message.into(), hints: Vec::new() }
    }

    /// A check that failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::CheckFailed, message: message.into(), hints: Vec::new() }
    }

    /// A bug, or a failure of the machine.
    pub fn internal(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Internal, message: message.into(), hints: Vec::new() }
    }

    /// The same failure with one more hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    fn with_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<GatherError> for Failure {
    fn from(error: GatherError) -> Self {
        Self::usage(error.to_string()).with_hint(error.hint())
    }
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        Self::usage(error.to_string()).hint(error.hint())
    }
}

impl From<SkillError> for Failure {
    fn from(error: SkillError) -> Self {
        let out = if error.is_refusal() {
            Self::failed(error.to_string())
        } else {
            Self::usage(error.to_string())
        };
        out.with_hint(error.hint())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::from(SkillError::from(error))
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::usage(error.to_string()).with_hint(error.hint())
    }
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        Self::usage(error.to_string()).with_hint(error.hint())
    }
}

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        let message = error.to_string();
        match error {
            EmbedError::Corrupt { .. } | EmbedError::Version { .. } => Self::failed(message)
                .hint("run `foreword model install --force` to reinstall the full model"),
            EmbedError::NotInstalled { .. } => Self::usage(message)
                .hint("run `foreword model install`, or use the default embedder `static`"),
            _ => Self::usage(message),
        }
    }
}

impl From<Incomparable> for Failure {
    fn from(error: Incomparable) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        let out = match error {
            HostError::Blocked { .. }
            | HostError::Cancelled
            | HostError::Busy { .. }
            | HostError::SessionChanged { .. }
            | HostError::NotTrusted
            | HostError::WeakerSandbox(_)
            | HostError::TrustedFilesChanged { .. }
            | HostError::AgentRunning
            | HostError::ProposalOutdated { .. }
            | HostError::TargetIsLink { .. }
            | HostError::TooDeep { .. }
            | HostError::TooManyAgents { .. }
            | HostError::LimitReached(_)
            | HostError::MessageTooLong { .. }
            | HostError::SessionMissing { .. }
            | HostError::UnknownModel { .. }
            | HostError::Agent { .. } => Self::failed(message),
            HostError::Io { .. } => Self::internal(message),
            HostError::Skill(error) => return error.into(),
            HostError::Store(error) => return error.into(),
            _ => Self::usage(message),
        };
        out.with_hint(hint)
    }
}

impl From<ContextError> for Failure {
    fn from(error: ContextError) -> Self {
        let ContextError::Json(json) = &error else { return Self::usage(error.to_string()) };
        // The caller adds the file with line and column.
        let message = json.to_string();
        let place = format!(" at line {} column {}", json.line(), json.column());
        let message = message.strip_suffix(&place).unwrap_or(&message);
        invalid("Context", message)
    }
}

/// The failure for JSON that serde refused, with a suggestion for an unknown field.
pub(crate) fn invalid(what: &str, message: &str) -> Failure {
    // A caller gives values, lists and objects; variants, sequences and maps are ours.
    let message = &message
        .replacen("unknown variant", "unknown value", 1)
        .replace("expected a sequence", "expected a list")
        .replace("invalid type: sequence", "invalid type: list")
        .replace("expected a map", "expected an object")
        .replace("invalid type: map", "invalid type: object");
    match unknown_field(message) {
        Some((field, hint)) => {
            Failure::usage(format!("invalid {what}: unknown field `{field}`")).hint(hint)
        }
        None => Failure::usage(format!("invalid {what}: {message}")),
    }
}

/// The field that serde does not know, and a hint.
fn unknown_field(message: &str) -> Option<(&str, String)> {
    let (field, rest) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let hint = if known.contains(&"context") && is_of_context(field) {
        format!("`{field}` is a field of a Context: pass {{ context: {{ {field}: … }} }}")
    } else {
        match foreword::nearest(field, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known fields: {}", known.join(", ")),
        }
    };
    Some((field, hint))
}

/// Whether a Context has this field, whatever its value may be.
fn is_of_context(field: &str) -> bool {
    let context = serde_json::json!({ field: null });
    let error = serde_json::from_value::<foreword::Context>(context).err();
    error.is_none_or(|error| !error.to_string().starts_with("unknown field"))
}

impl From<BlueprintError> for Failure {
    fn from(error: BlueprintError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(format!("cannot write JSON: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_context_is_sent_to_its_place() {
        let hint = |field: &str| {
            let message =
                format!("unknown field `{field}`, expected one of `context`, `workspace`, `task`");
            unknown_field(&message).unwrap().1
        };
        assert_eq!(
            hint("identityFiles"),
            "`identityFiles` is a field of a Context: pass { context: { identityFiles: … } }"
        );
        assert_eq!(hint("tsk"), "did you mean `task`?");
        assert_eq!(hint("frob"), "known fields: context, workspace, task");
    }
}
