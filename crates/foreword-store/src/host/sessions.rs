//! Sessions as rows.

use rusqlite::Row;

use crate::audit;
use crate::audit::key::AuditKey;
use crate::audit::seal::{self, SESSIONS};
use crate::error::StoreError;
use crate::host::session::{MAX_CANARIES, NewSession, Session, SessionId, check_canary};
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::transaction::Transaction;

/// The most sessions that are listed at once.
pub const MAX_SESSIONS_LISTED: usize = 1000;

/// Under this name the database counts the sessions that were removed.
const REMOVED: &str = "sessions_removed";

const COLUMNS: &str = "id, agent, user, runner, channel, parent, depth, canaries, created_at, \
                       last_at, turns";

/// Sessions. The caller records actions of the host in the same transaction:
/// none of these functions writes an audit entry.
impl Transaction<'_> {
    /// Stores a new session.
    pub fn session_create(&mut self, new: &NewSession, at: i64) -> Result<(), StoreError> {
        new.check()?;
        let rows = self.rows();
        if find(rows, &new.id)?.is_some() {
            return Err(StoreError::SessionExists { id: new.id.to_string() });
        }
        if let Some(parent) = &new.parent
            && find(rows, parent)?.is_none()
        {
            return Err(StoreError::NoSuchSession { id: parent.to_string() });
        }
        rows.change(
            "INSERT INTO sessions (id, agent, user, runner, channel, parent, depth, canaries, \
             created_at, last_at, turns, external_tokens, total_tokens, external_since_person) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0, 0, 0, 0)",
            (
                new.id.as_str(),
                &new.agent,
                &new.user,
                &new.runner,
                &new.channel,
                new.parent.as_ref().map(SessionId::as_str),
                new.depth,
                &new.canary,
                at,
            ),
        )?;
        seal::seal(rows, self.key(), SESSIONS, new.id.as_str())
    }

    /// Gives a session another canary; the earlier ones are still recognised.
    pub fn session_canary(&mut self, id: &SessionId, canary: &str) -> Result<(), StoreError> {
        check_canary(canary)?;
        let session = self.session(id)?.ok_or_else(|| no_such(id))?;
        let mut all = vec![canary.to_owned()];
        all.extend(session.canaries.into_iter().filter(|earlier| earlier != canary));
        all.truncate(MAX_CANARIES);
        self.rows().change(
            "UPDATE sessions SET canaries = ?2 WHERE id = ?1",
            (id.as_str(), all.join(" ")),
        )?;
        Ok(())
    }

    /// Notes that something happened in a session.
    pub fn session_touch(&mut self, id: &SessionId, at: i64) -> Result<(), StoreError> {
        touch(self.rows(), id, at)
    }

    /// As [`Reader::session`], in this transaction.
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        find(self.rows(), id)
    }
}

/// Sessions.
impl Reader {
    /// The session of this name.
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.read(|rows| find(rows, id))
    }

    /// The bytes of the canary that a new session of this name gets. They are the same until a session
    /// is removed, so that its prompt can be shown before it exists, and never those of a session that
    /// was removed.
    pub fn new_session_seed(&self, key: &AuditKey, name: &str) -> Result<[u8; 16], StoreError> {
        self.read(|rows| {
            let log = audit::identity(rows.connection, rows.path)?.log_id;
            let statement = "SELECT value FROM meta WHERE name = ?1";
            let removed = rows.first(statement, [REMOVED], |row| rows::number(row, 0))?;
            Ok(key.canary_bytes(&log.0, removed.unwrap_or(0), name))
        })
    }

    /// The sessions in which something happened last, the newest first; at most
    /// [`MAX_SESSIONS_LISTED`].
    pub fn sessions(&self, limit: usize) -> Result<Vec<Session>, StoreError> {
        self.read(|rows| {
            let statement = format!(
                "SELECT {COLUMNS} FROM sessions ORDER BY last_at DESC, rowid DESC LIMIT ?1"
            );
            rows.all(&statement, [rows::limit(limit.min(MAX_SESSIONS_LISTED))], session)
        })
    }
}

pub(crate) fn no_such(id: &SessionId) -> StoreError {
    StoreError::NoSuchSession { id: id.to_string() }
}

/// Counts removed sessions: a name that is used again gets another canary.
pub(crate) fn count_removed(rows: Rows<'_>, sessions: usize) -> Result<(), StoreError> {
    rows.change(
        "INSERT INTO meta (name, value) VALUES (?1, ?2) \
         ON CONFLICT (name) DO UPDATE SET value = value + ?2",
        (REMOVED, i64::try_from(sessions).unwrap_or(i64::MAX)),
    )?;
    Ok(())
}

pub(crate) fn touch(rows: Rows<'_>, id: &SessionId, at: i64) -> Result<(), StoreError> {
    let changed = rows.change(
        "UPDATE sessions SET last_at = max(last_at, ?2) WHERE id = ?1",
        (id.as_str(), at),
    )?;
    if changed == 0 { Err(no_such(id)) } else { Ok(()) }
}

/// An error where a session is named that does not exist.
pub(crate) fn check_exists(rows: Rows<'_>, id: &SessionId) -> Result<(), StoreError> {
    rows.first("SELECT 1 FROM sessions WHERE id = ?1", [id.as_str()], |_| Ok(()))?
        .ok_or_else(|| no_such(id))
}

fn find(rows: Rows<'_>, id: &SessionId) -> Result<Option<Session>, StoreError> {
    let statement = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    rows.first(&statement, [id.as_str()], session)
}

fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let canaries: String = row.get(7)?;
    Ok(Session {
        id: SessionId::stored(row.get(0)?),
        agent: row.get(1)?,
        user: row.get(2)?,
        runner: row.get(3)?,
        channel: row.get(4)?,
        parent: row.get::<_, Option<String>>(5)?.map(SessionId::stored),
        depth: row.get(6)?,
        canaries: canaries.split(' ').map(str::to_owned).collect(),
        created_at: row.get(8)?,
        last_at: row.get(9)?,
        turns: rows::number(row, 10)?,
    })
}
