//! A memory: a short text that may be given to an agent again, and what is known about it.

pub(crate) mod blocks;
pub(crate) mod interned_names;
pub(crate) mod memories;
pub(crate) mod rows;
pub(crate) mod terms;
pub(crate) mod vectors;

use std::fmt;

use foreword::Date;
use serde::Serialize;

use crate::error::StoreError;
use crate::short_id::{ID_LETTERS, random_letters};

/// The most bytes the text of a memory may have.
pub const MAX_MEMORY_BYTES: usize = 16 * 1024;
/// The most characters an id may have.
const MAX_ID_CHARS: usize = 128;
/// The most bytes a scope or a source may have.
const MAX_NAME_BYTES: usize = 256;
/// The most bytes a kind may have.
const MAX_KIND_BYTES: usize = 32;

/// The id of a memory: random, or the one it had in the system it was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct MemoryId(String);

impl MemoryId {
    /// A new one.
    pub fn random() -> Result<Self, StoreError> {
        random_letters(ID_LETTERS).map(Self)
    }

    /// An id from elsewhere, such as a UUID. Upper and lower case are different ids.
    pub fn parse(id: &str) -> Result<Self, StoreError> {
        let fits = (1..=MAX_ID_CHARS).contains(&id.len())
            && id.starts_with(|first: char| first.is_ascii_alphanumeric())
            && id.bytes().all(is_id_byte);
        if fits {
            Ok(Self(id.to_owned()))
        } else {
            Err(unfit(
                "id",
                "1 to 128 characters from A-Z, a-z, 0-9 and - _ . : beginning with a letter or digit",
            ))
        }
    }

    pub(crate) fn stored(id: String) -> Self {
        Self(id)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether an id may contain this byte.
pub(crate) fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':')
}

/// What a memory is for: a lower-case word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct MemoryKind(String);

impl MemoryKind {
    /// What happened, as opposed to what is known.
    pub const ACTIVITY: &str = "activity";
    /// Kinds that read as instructions: stored, shown to a person, never put into a prompt.
    pub const NEVER_GIVEN: [&str; 3] = ["system", "meta", "override"];

    /// The kind of this name.
    pub fn parse(kind: &str) -> Result<Self, StoreError> {
        let fits = (1..=MAX_KIND_BYTES).contains(&kind.len())
            && kind.starts_with(|first: char| first.is_ascii_lowercase())
            && kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if fits {
            Ok(Self(kind.to_owned()))
        } else {
            Err(unfit("kind", "a lower-case word such as note, fact, preference or activity"))
        }
    }

    /// The kind as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is never put into a prompt.
    #[must_use]
    pub fn is_never_given(&self) -> bool {
        Self::NEVER_GIVEN.contains(&self.as_str())
    }
}

impl Default for MemoryKind {
    fn default() -> Self {
        Self("note".to_owned())
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whom a memory is for; what is not set is for all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryScope {
    /// One agent only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// One user only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// One session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// A memory as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryEntry {
    /// Its id.
    pub id: MemoryId,
    /// What it says.
    pub text: String,
    /// What it is for.
    pub kind: MemoryKind,
    /// Whom it is for.
    #[serde(flatten)]
    pub scope: MemoryScope,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: i64,
    /// The day it speaks of, as `2026-02-26`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Whether it came from outside, and so must not be trusted.
    pub tainted: bool,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How much it matters, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
}

impl MemoryEntry {
    /// When it happened: the day it speaks of, else when it was stored.
    #[must_use]
    pub fn at(&self) -> i64 {
        self.date.as_deref().and_then(day_ms).unwrap_or(self.created_at)
    }

    /// Looks whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.text.trim().is_empty() {
            return Err(unfit("text", "some text"));
        }
        if self.text.len() > MAX_MEMORY_BYTES {
            let bytes = self.text.len();
            return Err(StoreError::MemoryTooLong { bytes, limit: MAX_MEMORY_BYTES });
        }
        let scope = &self.scope;
        let names = [
            ("agent", &scope.agent),
            ("user", &scope.user),
            ("session", &scope.session),
            ("source", &self.source),
        ];
        for (what, name) in names {
            let fits = |name: &String| !name.is_empty() && name.len() <= MAX_NAME_BYTES;
            if !name.as_ref().is_none_or(fits) {
                return Err(unfit(what, "1 to 256 bytes"));
            }
        }
        if self.date.as_deref().is_some_and(|date| day_ms(date).is_none()) {
            return Err(unfit("date", "a day such as 2026-02-26"));
        }
        if !self.importance.is_none_or(|x| (0.0..=1.0).contains(&x)) {
            return Err(unfit("importance", "a number from 0 to 1"));
        }
        Ok(())
    }
}

fn unfit(what: &'static str, wanted: &'static str) -> StoreError {
    StoreError::UnfitMemory { what, wanted }
}

/// The start of a day in milliseconds since 1970, if it is one.
fn day_ms(date: &str) -> Option<i64> {
    let [year, month, day]: [&str; 3] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?
    };
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    Date::new(year, month, day).map(|date| date.days() * 86_400_000)
}

/// A vector as it is stored: who made it, its numbers, and a sketch for a first look.
///
/// The store keeps the bytes and does not read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredVector {
    /// The id of the embedder, as text.
    pub embedder: String,
    /// The numbers.
    pub code: Vec<u8>,
    /// The sketch; all sketches of an embedder have the same length.
    pub sketch: Vec<u8>,
}

/// A memory to be stored, with what it is found by.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// The memory.
    pub entry: MemoryEntry,
    /// The words it is found by, each once and without spaces.
    pub terms: Vec<String>,
    /// Its vector.
    pub vector: Option<StoredVector>,
}

/// What became of a memory that was to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddOutcome {
    /// It is stored.
    Added(MemoryId),
    /// The same text was there already, for the same agent, user and session.
    Duplicate(MemoryId),
    /// Another text has this id; it was kept.
    IdTaken(MemoryId),
}

/// Which memories to list.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Only of this kind.
    pub kind: Option<MemoryKind>,
    /// Only those for exactly this agent, user and session.
    pub scope: MemoryScope,
    /// Only tainted ones, or only others.
    pub tainted: Option<bool>,
    /// The maximum number of results.
    pub limit: Option<usize>,
    /// Only those before this one in the order of the list.
    pub before: Option<(i64, i64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(day_ms("1970-01-01"), Some(0));
        assert_eq!(day_ms("2026-02-26"), Some(1_772_064_000_000));
        assert_eq!(day_ms("2024-02-29"), Some(1_709_164_800_000));
        for wrong in ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "+026-01-01", "", "x"] {
            assert_eq!(day_ms(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn kinds_and_ids_are_words() {
        assert!(MemoryKind::parse("system").unwrap().is_never_given());
        assert!(!MemoryKind::default().is_never_given());
        for wrong in ["", "Note", "two words", "9a", "é"] {
            assert!(MemoryKind::parse(wrong).is_err(), "{wrong}");
        }
        for good in [
            "abc234",
            "550e8400-e29b-41d4-a716-446655440000",
            "550E8400-E29B-41D4-A716-446655440000",
            "mem0:user_7:note.3",
            &"x".repeat(128),
        ] {
            assert_eq!(MemoryId::parse(good).unwrap().as_str(), good);
        }
        for wrong in ["", "../x", "-x", ".x", ":x", "a b", "a/b", "é", "a\0", &"x".repeat(129)] {
            let error = MemoryId::parse(wrong).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the id of a memory must be 1 to 128 characters from A-Z, a-z, 0-9 and - _ . : \
                 beginning with a letter or digit",
            );
        }
    }
}
