//! Deleting sessions for good: their rows here, and what is left of them in the files of the database.

use rusqlite::OptionalExtension as _;
use serde::Serialize;

use crate::audit::origins;
use crate::audit::seal::{self, GRANTS, SCHEDULES, SESSIONS, SealedTable, TASKS};
use crate::error::{InDatabase as _, StoreError};
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::journal;
use crate::reader::Reader;
use crate::rows;
use crate::store::Store;
use crate::transaction::Transaction;

/// The most sessions that are removed at once.
pub const MAX_SESSIONS_REMOVED: usize = 1000;

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedSession {
    /// The session and those that its agents started.
    pub sessions: Vec<SessionId>,
    /// Turns that were deleted with their messages and answers.
    pub turns: u64,
    /// Schedules and tasks that the session made and that stay.
    pub kept: u64,
}

/// Deleting. The caller records it in the same transaction.
impl Transaction<'_> {
    /// Deletes a session and those that its agents started, with everything that was said in them.
    /// Refuses while a turn is running in one of them.
    ///
    /// Memories, schedules, tasks and proposals that came of it stay, and so does what it spent.
    pub fn session_remove(&mut self, id: &SessionId) -> Result<RemovedSession, StoreError> {
        let found = family(self, id)?;
        for session in &found {
            if let Some(running) = self.running_turns(Some(session))?.into_iter().next() {
                return Err(StoreError::TurnRunning {
                    session: session.to_string(),
                    turn: running.number,
                    owner: running.owner,
                });
            }
        }
        let mut removed = RemovedSession { sessions: found, ..RemovedSession::default() };
        // Those that were started last go first: each refers to the one that started it.
        for session in removed.sessions.iter().rev() {
            // A new session of the same name begins without taint.
            if origins::external_tokens(self.rows(), session.as_str())? > 0 {
                self.record_external(session, 0)?;
            }
            let rows = self.rows();
            let only = [session.as_str()];
            for table in [SCHEDULES, TASKS] {
                removed.kept += self.detach(table, session)?;
            }
            let statement = "SELECT id FROM grants WHERE session = ?1";
            let grants = rows.all(statement, only, |row| row.get::<_, String>(0))?;
            seal::forget(rows, GRANTS, &grants)?;
            rows.change("UPDATE identity_proposals SET session = NULL WHERE session = ?1", only)?;
            rows.change(
                "UPDATE spending SET session = iif(session = ?1, '', session), \
                 root = iif(root = ?1, '', root) WHERE session = ?1 OR root = ?1",
                only,
            )?;
            rows.change(
                "DELETE FROM refusal_args WHERE refusal IN \
                 (SELECT id FROM refusals WHERE session = ?1)",
                only,
            )?;
            removed.turns += rows.change("DELETE FROM turns WHERE session = ?1", only)? as u64;
            for table in ["compactions", "contents", "grants", "refusals", "todos", "audit_texts"] {
                rows.change(&format!("DELETE FROM {table} WHERE session = ?1"), only)?;
            }
            rows.change("DELETE FROM sessions WHERE id = ?1", only)?;
            seal::forget(rows, SESSIONS, &[session.to_string()])?;
        }
        sessions::count_removed(self.rows(), removed.sessions.len())?;
        Ok(removed)
    }
}

impl Transaction<'_> {
    /// Makes rows of a sealed table forget their session; returns how many there are. A row that was not
    /// sealed before gets no seal.
    fn detach(&self, table: SealedTable, session: &SessionId) -> Result<u64, StoreError> {
        let (rows, name) = (self.rows(), table.table);
        let statement = format!("SELECT id FROM {name} WHERE session = ?1");
        let ids = rows.all(&statement, [session.as_str()], |row| row.get::<_, String>(0))?;
        for id in &ids {
            let is_sealed = seal::is_sealed(rows, self.key(), table, id)?;
            rows.change(&format!("UPDATE {name} SET session = NULL WHERE id = ?1"), [id])?;
            if is_sealed {
                seal::seal(rows, self.key(), table, id)?;
            }
        }
        Ok(ids.len() as u64)
    }
}

impl Reader {
    /// Sessions in which nothing has happened since a time, the oldest first, without those that an
    /// agent started: they go with the session of that agent.
    pub fn sessions_before(&self, at: i64) -> Result<Vec<SessionId>, StoreError> {
        self.read(|rows| {
            rows.all(
                "SELECT id FROM sessions WHERE last_at < ?1 AND parent IS NULL \
                 ORDER BY last_at LIMIT ?2",
                (at, rows::limit(MAX_SESSIONS_REMOVED)),
                |row| Ok(SessionId::stored(row.get(0)?)),
            )
        })
    }
}

impl Store {
    /// Removes what deleted rows left behind in the files of the database: free pages and the
    /// write-ahead log. Fails while another process has the database open for reading.
    pub fn erase_deleted(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        let path = &self.path;
        connection.execute_batch("VACUUM").at(path)?;
        let busy = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
            .optional()
            .at(path)?;
        if busy == Some(true) || journal::has_write_ahead_log(path) {
            return Err(StoreError::Busy { path: path.clone() });
        }
        Ok(())
    }
}

/// A session and all that descend from it, parents first.
fn family(write: &Transaction<'_>, id: &SessionId) -> Result<Vec<SessionId>, StoreError> {
    let found = write.rows().all(
        "WITH RECURSIVE family (id, depth) AS (SELECT id, 0 FROM sessions WHERE id = ?1 UNION \
         SELECT sessions.id, family.depth + 1 FROM sessions JOIN family \
         ON sessions.parent = family.id WHERE family.depth < 100) \
         SELECT id FROM family ORDER BY depth",
        [id.as_str()],
        |row| Ok(SessionId::stored(row.get(0)?)),
    )?;
    if found.is_empty() { Err(sessions::no_such(id)) } else { Ok(found) }
}
