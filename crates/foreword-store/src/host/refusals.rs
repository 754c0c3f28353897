//! Actions that were refused, for a person to see and perhaps to allow.

use rusqlite::Row;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::grants::{GrantId, MAX_NAME};
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, ID_LETTERS, Named, short_id};
use crate::stored_enum::{stored_enum, word};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most open refusals of a session; a new one replaces the oldest.
pub const MAX_OPEN_REFUSALS: usize = 100;
/// The most decided refusals of a session that are kept.
const KEPT_DECIDED: usize = 200;
/// The most bytes of a summary or a reason that are kept.
const MAX_TEXT: usize = 2048;
/// The most bytes of arguments that are kept for a person to review.
pub const MAX_REFUSAL_ARGS: usize = 2 << 20;
/// The most refusals that are listed.
const MAX_LISTED: usize = 1000;

const NAMED: Named = Named { table: "refusals", what: "refusal", letters: ID_LETTERS };
const COLUMNS: &str = "id, session, action, summary, reason, state, times, refused_at, decided_at, decided_by, digest";

short_id!(
    /// The id of a refusal.
    RefusalId
);

/// What became of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalState {
    /// Not decided yet.
    Open,
    /// A person allowed the action once.
    Granted,
    /// A person left it at that.
    Dismissed,
}

stored_enum!(RefusalState { Open = "open", Granted = "granted", Dismissed = "dismissed" });

/// An action that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// Its id.
    pub id: RefusalId,
    /// In which session.
    pub session: SessionId,
    /// Which action.
    pub action: String,
    /// The blake3 digest of its arguments: a grant of it is for these only.
    #[serde(skip)]
    pub digest: [u8; 32],
    /// What it would have done, in one line.
    pub summary: String,
    /// Why it was refused, in one line.
    pub reason: String,
    /// What became of it.
    pub state: RefusalState,
    /// How often it was asked for.
    pub times: u64,
    /// When it was last refused, in milliseconds since 1970.
    pub at: i64,
    /// When a person decided.
    pub decided_at: Option<i64>,
    /// Who decided.
    pub decided_by: Option<String>,
}

/// Refusals. The caller adds audit entries in the same transaction, except that of a grant.
impl Transaction<'_> {
    /// Notes that an action was refused. Summary and reason are stored as one line each.
    ///
    /// The same action with the same arguments, as their digest tells, is one refusal as long as nobody decided; of an agent
    /// that never stops asking the last [`MAX_OPEN_REFUSALS`] are kept.
    pub fn refusal_add(
        &mut self,
        session: &SessionId,
        action: &str,
        digest: &[u8; 32],
        summary: &str,
        reason: &str,
        at: i64,
    ) -> Result<RefusalId, StoreError> {
        text_limits::one_line("name of an action", action, MAX_NAME)?;
        let rows = self.rows();
        sessions::check_exists(rows, session)?;
        let (summary, reason) =
            (text_limits::line(summary, MAX_TEXT), text_limits::line(reason, MAX_TEXT));
        let again = rows.first(
            "UPDATE refusals SET times = times + 1, summary = ?4, reason = ?5, refused_at = ?6 \
             WHERE session = ?1 AND state = 'open' AND action = ?2 AND digest = ?3 RETURNING id",
            (session.as_str(), action, digest, &summary, &reason, at),
            |row| row.get(0).map(RefusalId::stored),
        )?;
        if let Some(id) = again {
            return Ok(id);
        }
        let id = short_id::fresh(rows, NAMED)?;
        rows.change(
            "INSERT INTO refusals (id, session, action, digest, summary, reason, state, times, \
             refused_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', 1, ?7)",
            (&id, session.as_str(), action, digest, &summary, &reason, at),
        )?;
        forget(rows, session, RefusalState::Open, MAX_OPEN_REFUSALS)?;
        Ok(RefusalId::stored(id))
    }

    /// Keeps the arguments of a refused action, as JSON, until a person decides.
    pub fn refusal_keep_args(&mut self, id: &RefusalId, args: &str) -> Result<(), StoreError> {
        text_limits::within("arguments of an action", args, MAX_REFUSAL_ARGS)?;
        self.rows().change(
            "INSERT INTO refusal_args (refusal, args) VALUES (?1, ?2) \
             ON CONFLICT (refusal) DO UPDATE SET args = excluded.args",
            (id.as_str(), args),
        )?;
        Ok(())
    }

    /// Allows what was refused, once: the action with its arguments in its session.
    pub fn refusal_grant(
        &mut self,
        id: &str,
        by: &str,
        at: i64,
    ) -> Result<(GrantId, Refusal), StoreError> {
        let refusal = self.decide(id, RefusalState::Granted, by, at)?;
        let answers = Some((&refusal.id, &refusal.digest));
        let grant = self.insert_grant(&refusal.session, &refusal.action, answers, by, at)?;
        Ok((grant, refusal))
    }

    /// Leaves it at a refusal, so that it is no longer shown as open.
    pub fn refusal_dismiss(&mut self, id: &str, by: &str, at: i64) -> Result<Refusal, StoreError> {
        self.decide(id, RefusalState::Dismissed, by, at)
    }

    /// As [`Reader::refusal`], in this transaction.
    pub fn refusal(&self, id: &str) -> Result<Refusal, StoreError> {
        find(self.rows(), id)
    }

    fn decide(
        &mut self,
        id: &str,
        state: RefusalState,
        by: &str,
        at: i64,
    ) -> Result<Refusal, StoreError> {
        text_limits::one_line("name of a person", by, MAX_NAME)?;
        let rows = self.rows();
        let found = find(rows, id)?;
        if found.state != RefusalState::Open {
            let (id, found) = (found.id.to_string(), found.state.as_str());
            return Err(StoreError::Decided { what: NAMED.what, id, found });
        }
        rows.change(
            "UPDATE refusals SET state = ?2, decided_at = ?3, decided_by = ?4 WHERE id = ?1",
            (found.id.as_str(), state.as_str(), at, by),
        )?;
        forget(rows, &found.session, state, KEPT_DECIDED)?;
        Ok(Refusal { state, decided_at: Some(at), decided_by: Some(by.to_owned()), ..found })
    }
}

/// Refusals.
impl Reader {
    /// The refusal with this id, or the only one whose id begins with it.
    pub fn refusal(&self, id: &str) -> Result<Refusal, StoreError> {
        let found = self.read(|rows| find(rows, id).map(Some))?;
        found.ok_or_else(|| StoreError::NoSuch { what: NAMED.what, id: short_id::cut_id(id) })
    }

    /// The arguments of an action that waits for a decision, as JSON.
    pub fn refusal_args(&self, id: &RefusalId) -> Result<Option<String>, StoreError> {
        self.read(|rows| {
            rows.first("SELECT args FROM refusal_args WHERE refusal = ?1", [id.as_str()], |row| {
                row.get(0)
            })
        })
    }

    /// Refusals of one session or of all, in one state or in any, the newest first.
    pub fn refusals(
        &self,
        session: Option<&SessionId>,
        state: Option<RefusalState>,
    ) -> Result<Vec<Refusal>, StoreError> {
        let which = match (session, state) {
            (Some(_), Some(_)) => "session = ?1 AND state = ?2",
            (Some(_), None) => "session = ?1 AND ?2 IS NULL",
            (None, Some(_)) => "?1 IS NULL AND state = ?2",
            (None, None) => "?1 IS NULL AND ?2 IS NULL",
        };
        let statement =
            format!("SELECT {COLUMNS} FROM refusals WHERE {which} ORDER BY number DESC LIMIT ?3");
        let state = state.map(RefusalState::as_str);
        let values = (session.map(SessionId::as_str), state, rows::limit(MAX_LISTED));
        self.read(|rows| rows.all(&statement, values, refusal))
    }
}

/// Deletes what is beyond the number of refusals that are kept in a state.
fn forget(
    rows: Rows<'_>,
    session: &SessionId,
    state: RefusalState,
    kept: usize,
) -> Result<(), StoreError> {
    rows.change(
        "DELETE FROM refusals WHERE number IN (SELECT number FROM refusals \
         WHERE session = ?1 AND state = ?2 ORDER BY number DESC LIMIT -1 OFFSET ?3)",
        (session.as_str(), state.as_str(), rows::limit(kept)),
    )?;
    rows.change(
        "DELETE FROM refusal_args WHERE refusal NOT IN \
         (SELECT id FROM refusals WHERE state = 'open')",
        [],
    )?;
    Ok(())
}

fn find(rows: Rows<'_>, id: &str) -> Result<Refusal, StoreError> {
    let id = short_id::find(rows, NAMED, id)?;
    let statement = format!("SELECT {COLUMNS} FROM refusals WHERE id = ?1");
    rows.first(&statement, [&id], refusal)?.ok_or(StoreError::NoSuch { what: NAMED.what, id })
}

fn refusal(row: &Row<'_>) -> rusqlite::Result<Refusal> {
    Ok(Refusal {
        id: RefusalId::stored(row.get(0)?),
        session: SessionId::stored(row.get(1)?),
        action: row.get(2)?,
        summary: row.get(3)?,
        reason: row.get(4)?,
        state: word(row, 5, RefusalState::parse)?,
        times: rows::number(row, 6)?,
        at: row.get(7)?,
        decided_at: row.get(8)?,
        decided_by: row.get(9)?,
        digest: row.get(10)?,
    })
}
