//! The ledger of what entered a session: from where, how much, and how much of it from outside.
//!
//! The totals are kept in the row of the session and change with every entry, so that asking for
//! them does not depend on how long the session is. They count as [`TaintLevel::add`] does: behind the
//! first external content, only external content and the person's messages.

use foreword::{Provenance, TaintLevel};
use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::host::turn::TurnNumber;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::stored_enum::word;
use crate::text_limits;
use crate::transaction::Transaction;

/// The most bytes of a source that are kept.
const MAX_SOURCE: usize = 512;
/// The most tokens one content counts for: more than any text has that fits into a message.
pub const MAX_CONTENT_TOKENS: u64 = 1 << 32;
/// The most contents that are listed at once.
pub const MAX_CONTENTS_LISTED: usize = 10_000;

/// Something that enters a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// Where it came from.
    pub provenance: Provenance,
    /// From where exactly, for a person to read; stored as one line and cut where it is long.
    pub source: String,
    /// How long it is; at most [`MAX_CONTENT_TOKENS`] are counted.
    pub tokens: u64,
    /// Whether it may come from outside.
    pub external: bool,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

/// A content as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedContent {
    /// In which turn, where it was in one.
    pub turn: Option<TurnNumber>,
    /// What it was.
    #[serde(flatten)]
    pub content: Content,
}

/// The ledger. No audit entry is written by these functions; the caller adds it in the same
/// transaction.
impl Transaction<'_> {
    /// Records a content and counts it; gives the totals with it.
    ///
    /// What the person says is a [`Provenance::User`] content and ends the time since the person
    /// last spoke, unless that content is itself external.
    pub fn content_add(
        &mut self,
        session: &SessionId,
        turn: Option<TurnNumber>,
        content: &Content,
    ) -> Result<TaintLevel, StoreError> {
        let rows = self.rows();
        let tokens = rows::stored(content.tokens.min(MAX_CONTENT_TOKENS));
        let since_person = match content.provenance {
            _ if content.external => Some(true),
            Provenance::User => Some(false),
            _ => None,
        };
        let totals = rows
            .first(
                "UPDATE sessions SET external_tokens = external_tokens + iif(?2, ?3, 0), \
                 total_tokens = total_tokens + iif(?2 OR ?6 OR external_tokens = 0, ?3, 0), \
                 external_since_person = ifnull(?4, external_since_person), \
                 last_at = max(last_at, ?5) WHERE id = ?1 \
                 RETURNING external_tokens, total_tokens, external_since_person",
                (
                    session.as_str(),
                    content.external,
                    tokens,
                    since_person,
                    content.at,
                    content.provenance == Provenance::User,
                ),
                totals,
            )?
            .ok_or_else(|| sessions::no_such(session))?;
        rows.change(
            "INSERT INTO contents (session, turn, provenance, source, tokens, external, at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                session.as_str(),
                turn.map(|turn| rows::stored(turn.0)),
                content.provenance.as_str(),
                text_limits::line(&content.source, MAX_SOURCE),
                tokens,
                content.external,
                content.at,
            ),
        )?;
        Ok(totals)
    }

    /// As [`Reader::content_totals`], in this transaction.
    pub fn content_totals(&self, session: &SessionId) -> Result<TaintLevel, StoreError> {
        read_totals(self.rows(), session)
    }
}

/// The ledger.
impl Reader {
    /// What entered a session so far; nothing where there is no such session.
    pub fn content_totals(&self, session: &SessionId) -> Result<TaintLevel, StoreError> {
        self.read(|rows| read_totals(rows, session))
    }

    /// What entered a session last, the newest first; at most [`MAX_CONTENTS_LISTED`].
    pub fn contents(
        &self,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<RecordedContent>, StoreError> {
        self.read(|rows| {
            rows.all(
                "SELECT turn, provenance, source, tokens, external, at FROM contents \
                 WHERE session = ?1 ORDER BY id DESC LIMIT ?2",
                (session.as_str(), rows::limit(limit.min(MAX_CONTENTS_LISTED))),
                |row| {
                    let turn: Option<i64> = row.get(0)?;
                    Ok(RecordedContent {
                        turn: turn.and_then(|turn| u64::try_from(turn).ok()).map(TurnNumber),
                        content: Content {
                            provenance: word(row, 1, |word| word.parse().ok())?,
                            source: row.get(2)?,
                            tokens: rows::number(row, 3)?,
                            external: row.get(4)?,
                            at: row.get(5)?,
                        },
                    })
                },
            )
        })
    }
}

fn read_totals(rows: Rows<'_>, session: &SessionId) -> Result<TaintLevel, StoreError> {
    let found = rows.first(
        "SELECT external_tokens, total_tokens, external_since_person FROM sessions WHERE id = ?1",
        [session.as_str()],
        totals,
    )?;
    Ok(found.unwrap_or_default())
}

fn totals(row: &rusqlite::Row<'_>) -> rusqlite::Result<TaintLevel> {
    Ok(TaintLevel {
        external_tokens: rows::number(row, 0)?,
        total_tokens: rows::number(row, 1)?,
        external_since_person: row.get(2)?,
    })
}
