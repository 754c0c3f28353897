//! What a person allowed: one action each, used once.

use rusqlite::Row;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::refusals::RefusalId;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, ID_LETTERS, Named, short_id};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most grants of a session that may wait to be used.
pub const MAX_UNUSED_GRANTS: u64 = 100;
/// The most grants that are listed.
const MAX_LISTED: usize = 1000;
/// The most bytes the name of an action or of a person may have.
pub(crate) const MAX_NAME: usize = 256;

const NAMED: Named = Named { table: "grants", what: "grant", letters: ID_LETTERS };

short_id!(
    /// The id of a grant.
    GrantId
);

/// An action that a person allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// In which session.
    pub session: SessionId,
    /// Which action.
    pub action: String,
    /// The refusal it answers.
    pub refusal: Option<RefusalId>,
    /// Who allowed it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// When it was used up.
    pub used_at: Option<i64>,
}

/// Grants. No audit entry is written by these functions; the caller adds it in the same transaction.
impl Transaction<'_> {
    /// Allows one action in a session, once, whatever its arguments.
    pub fn grant_add(
        &mut self,
        session: &SessionId,
        action: &str,
        by: &str,
        at: i64,
    ) -> Result<GrantId, StoreError> {
        insert(self.rows(), session, action, None, by, at)
    }

    /// Uses up a grant for this action; `None` where it is not allowed. A grant that answers a refusal
    /// is for the arguments that were refused, as their digest tells; it goes before one that is for any.
    ///
    /// One grant is used once, however many ask for it, in this process and in others.
    pub fn grant_use(
        &mut self,
        session: &SessionId,
        action: &str,
        digest: &[u8; 32],
        at: i64,
    ) -> Result<Option<Grant>, StoreError> {
        self.rows().first(
            "UPDATE grants SET used_at = ?3 WHERE number = (SELECT number FROM grants \
             WHERE session = ?1 AND action = ?2 AND used_at IS NULL \
             AND (digest IS NULL OR digest = ?4) ORDER BY digest IS NULL, number LIMIT 1) \
             RETURNING id, session, action, refusal, granted_by, granted_at, used_at",
            (session.as_str(), action, at, digest),
            grant,
        )
    }
}

/// Grants.
impl Reader {
    /// What was allowed in a session, used or not, the newest first.
    pub fn grants(&self, session: &SessionId) -> Result<Vec<Grant>, StoreError> {
        self.read(|rows| {
            rows.all(
                "SELECT id, session, action, refusal, granted_by, granted_at, used_at FROM grants \
                 WHERE session = ?1 ORDER BY number DESC LIMIT ?2",
                (session.as_str(), rows::limit(MAX_LISTED)),
                grant,
            )
        })
    }
}

pub(crate) fn insert(
    rows: Rows<'_>,
    session: &SessionId,
    action: &str,
    answers: Option<(&RefusalId, &[u8; 32])>,
    by: &str,
    at: i64,
) -> Result<GrantId, StoreError> {
    text_limits::one_line("name of an action", action, MAX_NAME)?;
    text_limits::one_line("name of a person", by, MAX_NAME)?;
    sessions::check_exists(rows, session)?;
    let unused = rows.count(
        "SELECT count(*) FROM grants WHERE session = ?1 AND used_at IS NULL",
        [session.as_str()],
    )?;
    if unused >= MAX_UNUSED_GRANTS {
        return Err(StoreError::TooMany { what: "unused grants", limit: MAX_UNUSED_GRANTS });
    }
    let id = short_id::fresh(rows, NAMED)?;
    let (refusal, digest) = answers.unzip();
    rows.change(
        "INSERT INTO grants (id, session, action, refusal, digest, granted_by, granted_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (&id, session.as_str(), action, refusal.map(RefusalId::as_str), digest, by, at),
    )?;
    Ok(GrantId::stored(id))
}

fn grant(row: &Row<'_>) -> rusqlite::Result<Grant> {
    Ok(Grant {
        id: GrantId::stored(row.get(0)?),
        session: SessionId::stored(row.get(1)?),
        action: row.get(2)?,
        refusal: row.get::<_, Option<String>>(3)?.map(RefusalId::stored),
        by: row.get(4)?,
        at: row.get(5)?,
        used_at: row.get(6)?,
    })
}
