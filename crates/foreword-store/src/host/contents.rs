//! The ledger of what entered a session: from where, how much, and how much of it from outside.
//!
//! The totals are kept in the row of the session and change with every entry, so that asking for
//! them does not depend on how long the session is. They count as [`TaintLevel::add`] does: behind the
//! first external content, only external content and the person's messages.
//!
//! The counters are sealed, and every rise of the external ones is an entry of the chain. Counters that
//! were changed or put back by anything else count as external altogether, until a person clears the
//! session.

use foreword::{Provenance, TaintLevel};
use serde::Serialize;
use serde_json::json;

use crate::audit::event::{Event, Outcome};
use crate::audit::key::AuditKey;
use crate::audit::origins::{self, SESSION_TAINT};
use crate::audit::seal::{self, SESSIONS};
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

/// The totals of a session, compared with their seal and with the chain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CheckedTotals {
    /// What counts.
    pub level: TaintLevel,
    /// Whether something other than Foreword changed the counters.
    pub is_altered: bool,
}

/// The ledger. The entries that vouch for the counters are written here; those that say what happened
/// are added by the caller, in the same transaction.
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
        self.check_counters(session)?;
        let (rows, key) = (self.rows(), self.key());
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
        seal::seal(rows, key, SESSIONS, session.as_str())?;
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
        if content.external {
            self.record_external(session, totals.external_tokens)?;
        }
        Ok(totals)
    }

    /// As [`Reader::content_totals`], in this transaction.
    pub fn content_totals(&self, session: &SessionId) -> Result<TaintLevel, StoreError> {
        read_totals(self.rows(), session)
    }

    /// Writes down in the chain how many external tokens a session has.
    pub(crate) fn record_external(
        &mut self,
        session: &SessionId,
        tokens: u64,
    ) -> Result<(), StoreError> {
        let event = Event::new("host", SESSION_TAINT, session.as_str(), Outcome::Done)
            .with_detail(json!({ "externalTokens": tokens }));
        self.audit(&event).map(drop)
    }

    /// Makes counters that are not genuine count as external altogether.
    fn check_counters(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let rows = self.rows();
        let level = read_totals(rows, session)?;
        if are_genuine(rows, self.key(), session, level)? {
            return Ok(());
        }
        let level = all_external(level);
        let changed = rows.change(
            "UPDATE sessions SET external_tokens = ?2, total_tokens = ?2, \
             external_since_person = 1 WHERE id = ?1",
            (session.as_str(), rows::stored(level.external_tokens)),
        )?;
        if changed == 0 {
            return Err(sessions::no_such(session));
        }
        self.record_external(session, level.external_tokens)
    }
}

/// The ledger.
impl Reader {
    /// What entered a session so far; nothing where there is no such session.
    pub fn content_totals(&self, session: &SessionId) -> Result<TaintLevel, StoreError> {
        self.read(|rows| read_totals(rows, session))
    }

    /// The same, if the counters are genuine; else everything in the session counts as external.
    pub fn content_totals_with(
        &self,
        key: &AuditKey,
        session: &SessionId,
    ) -> Result<CheckedTotals, StoreError> {
        self.read_together(|rows| {
            let level = read_totals(rows, session)?;
            let exists =
                rows.first("SELECT 1 FROM sessions WHERE id = ?1", [session.as_str()], |_| Ok(()))?;
            let is_genuine = exists.is_none() || are_genuine(rows, key, session, level)?;
            let level = if is_genuine { level } else { all_external(level) };
            Ok(CheckedTotals { level, is_altered: !is_genuine })
        })
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

/// Whether counters are as they were sealed, and not older than the chain knows them.
fn are_genuine(
    rows: Rows<'_>,
    key: &AuditKey,
    session: &SessionId,
    level: TaintLevel,
) -> Result<bool, StoreError> {
    Ok(seal::is_sealed(rows, key, SESSIONS, session.as_str())?
        && origins::external_tokens(rows, session.as_str())? == level.external_tokens)
}

fn all_external(level: TaintLevel) -> TaintLevel {
    let tokens = level.total_tokens.max(level.external_tokens).max(1);
    TaintLevel { external_tokens: tokens, total_tokens: tokens, external_since_person: true }
}

fn totals(row: &rusqlite::Row<'_>) -> rusqlite::Result<TaintLevel> {
    Ok(TaintLevel {
        external_tokens: rows::number(row, 0)?,
        total_tokens: rows::number(row, 1)?,
        external_since_person: row.get(2)?,
    })
}
