//! Changes to files that run on their own: made by an agent, put back, and waiting for a person.

use rusqlite::Row;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, ID_LETTERS, Named, short_id};
use crate::stored_enum::{stored_enum, word};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most bytes either version of a held file may have.
pub const MAX_HELD_BYTES: usize = 1 << 20;
/// The most changes that may wait for a decision.
pub const MAX_PENDING_HELD: u64 = 500;
/// The most bytes that all waiting changes may have.
const MAX_PENDING_BYTES: u64 = 64 << 20;
/// The number of decided changes that are kept, without their content.
const KEPT_DECIDED: usize = 1000;
/// The most bytes of a path.
const MAX_PATH: usize = 4096;
/// The most bytes a name may have.
const MAX_NAME: usize = 256;
/// The most bytes a reason may have.
const MAX_REASON: usize = 4096;

const NAMED: Named = Named { table: "held_changes", what: "held change", letters: ID_LETTERS };
const COLUMNS: &str = "id, path, read_by, tainted, session, turn, made_by, state, held_at, \
                       decided_at, decided_by, decision_reason";

short_id!(
    /// The id of a held change.
    HeldChangeId
);

/// What became of a held change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeldState {
    /// It waits for a person.
    Pending,
    /// A person had it applied.
    Approved,
    /// A person dropped it.
    Rejected,
}

stored_enum!(HeldState { Pending = "pending", Approved = "approved", Rejected = "rejected" });

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileVersion {
    /// Nothing.
    Absent,
    /// A file with its permissions.
    File { mode: u32, content: Vec<u8> },
    /// A symbolic link, with what it says.
    Link { target: Vec<u8> },
}

/// A change to be held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHeldChange {
    /// Relative to the workspace.
    pub path: String,
    /// Who would run the file.
    pub read_by: String,
    /// Whether external content had entered the session.
    pub tainted: bool,
    pub session: SessionId,
    pub turn: u64,
    /// The agent.
    pub by: String,
    pub old: FileVersion,
    pub new: FileVersion,
}

/// A held change without the two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldChange {
    pub id: HeldChangeId,
    /// Relative to the workspace.
    pub path: String,
    /// Who would run the file.
    pub read_by: String,
    /// Whether external content had entered the session.
    pub tainted: bool,
    pub session: SessionId,
    pub turn: u64,
    /// The agent.
    pub by: String,
    pub state: HeldState,
    /// In milliseconds since 1970.
    pub held_at: i64,
    pub decided_at: Option<i64>,
    pub decided_by: Option<String>,
    pub decision_reason: Option<String>,
}

/// Held changes. No audit entry is written by these functions; the caller adds it in the same
/// transaction.
impl Transaction<'_> {
    /// Stores a change for a person. It replaces a waiting change of the same file by the same session.
    pub fn held_add(&mut self, new: &NewHeldChange, at: i64) -> Result<HeldChangeId, StoreError> {
        text_limits::not_empty("path of a held change", &new.path, MAX_PATH)?;
        text_limits::one_line("name of a program", &new.read_by, MAX_NAME)?;
        text_limits::one_line("name of an agent", &new.by, MAX_NAME)?;
        for version in [&new.old, &new.new] {
            let (bytes, limit) = (version.parts().2.map_or(0, <[u8]>::len), MAX_HELD_BYTES);
            if bytes > limit {
                return Err(StoreError::TooLong { what: "held file", bytes, limit });
            }
        }
        let rows = self.rows();
        rows.change(
            "DELETE FROM held_changes WHERE state = 'pending' AND session = ?1 AND path = ?2",
            (new.session.as_str(), &new.path),
        )?;
        let too_many = StoreError::TooMany { what: "held changes", limit: MAX_PENDING_HELD };
        let (count, bytes) = rows
            .first(
                "SELECT count(*), ifnull(sum(ifnull(octet_length(old), 0) + \
                 ifnull(octet_length(new), 0)), 0) FROM held_changes WHERE state = 'pending'",
                [],
                |row| Ok((rows::number(row, 0)?, rows::number(row, 1)?)),
            )?
            .unwrap_or_default();
        if count >= MAX_PENDING_HELD || bytes >= MAX_PENDING_BYTES {
            return Err(too_many);
        }
        let id = short_id::fresh(rows, NAMED)?;
        let (old_kind, old_mode, old) = new.old.parts();
        let (new_kind, new_mode, content) = new.new.parts();
        rows.change(
            "INSERT INTO held_changes (id, path, read_by, tainted, session, turn, made_by, state, \
             held_at, old_kind, old_mode, new_kind, new_mode, old, new) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            rusqlite::params![
                id,
                new.path,
                new.read_by,
                new.tainted,
                new.session.as_str(),
                rows::stored(new.turn),
                new.by,
                at,
                old_kind,
                old_mode,
                new_kind,
                new_mode,
                old,
                content,
            ],
        )?;
        Ok(HeldChangeId::stored(id))
    }

    /// Decides about a change that waits; returns the new state.
    pub fn held_decide(
        &mut self,
        id: &str,
        approve: bool,
        by: &str,
        reason: Option<&str>,
        at: i64,
    ) -> Result<HeldChange, StoreError> {
        text_limits::one_line("name of a person", by, MAX_NAME)?;
        text_limits::within("reason", reason.unwrap_or_default(), MAX_REASON)?;
        let state = if approve { HeldState::Approved } else { HeldState::Rejected };
        let rows = self.rows();
        let before = find(rows, id)?;
        if before.state != HeldState::Pending {
            let (id, found) = (before.id.to_string(), before.state.as_str());
            return Err(StoreError::Decided { what: NAMED.what, id, found });
        }
        rows.change(
            "UPDATE held_changes SET state = ?2, decided_at = ?3, decided_by = ?4, \
             decision_reason = ?5, old = NULL, new = NULL WHERE id = ?1",
            (before.id.as_str(), state.as_str(), at, by, reason),
        )?;
        rows.change(
            "DELETE FROM held_changes WHERE number IN (SELECT number FROM held_changes \
             WHERE state != 'pending' ORDER BY decided_at DESC, number DESC LIMIT -1 OFFSET ?1)",
            [rows::limit(KEPT_DECIDED)],
        )?;
        find(rows, before.id.as_str())
    }
}

/// Held changes.
impl Reader {
    /// The held change with this id, or the only one whose id begins with it.
    pub fn held_change(&self, id: &str) -> Result<HeldChange, StoreError> {
        let found = self.read(|rows| find(rows, id).map(Some))?;
        found.ok_or_else(|| StoreError::NoSuch { what: NAMED.what, id: short_id::cut_id(id) })
    }

    /// What was there and what the agent made of it; `None` once that is decided.
    pub fn held_versions(
        &self,
        id: &HeldChangeId,
    ) -> Result<Option<(FileVersion, FileVersion)>, StoreError> {
        self.read(|rows| {
            rows.first(
                "SELECT old_kind, old_mode, old, new_kind, new_mode, new FROM held_changes \
                 WHERE id = ?1 AND state = 'pending'",
                [id.as_str()],
                |row| Ok((FileVersion::of(row, 0)?, FileVersion::of(row, 3)?)),
            )
        })
    }

    /// The held changes in a state, or all, the oldest first.
    pub fn held_changes(&self, state: Option<HeldState>) -> Result<Vec<HeldChange>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM held_changes WHERE ?1 IS NULL OR state = ?1 ORDER BY number"
        );
        self.read(|rows| rows.all(&statement, [state.map(HeldState::as_str)], change))
    }
}

impl FileVersion {
    fn parts(&self) -> (&'static str, u32, Option<&[u8]>) {
        match self {
            Self::Absent => ("absent", 0, None),
            Self::File { mode, content } => ("file", *mode, Some(content)),
            Self::Link { target } => ("link", 0, Some(target)),
        }
    }

    fn of(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let kind: String = row.get(column)?;
        Ok(match kind.as_str() {
            "file" => Self::File { mode: row.get(column + 1)?, content: row.get(column + 2)? },
            "link" => Self::Link { target: row.get(column + 2)? },
            _ => Self::Absent,
        })
    }
}

fn find(rows: Rows<'_>, id: &str) -> Result<HeldChange, StoreError> {
    let id = short_id::find(rows, NAMED, id)?;
    let statement = format!("SELECT {COLUMNS} FROM held_changes WHERE id = ?1");
    rows.first(&statement, [&id], change)?.ok_or(StoreError::NoSuch { what: NAMED.what, id })
}

fn change(row: &Row<'_>) -> rusqlite::Result<HeldChange> {
    Ok(HeldChange {
        id: HeldChangeId::stored(row.get(0)?),
        path: row.get(1)?,
        read_by: row.get(2)?,
        tainted: row.get(3)?,
        session: SessionId::stored(row.get(4)?),
        turn: rows::number(row, 5)?,
        by: row.get(6)?,
        state: word(row, 7, HeldState::parse)?,
        held_at: row.get(8)?,
        decided_at: row.get(9)?,
        decided_by: row.get(10)?,
        decision_reason: row.get(11)?,
    })
}
