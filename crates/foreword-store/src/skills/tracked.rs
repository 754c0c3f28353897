//! What the skill repository holds, written down so that a build need not open the repository.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::audit::chain::Hash;
use crate::audit::key::AuditKey;
use crate::error::{InDatabase as _, StoreError};

/// A file of the skill repository, and how it got there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFile {
    /// Its path in the work tree, with `/`.
    pub path: String,
    /// The blake3 digest of its bytes.
    pub digest: [u8; 32],
    /// Its id in the repository.
    pub blob: String,
    /// The commit that last changed it.
    pub commit: String,
    /// Who approved that.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The proposal it came from.
    pub proposal: Option<String>,
    /// Whether that commit is sealed with the key, so that it counts as an approval.
    pub approved: bool,
    /// What the skill can do since that commit.
    pub can_do: Option<String>,
}

impl TrackedFile {
    /// What is sealed: every field, each with its length.
    fn seal(&self, key: &AuditKey) -> Hash {
        let mut bytes = Vec::with_capacity(256);
        let at = self.at.to_le_bytes();
        let proposal = self.proposal.as_deref().unwrap_or_default();
        let fields: [&[u8]; 8] = [
            self.path.as_bytes(),
            &self.digest,
            self.blob.as_bytes(),
            self.commit.as_bytes(),
            self.by.as_bytes(),
            &at,
            proposal.as_bytes(),
            &[u8::from(self.approved)],
        ];
        let can_do = self.can_do.as_deref().map(str::as_bytes);
        for field in fields.into_iter().chain(can_do) {
            bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
            bytes.extend_from_slice(field);
        }
        key.seal(&bytes)
    }
}

/// What the skill repository held at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackedFiles {
    /// The commit; `None` when nothing was written down yet.
    pub head: Option<String>,
    /// Its files by path.
    pub files: Vec<TrackedFile>,
}

/// All files; with a key, only those whose rows were written with it.
pub(crate) fn read(
    connection: &Connection,
    path: &Path,
    key: Option<&AuditKey>,
) -> Result<TrackedFiles, StoreError> {
    // One statement, one state of the database: head and files belong together.
    let head_and_files = || -> rusqlite::Result<TrackedFiles> {
        let mut statement = connection.prepare_cached(
            "SELECT path, digest, blob, commit_id, changed_by, changed_at, proposal, approved, \
             (SELECT can_do FROM capabilities WHERE capabilities.commit_id = tracked.commit_id), \
             seal, (SELECT value FROM meta WHERE name = 'tracked_head') \
             FROM (SELECT 1) LEFT JOIN tracked ON true ORDER BY path",
        )?;
        let mut rows = statement.query([])?;
        let mut set = TrackedFiles::default();
        while let Some(row) = rows.next()? {
            set.head = row.get(10)?;
            if row.get_ref(0)? == ValueRef::Null {
                continue;
            }
            let file = from_row(row)?;
            let seal: [u8; 32] = row.get(9)?;
            if key.is_none_or(|key| file.seal(key) == Hash(seal)) {
                set.files.push(file);
            }
        }
        Ok(set)
    };
    head_and_files().at(path)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<TrackedFile> {
    Ok(TrackedFile {
        path: row.get(0)?,
        digest: row.get(1)?,
        blob: row.get(2)?,
        commit: row.get(3)?,
        by: row.get(4)?,
        at: row.get(5)?,
        proposal: row.get(6)?,
        approved: row.get(7)?,
        can_do: row.get(8)?,
    })
}

/// The commit alone, to ask whether anything changed.
pub(crate) fn head(connection: &Connection, path: &Path) -> Result<Option<String>, StoreError> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE name = 'tracked_head'")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
        .at(path)
}

/// One file.
pub(crate) fn file(
    connection: &Connection,
    database: &Path,
    path: &str,
) -> Result<Option<TrackedFile>, StoreError> {
    let read = || {
        let mut statement = connection.prepare_cached(
            "SELECT path, digest, blob, commit_id, changed_by, changed_at, proposal, approved, \
             (SELECT can_do FROM capabilities WHERE capabilities.commit_id = tracked.commit_id) \
             FROM tracked WHERE path = ?1",
        )?;
        statement.query_row([path], from_row).optional()
    };
    read().at(database)
}

pub(crate) fn replace(
    connection: &Connection,
    path: &Path,
    key: &AuditKey,
    head: Option<&str>,
    rows: &[TrackedFile],
) -> Result<(), StoreError> {
    connection
        .execute_batch("DELETE FROM tracked; DELETE FROM capabilities")
        .and_then(|()| put(connection, key, rows))
        .and_then(|()| set_head(connection, head))
        .at(path)
}

pub(crate) fn update(
    connection: &Connection,
    path: &Path,
    key: &AuditKey,
    old_head: Option<&str>,
    new_head: &str,
    changed: &[TrackedFile],
    removed: &[String],
) -> Result<(), StoreError> {
    let found = head(connection, path)?;
    if found.as_deref() != old_head {
        return Err(StoreError::TrackedMoved { expected: old_head.map(str::to_owned), found });
    }
    let apply = || -> rusqlite::Result<()> {
        let mut delete = connection.prepare_cached("DELETE FROM tracked WHERE path = ?1")?;
        for path in removed {
            delete.execute([path])?;
        }
        put(connection, key, changed)?;
        set_head(connection, Some(new_head))
    };
    apply().at(path)
}

fn put(connection: &Connection, key: &AuditKey, rows: &[TrackedFile]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO tracked \
         (path, digest, blob, commit_id, changed_by, changed_at, proposal, approved, seal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut capabilities = connection.prepare_cached(
        "INSERT OR REPLACE INTO capabilities (commit_id, can_do) VALUES (?1, ?2)",
    )?;
    for row in rows {
        statement.execute((
            &row.path,
            row.digest,
            &row.blob,
            &row.commit,
            &row.by,
            row.at,
            &row.proposal,
            row.approved,
            row.seal(key).0,
        ))?;
        if let Some(can_do) = &row.can_do {
            capabilities.execute((&row.commit, can_do))?;
        }
    }
    Ok(())
}

fn set_head(connection: &Connection, head: Option<&str>) -> rusqlite::Result<()> {
    match head {
        Some(head) => connection.execute(
            "INSERT OR REPLACE INTO meta (name, value) VALUES ('tracked_head', ?1)",
            [head],
        ),
        None => connection.execute("DELETE FROM meta WHERE name = 'tracked_head'", []),
    }
    .map(drop)
}
