//! Events as they are recorded, and entries as they are read back.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::chain::Hash;
use crate::audit::key::AuditKey;
use crate::host::session::SessionId;

/// The most bytes of an actor or an action that are kept.
const MAX_NAME: usize = 256;
/// The most bytes of a subject that are kept.
const MAX_SUBJECT: usize = 1024;
/// The most bytes of detail, and of a text, that are kept.
const MAX_DETAIL: usize = 16 * 1024;
/// The field of an entry's detail that vouches for its text.
pub(crate) const TEXT_DIGEST: &str = "textDigest";

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// A rule or a person said no.
    Refused,
    /// It was tried and went wrong.
    Failed,
    /// It waits for a person, or has begun and not ended yet.
    Pending,
}

impl Outcome {
    /// The word that is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Pending => "pending",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that happened, to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Who did it: `user:ada`, `agent:main`.
    pub actor: String,
    /// What was done, as a dotted name: `skill.approve`.
    pub action: String,
    /// What it was done to: the name of a skill, a commit.
    pub subject: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whatever else should be known later.
    pub detail: Value,
    /// What was said in a session.
    pub text: Option<EventText>,
}

/// What was said in a session, as part of an event.
///
/// It is stored apart from its entry, which has only its keyed digest, and is deleted with the session.
#[derive(Debug, Clone, PartialEq)]
pub struct EventText {
    /// The session.
    pub session: SessionId,
    /// Fields as in the detail.
    pub fields: Value,
}

impl Event {
    /// An event without detail.
    #[must_use]
    pub fn new(
        actor: impl Into<String>,
        action: impl Into<String>,
        subject: impl Into<String>,
        outcome: Outcome,
    ) -> Self {
        Self {
            actor: actor.into(),
            action: action.into(),
            subject: subject.into(),
            outcome,
            detail: Value::Object(serde_json::Map::new()),
            text: None,
        }
    }

    /// The same event with this detail.
    #[must_use]
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = detail;
        self
    }

    /// The same event with what was said in a session. Fields are shown with those of the detail, until
    /// the session is deleted.
    #[must_use]
    pub fn with_text(mut self, session: &SessionId, fields: Value) -> Self {
        self.text = Some(EventText { session: session.clone(), fields });
        self
    }

    /// The texts that go into the log as entry `seq`, each within its limit.
    pub(crate) fn texts(&self, key: &AuditKey, seq: i64) -> Texts {
        let text = self.text.as_ref().map(|text| within_limit(&text.fields).to_string());
        let mut detail = within_limit(&self.detail);
        if let (Some(text), Some(fields)) = (&text, detail.as_object_mut()) {
            fields.insert(TEXT_DIGEST.to_owned(), text_digest(key, seq, text).to_string().into());
        }
        let detail = detail.to_string();
        Texts {
            actor: cut(&self.actor, MAX_NAME),
            action: cut(&self.action, MAX_NAME),
            subject: cut(&self.subject, MAX_SUBJECT),
            outcome: self.outcome.as_str(),
            detail,
            text: self.text.as_ref().map(|text| text.session.clone()).zip(text),
        }
    }
}

/// Vouches for the text of an entry. Without the key, the text cannot be guessed from it.
pub(crate) fn text_digest(key: &AuditKey, seq: i64, text: &str) -> Hash {
    let mut bytes = b"audit text".to_vec();
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    key.row_seal(&bytes)
}

fn within_limit(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_DETAIL {
        return value.clone();
    }
    // Escaping can double a text, and an ASCII control character becomes six bytes.
    json!({ "cut": true, "bytes": text.len(), "start": cut(&text, MAX_DETAIL / 8) })
}

/// The texts of an event as they are stored and hashed.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) subject: String,
    pub(crate) outcome: &'static str,
    pub(crate) detail: String,
    /// What is stored apart from the entry.
    pub(crate) text: Option<(SessionId, String)>,
}

/// The text within a number of bytes, cut at a character with a mark.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut cut = String::with_capacity(limit);
    for character in text.chars() {
        if cut.len() + character.len_utf8() + '…'.len_utf8() > limit {
            break;
        }
        cut.push(character);
    }
    cut.push('…');
    cut
}

/// An entry of the log as it was read; not verified.
///
/// The texts are what the database holds, which may have been altered: only a verification tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The number of the entry, from 1.
    pub seq: i64,
    /// When, in milliseconds since 1970, by the clock of the host.
    pub at: i64,
    /// Who did it.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// What it was done to.
    pub subject: String,
    /// How it ended.
    pub outcome: String,
    /// Whatever else was noted.
    pub detail: Value,
    /// The link of the chain, in hexadecimal digits.
    pub hash: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character_with_a_mark() {
        let event = Event::new("ä".repeat(300), "a", "s", Outcome::Done)
            .with_detail(Value::String("\u{1}".repeat(20_000)));
        let texts = event.texts(&AuditKey::from_bytes([7; 32]), 1);
        assert!(texts.actor.len() <= MAX_NAME && texts.actor.ends_with("ä…"));
        assert!(texts.detail.len() <= MAX_DETAIL, "{}", texts.detail.len());
        let detail: Value = serde_json::from_str(&texts.detail).unwrap();
        assert_eq!(detail["cut"], true);
        assert_eq!(detail["bytes"], 120_002);
    }

    #[test]
    fn texts_within_the_limit_stay_as_they_are() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "…");
    }
}
