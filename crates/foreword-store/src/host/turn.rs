//! A turn: a message, and what came of it.

use std::fmt;

use foreword::Usage;
use serde::de::IgnoredAny;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::error::StoreError;
use crate::stored_enum::stored_enum;
use crate::text_limits;

/// The most bytes a message that begins a turn may have.
pub const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// The most bytes an answer may have.
pub const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// The most bytes all messages of a turn may have, as JSON.
pub const MAX_TURN_BYTES: usize = 16 * 1024 * 1024;

/// The number of a turn in its session, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TurnNumber(pub u64);

impl fmt::Display for TurnNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnState {
    /// It is under way, or its host died.
    Running,
    /// It was answered.
    Done,
    /// Its answer was held back.
    Held,
    /// The person ended it; what was said and done until then is kept.
    Interrupted,
    /// It could not be answered.
    Failed,
    /// Its host died before it ended.
    Lost,
}

stored_enum!(TurnState {
    Running = "running",
    Done = "done",
    Held = "held",
    Interrupted = "interrupted",
    Failed = "failed",
    Lost = "lost",
});

/// How a turn ended that came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnEnd {
    /// It was answered.
    Done,
    /// Its answer was held back.
    Held,
    /// The person ended it; what was said and done until then is kept.
    Interrupted,
    /// It could not be answered.
    Failed,
}

impl From<TurnEnd> for TurnState {
    fn from(end: TurnEnd) -> Self {
        match end {
            TurnEnd::Done => Self::Done,
            TurnEnd::Held => Self::Held,
            TurnEnd::Interrupted => Self::Interrupted,
            TurnEnd::Failed => Self::Failed,
        }
    }
}

/// What a turn cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnUsage {
    /// Tokens of all its model calls.
    pub tokens: Usage,
    /// Number of model calls.
    pub calls: u64,
}

impl TurnUsage {
    /// Adds one model call.
    pub fn add_call(&mut self, tokens: Usage) {
        self.tokens = self.tokens.and(tokens);
        self.calls += 1;
    }
}

/// `--json` output has shorter names than the protocol's [`Usage`].
impl Serialize for TurnUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("TurnUsage", 5)?;
        out.serialize_field("input", &self.tokens.input_tokens)?;
        out.serialize_field("output", &self.tokens.output_tokens)?;
        out.serialize_field("cacheRead", &self.tokens.cache_read_tokens)?;
        out.serialize_field("cacheWrite", &self.tokens.cache_write_tokens)?;
        out.serialize_field("calls", &self.calls)?;
        out.end()
    }
}

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTurn {
    /// Its messages as a JSON array, for the turns that follow.
    pub messages: String,
    /// What the person got to see.
    pub answer: String,
    /// What it cost.
    pub usage: TurnUsage,
    /// How it ended.
    pub state: TurnEnd,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

impl FinishedTurn {
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        text_limits::within("answer", &self.answer, MAX_ANSWER_BYTES)?;
        text_limits::within("list of messages of a turn", &self.messages, MAX_TURN_BYTES)?;
        serde_json::from_str::<Vec<IgnoredAny>>(&self.messages).map(drop).map_err(|_| {
            StoreError::Unfit { what: "list of messages of a turn", wanted: "a JSON array" }
        })
    }
}

/// A turn as it is stored, without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Its number.
    pub number: TurnNumber,
    /// Where it stands.
    pub state: TurnState,
    /// Whose it is: the host that began it.
    pub owner: String,
    /// What the person said.
    pub message: String,
    /// What the person got to see.
    pub answer: Option<String>,
    /// Why it failed.
    pub reason: Option<String>,
    /// What it cost.
    pub usage: TurnUsage,
    /// When it began, in milliseconds since 1970.
    pub began_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
}

/// The messages of one turn, for the history of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnMessages {
    /// Its number.
    pub number: TurnNumber,
    /// How it ended.
    pub state: TurnState,
    /// Its messages as a JSON array.
    pub messages: String,
}

/// A turn that is under way, or whose host died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningTurn {
    /// Its session.
    pub session: crate::host::session::SessionId,
    /// Its number.
    pub number: TurnNumber,
    /// Whose it is: the host that began it.
    pub owner: String,
    /// When it began, in milliseconds since 1970.
    pub began_at: i64,
}

/// Which turns to read: whole ones, from the newest back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRange {
    /// The maximum number of turns; never more than [`TurnRange::MAX_TURNS`].
    pub newest: usize,
    /// The maximum number of bytes of text; the newest turn is always included.
    pub bytes: usize,
}

impl TurnRange {
    /// The most turns that are read at once.
    pub const MAX_TURNS: usize = 10_000;

    /// The newest turns, within 64 MiB.
    #[must_use]
    pub const fn newest(newest: usize) -> Self {
        Self { newest, bytes: 64 * 1024 * 1024 }
    }
}
