//! What stands in for the oldest turns of a session, once they no longer fit into the model's window.

use rusqlite::Row;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::host::turn::TurnNumber;
use crate::reader::Reader;
use crate::rows;
use crate::schema;
use crate::text_limits;
use crate::transaction::Transaction;

/// The most bytes of a summary.
pub const MAX_SUMMARY_BYTES: usize = 64 << 10;
/// Compactions of a session that are listed, newest last.
const MAX_LISTED: usize = 1000;

/// One compaction of a session's history. The newest one counts; the turns themselves stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// Large tool results are shortened up to this turn.
    pub shortened_through: TurnNumber,
    /// The summary replaces all turns up to this one; 0 if there is none.
    pub summarised_through: TurnNumber,
    pub summary: String,
    /// Whether external content had entered the session by then.
    pub tainted: bool,
    /// The model that wrote the summary.
    pub model: Option<String>,
    /// Tokens of the history before and after.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// Compactions. The caller adds the audit entry in the same transaction.
impl Transaction<'_> {
    pub fn compaction_add(
        &mut self,
        session: &SessionId,
        compaction: &Compaction,
    ) -> Result<(), StoreError> {
        text_limits::within("summary", &compaction.summary, MAX_SUMMARY_BYTES)?;
        let rows = self.rows();
        sessions::check_exists(rows, session)?;
        rows.change(
            "INSERT INTO compactions (session, shortened, summarised, summary, tainted, model, \
             tokens_before, tokens_after, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                session.as_str(),
                rows::stored(compaction.shortened_through.0),
                rows::stored(compaction.summarised_through.0),
                &compaction.summary,
                compaction.tainted,
                &compaction.model,
                rows::stored(compaction.tokens_before),
                rows::stored(compaction.tokens_after),
                compaction.at,
            ),
        )?;
        Ok(())
    }
}

impl Reader {
    /// The compactions of a session, oldest first. None in a database of an older version.
    pub fn compactions(&self, session: &SessionId) -> Result<Vec<Compaction>, StoreError> {
        self.read(|rows| {
            if schema::version(rows.connection, rows.path)? < schema::WITH_COMPACTIONS {
                return Ok(Vec::new());
            }
            let mut found = rows.all(
                "SELECT shortened, summarised, summary, tainted, model, tokens_before, \
                 tokens_after, at FROM compactions WHERE session = ?1 ORDER BY id DESC LIMIT ?2",
                (session.as_str(), rows::limit(MAX_LISTED)),
                compaction,
            )?;
            found.reverse();
            Ok(found)
        })
    }

    /// The compaction that counts.
    pub fn last_compaction(&self, session: &SessionId) -> Result<Option<Compaction>, StoreError> {
        self.read(|rows| {
            if schema::version(rows.connection, rows.path)? < schema::WITH_COMPACTIONS {
                return Ok(None);
            }
            rows.first(
                "SELECT shortened, summarised, summary, tainted, model, tokens_before, \
                 tokens_after, at FROM compactions WHERE session = ?1 ORDER BY id DESC LIMIT 1",
                [session.as_str()],
                compaction,
            )
        })
    }
}

fn compaction(row: &Row<'_>) -> rusqlite::Result<Compaction> {
    Ok(Compaction {
        shortened_through: TurnNumber(rows::number(row, 0)?),
        summarised_through: TurnNumber(rows::number(row, 1)?),
        summary: row.get(2)?,
        tainted: row.get(3)?,
        model: row.get(4)?,
        tokens_before: rows::number(row, 5)?,
        tokens_after: rows::number(row, 6)?,
        at: row.get(7)?,
    })
}
