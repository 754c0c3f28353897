//! What the host answers: a result, a failure, or parts of a stream before either.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of failure, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not a call, or not with these arguments.
    BadRequest,
    /// No such action.
    UnknownAction,
    /// The token is not this session's.
    BadToken,
    /// The id was used before on this connection.
    ReplayedId,
    /// The line is too long.
    TooLarge,
    /// Too many calls.
    RateLimited,
    /// It took too long.
    TimedOut,
    /// The session is too tainted for it.
    Tainted,
    /// It is not allowed.
    Refused,
    /// There is no such thing.
    NotFound,
    /// A limit of the host is reached.
    Limit,
    /// What it needs is not there now.
    Unavailable,
    /// The host failed.
    Internal,
}

impl ErrorCode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::UnknownAction => "unknown_action",
            Self::BadToken => "bad_token",
            Self::ReplayedId => "replayed_id",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::TimedOut => "timed_out",
            Self::Tainted => "tainted",
            Self::Refused => "refused",
            Self::NotFound => "not_found",
            Self::Limit => "limit",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

/// Why an action was not carried out, in words the agent can pass on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{message}")]
pub struct Failure {
    /// What kind of failure.
    pub code: ErrorCode,
    /// What, and what to do.
    pub message: String,
}

impl Failure {
    /// A failure of a kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// A part of an answer that comes in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamPart {
    /// How the model's server answered.
    #[serde(rename_all = "camelCase")]
    Head {
        /// The status of HTTP.
        status: u16,
        /// The type of what follows.
        content_type: String,
    },
    /// A piece of the body.
    Data(String),
}

/// One line from the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// The call it answers; nothing if the line could not be read that far.
    #[serde(default)]
    pub id: Option<u64>,
    /// Was it carried out? Nothing while parts of a stream come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// A part of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamPart>,
}

impl Reply {
    /// It was carried out.
    pub fn done(id: u64, result: Value) -> Self {
        Self { id: Some(id), ok: Some(true), result: Some(result), error: None, stream: None }
    }

    /// It was not.
    pub fn failed(id: Option<u64>, failure: Failure) -> Self {
        Self { id, ok: Some(false), result: None, error: Some(failure), stream: None }
    }

    /// A part of the answer.
    pub fn part(id: u64, part: StreamPart) -> Self {
        Self { id: Some(id), ok: None, result: None, error: None, stream: Some(part) }
    }
}
