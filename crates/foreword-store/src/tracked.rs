//! What the skill repository holds, written down so that a build need not open the repository.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::{InDatabase as _, StoreError};

/// A file of the skill repository, and how it got there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
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
}

/// What the skill repository held at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackedSet {
    /// The commit; `None` when nothing was written down yet.
    pub head: Option<String>,
    /// Its files by path.
    pub files: Vec<Tracked>,
}

pub(crate) fn read(connection: &Connection, path: &Path) -> Result<TrackedSet, StoreError> {
    // One statement, one state of the database: head and files belong together.
    let head_and_files = || -> rusqlite::Result<TrackedSet> {
        let mut statement = connection.prepare_cached(
            "SELECT (SELECT value FROM meta WHERE name = 'tracked_head'), path, digest, blob, \
             commit_id, changed_by, changed_at, proposal \
             FROM (SELECT 1) LEFT JOIN tracked ON true ORDER BY path",
        )?;
        let mut rows = statement.query([])?;
        let mut set = TrackedSet::default();
        while let Some(row) = rows.next()? {
            set.head = row.get(0)?;
            let Some(path) = row.get(1)? else { continue };
            set.files.push(Tracked {
                path,
                digest: row.get(2)?,
                blob: row.get(3)?,
                commit: row.get(4)?,
                by: row.get(5)?,
                at: row.get(6)?,
                proposal: row.get(7)?,
            });
        }
        Ok(set)
    };
    head_and_files().at(path)
}

/// The commit alone, for whoever only asks whether anything changed.
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
) -> Result<Option<Tracked>, StoreError> {
    let read = || {
        let mut statement = connection.prepare_cached(
            "SELECT path, digest, blob, commit_id, changed_by, changed_at, proposal \
             FROM tracked WHERE path = ?1",
        )?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Tracked {
                path: row.get(0)?,
                digest: row.get(1)?,
                blob: row.get(2)?,
                commit: row.get(3)?,
                by: row.get(4)?,
                at: row.get(5)?,
                proposal: row.get(6)?,
            })
        };
        statement.query_row([path], row).optional()
    };
    read().at(database)
}

pub(crate) fn replace(
    connection: &Connection,
    path: &Path,
    head: Option<&str>,
    rows: &[Tracked],
) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM tracked", [])
        .and_then(|_| put(connection, rows))
        .and_then(|()| set_head(connection, head))
        .at(path)
}

pub(crate) fn update(
    connection: &Connection,
    path: &Path,
    old_head: Option<&str>,
    new_head: &str,
    changed: &[Tracked],
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
        put(connection, changed)?;
        set_head(connection, Some(new_head))
    };
    apply().at(path)
}

fn put(connection: &Connection, rows: &[Tracked]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO tracked \
         (path, digest, blob, commit_id, changed_by, changed_at, proposal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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
        ))?;
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
