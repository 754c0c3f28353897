//! A session: one conversation with an agent, from its first turn on.

use std::fmt;

use serde::Serialize;

use crate::error::StoreError;
use crate::short_id::{ID_LETTERS, random_letters};
use crate::text_limits;

/// The most characters the name of a session may have.
const MAX_ID: usize = 64;
/// The most bytes a name that comes with a session may have.
const MAX_NAME: usize = 256;
/// How many canaries of a session are recognised.
pub const MAX_CANARIES: usize = 8;

/// The name of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SessionId(String);

impl SessionId {
    /// The session of this name.
    pub fn parse(id: &str) -> Result<Self, StoreError> {
        let fits = (1..=MAX_ID).contains(&id.len())
            && !id.starts_with(['.', '-'])
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if fits {
            Ok(Self(id.to_owned()))
        } else {
            Err(StoreError::Unfit {
                what: "name of a session",
                wanted: "1 to 64 letters, digits, dots, dashes or underscores, \
                         not beginning with a dot or a dash",
            })
        }
    }

    /// A new one.
    pub fn random() -> Result<Self, StoreError> {
        random_letters(ID_LETTERS).map(Self)
    }

    pub(crate) fn stored(id: String) -> Self {
        Self(id)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Which agent of the workspace, where one was named.
    pub agent: Option<String>,
    /// For whom.
    pub user: Option<String>,
    /// What runs the agent.
    pub runner: String,
    /// The token whose appearance in an answer gives the prompt away.
    pub canary: String,
    /// The session that spawned it.
    pub parent: Option<SessionId>,
    /// How many sessions lie above it.
    pub depth: u32,
    /// Where the conversation takes place: `terminal`.
    pub channel: String,
}

impl NewSession {
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let names = [
            ("name of an agent", self.agent.as_deref()),
            ("name of a user", self.user.as_deref()),
            ("name of a runner", Some(self.runner.as_str())),
            ("name of a channel", Some(self.channel.as_str())),
        ];
        for (what, name) in names {
            if let Some(name) = name {
                text_limits::one_line(what, name, MAX_NAME)?;
            }
        }
        check_canary(&self.canary)
    }
}

pub(crate) fn check_canary(canary: &str) -> Result<(), StoreError> {
    text_limits::within("canary", canary, MAX_NAME)?;
    if canary.is_empty() || !canary.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(StoreError::Unfit {
            what: "canary",
            wanted: "ASCII characters without spaces",
        });
    }
    Ok(())
}

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name.
    pub id: SessionId,
    /// Which agent of the workspace, where one was named.
    pub agent: Option<String>,
    /// For whom.
    pub user: Option<String>,
    /// What runs the agent.
    pub runner: String,
    /// The session that spawned it.
    pub parent: Option<SessionId>,
    /// How many sessions lie above it.
    pub depth: u32,
    /// Where the conversation takes place.
    pub channel: String,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: i64,
    /// When something last happened in it.
    pub last_at: i64,
    /// How many turns were begun.
    pub turns: u64,
    pub(crate) canaries: Vec<String>,
}

impl Session {
    /// The token that is in its prompt now.
    #[must_use]
    pub fn canary(&self) -> &str {
        self.canaries.first().map_or("", String::as_str)
    }

    /// Every token that gives the prompt away, also of earlier turns, the newest first.
    #[must_use]
    pub fn canaries(&self) -> &[String] {
        &self.canaries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_could_also_be_that_of_a_file() {
        for good in ["a", "main", "2026-02-26_x.y", &"a".repeat(64)] {
            assert_eq!(SessionId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "-x", ".x", "a/b", "a b", "ä", "a\0", &"a".repeat(65)] {
            SessionId::parse(bad).unwrap_err();
        }
        SessionId::parse(SessionId::random().unwrap().as_str()).unwrap();
    }
}
