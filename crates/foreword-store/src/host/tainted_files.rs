//! Files that were written while their session held external content, until a person clears them.

use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::turn::TurnNumber;
use crate::reader::Reader;
use crate::rows;
use crate::text_limits;
use crate::transaction::Transaction;

/// The most tainted files that are kept by name; beyond that, name their directories.
pub const MAX_TAINTED_FILES: usize = 20_000;
/// The most bytes a path may have.
const MAX_PATH: usize = 4096;

/// A file or directory of the workspace whose content may come from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaintedFile {
    /// Relative to the workspace; a directory ends with `/`, and `./` is all of it.
    pub path: String,
    /// The blake3 digest of the tainted content; whatever it holds where there is none.
    #[serde(skip)]
    pub digest: Option<[u8; 32]>,
    /// How long that content is.
    pub size: u64,
    /// When the file system last changed it, in nanoseconds since 1970.
    #[serde(skip)]
    pub changed_at: i64,
    /// The session that wrote it.
    pub session: SessionId,
    /// In which turn.
    pub turn: Option<TurnNumber>,
    /// When it was noted, in milliseconds since 1970.
    pub at: i64,
}

/// Tainted files. No audit entry is written by these functions; the caller adds it in the same
/// transaction.
impl Transaction<'_> {
    /// Notes that files are tainted, in place of what was noted of the same paths.
    pub fn files_taint(&mut self, files: &[TaintedFile]) -> Result<(), StoreError> {
        let rows = self.rows();
        for file in files {
            text_limits::not_empty("path of a tainted file", &file.path, MAX_PATH)?;
            rows.change(
                "INSERT OR REPLACE INTO tainted_files (path, digest, size, changed_at, session, \
                 turn, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    &file.path,
                    file.digest,
                    rows::stored(file.size),
                    file.changed_at,
                    file.session.as_str(),
                    file.turn.map(|turn| rows::stored(turn.0)),
                    file.at,
                ),
            )?;
        }
        Ok(())
    }

    /// Forgets that a file is tainted, with every file of the same content.
    pub(crate) fn file_clear(&mut self, path: &str) -> Result<(), StoreError> {
        self.rows().change(
            "DELETE FROM tainted_files WHERE path = ?1 OR digest = \
             (SELECT digest FROM tainted_files WHERE path = ?1)",
            [path],
        )?;
        Ok(())
    }
}

/// Tainted files.
impl Reader {
    /// All tainted files by path.
    pub fn tainted_files(&self) -> Result<Vec<TaintedFile>, StoreError> {
        self.read(|rows| {
            rows.all(
                "SELECT path, digest, size, changed_at, session, turn, at FROM tainted_files \
                 ORDER BY path",
                [],
                |row| {
                    let turn: Option<i64> = row.get(5)?;
                    Ok(TaintedFile {
                        path: row.get(0)?,
                        digest: row.get(1)?,
                        size: rows::number(row, 2)?,
                        changed_at: row.get(3)?,
                        session: SessionId::stored(row.get(4)?),
                        turn: turn.and_then(|turn| u64::try_from(turn).ok()).map(TurnNumber),
                        at: row.get(6)?,
                    })
                },
            )
        })
    }
}
