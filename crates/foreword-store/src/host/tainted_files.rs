//! Files that were written while their session held external content, until a person clears them.
//!
//! Each change of the list puts a seal of the whole list into the chain, so that a row that is missing is
//! seen as well as one that was altered. While the list does not match its last seal, every file counts as
//! tainted; the next change writes that down, for a person to clear.

use serde::Serialize;
use serde_json::json;

use crate::audit::event::{Event, Outcome};
use crate::audit::key::AuditKey;
use crate::audit::origins::{self, TAINT_LIST};
use crate::audit::seal;
use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::turn::TurnNumber;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most tainted files that are kept by name; beyond that, name their directories.
pub const MAX_TAINTED_FILES: usize = 20_000;
/// The most bytes a path may have.
const MAX_PATH: usize = 4096;
/// What the list is called in faults.
pub(crate) const WHAT: &str = "list of tainted files";
/// The subject of its entries in the chain.
pub(crate) const LIST: &str = "tainted files";
/// The whole workspace.
const EVERYTHING: &str = "./";
/// Stands for the session where none wrote the files.
const NO_SESSION: &str = "none";

const COLUMNS: &str = "path, digest, size, changed_at, session, turn, at";

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

/// Tainted files. The entries that vouch for the list are written here; those that say what happened are
/// added by the caller, in the same transaction.
impl Transaction<'_> {
    /// Notes that files are tainted, in place of what was noted of the same paths.
    pub fn files_taint(&mut self, files: &[TaintedFile]) -> Result<(), StoreError> {
        self.check_list()?;
        self.insert_files(files)?;
        self.seal_list()
    }

    /// Writes down that every file is tainted if the list was altered; whether it was.
    pub fn files_check(&mut self) -> Result<bool, StoreError> {
        let is_altered = !are_genuine(self.rows(), self.key())?;
        if is_altered {
            self.check_list()?;
            self.seal_list()?;
        }
        Ok(is_altered)
    }

    /// Forgets that a file is tainted, with every file of the same content.
    pub(crate) fn file_clear(&mut self, path: &str) -> Result<(), StoreError> {
        // Clearing the whole workspace is how a person settles that the list was altered.
        if path != EVERYTHING {
            self.check_list()?;
        }
        self.rows().change(
            "DELETE FROM tainted_files WHERE path = ?1 OR digest = \
             (SELECT digest FROM tainted_files WHERE path = ?1)",
            [path],
        )?;
        self.seal_list()
    }

    fn check_list(&mut self) -> Result<(), StoreError> {
        if are_genuine(self.rows(), self.key())? {
            return Ok(());
        }
        let everything = everything(self.now_ms());
        self.insert_files(&[everything])
    }

    fn seal_list(&mut self) -> Result<(), StoreError> {
        let rows = self.rows();
        let seal = seal_of(rows, self.key())?;
        let count = rows.count("SELECT count(*) FROM tainted_files", [])?;
        let event = Event::new("host", TAINT_LIST, LIST, Outcome::Done)
            .with_detail(json!({ "seal": seal, "count": count }));
        self.audit(&event).map(drop)
    }

    fn insert_files(&self, files: &[TaintedFile]) -> Result<(), StoreError> {
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
}

fn everything(at: i64) -> TaintedFile {
    TaintedFile {
        path: EVERYTHING.to_owned(),
        digest: None,
        size: 0,
        changed_at: 0,
        session: SessionId::stored(NO_SESSION.to_owned()),
        turn: None,
        at,
    }
}

/// Whether the list is as its last entry in the chain says.
pub(crate) fn are_genuine(rows: Rows<'_>, key: &AuditKey) -> Result<bool, StoreError> {
    match origins::files_seal(rows)? {
        Some(seal) => Ok(seal == seal_of(rows, key)?),
        None => Ok(rows.count("SELECT count(*) FROM tainted_files", [])? == 0),
    }
}

fn seal_of(rows: Rows<'_>, key: &AuditKey) -> Result<String, StoreError> {
    let statement = format!("SELECT {COLUMNS} FROM tainted_files ORDER BY path");
    Ok(seal::of_all(rows, key, WHAT, &statement)?.to_string())
}

/// Tainted files.
impl Reader {
    /// All tainted files by path; `./` is among them if the list was altered.
    pub fn tainted_files(&self, key: &AuditKey) -> Result<Vec<TaintedFile>, StoreError> {
        self.read_together(|rows| {
            let statement = format!("SELECT {COLUMNS} FROM tainted_files ORDER BY path");
            let mut files = rows.all(&statement, [], |row| {
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
            })?;
            if !are_genuine(rows, key)? && files.iter().all(|file| file.path != EVERYTHING) {
                let at = files.partition_point(|file| file.path.as_str() < EVERYTHING);
                files.insert(at, everything(0));
            }
            Ok(files)
        })
    }

    /// Whether the list of tainted files is as Foreword wrote it.
    pub fn tainted_files_are_sealed(&self, key: &AuditKey) -> Result<bool, StoreError> {
        self.read_together(|rows| are_genuine(rows, key))
    }
}
