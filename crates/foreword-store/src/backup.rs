//! Copies of the database: one complete file out, and back in as a recorded act.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use crate::audit::chain::{Anchor, Head, Linker};
use crate::audit::event::{Event, Outcome};
use crate::audit::heads::Heads;
use crate::audit::key::{AuditKey, private_file, random_suffix};
use crate::error::{InDatabase as _, StoreError};
use crate::journal::{self, beside};
use crate::place::locate;
use crate::reader::Reader;
use crate::store::{Options, Store};
use crate::{audit, schema};

/// The action of the entry that records a restore.
pub(crate) const RESTORE: &str = "store.restore";
/// How long to wait for a database that is being written.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most heads that one entry names.
const MAX_HEADS: usize = 200;

/// Entries of a log, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRange {
    /// The first.
    pub from: i64,
    /// The last.
    pub to: i64,
}

/// A backup that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// The end of its audit log.
    pub head: Head,
    /// Its size.
    pub bytes: u64,
}

/// A backup that was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// Where the replaced database is now, if there was one.
    pub replaced: Option<PathBuf>,
    /// The last entry of the backup's audit log.
    pub last_seq: i64,
    /// The entries that the log had, by the head file, and the backup does not.
    pub lost: Option<EntryRange>,
    /// The entry that records the restore.
    pub recorded: i64,
}

/// Who restores, and when.
#[derive(Debug, Clone, Copy)]
pub struct RestoreAct<'a> {
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// Such as `user:ada`.
    pub actor: &'a str,
    /// What the replaced database is called behind its own name, such as a date.
    pub suffix: &'a str,
}

/// The detail of the entry that records a restore.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RestoreDetail {
    /// The hashes of heads written down elsewhere that the restored log does not hold.
    pub(crate) heads: Vec<String>,
    /// The entries that were lost.
    pub(crate) lost: Option<EntryRange>,
}

impl Reader {
    /// Writes the whole database, as it is at this moment, into one file that only its owner can
    /// read. Writers do not have to stop.
    ///
    /// An existing file is replaced only with `overwrite`, and only by a complete backup.
    pub fn backup(&self, to: &Path, overwrite: bool) -> Result<BackupReport, StoreError> {
        if !overwrite && to.symlink_metadata().is_ok() {
            return Err(StoreError::BackupExists { path: to.to_path_buf() });
        }
        let same = to.canonicalize().is_ok_and(|to| to == self.path);
        if same || ["-wal", "-shm", "-journal"].iter().any(|end| to == beside(&self.path, end)) {
            return Err(StoreError::BackupOverDatabase { path: to.to_path_buf() });
        }
        let part = copy_beside(&self.connection(), &self.path, to)?;
        let written = (|| {
            let head = Reader::open(&part)?.head()?;
            let bytes =
                fs::metadata(&part).map_err(|error| StoreError::io("read", &part, error))?;
            fs::rename(&part, to).map_err(|error| StoreError::io("write", to, error))?;
            sync_directory(to);
            Ok(BackupReport { head, bytes: bytes.len() })
        })();
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }
}

/// Replaces the database with a backup and records that in its audit log.
///
/// The backup is checked before anything changes. The replaced database is kept beside the new one.
/// No other process may have the database open.
pub fn restore(
    backup: &Path,
    database: &Path,
    key: &AuditKey,
    heads: &Heads,
    anchors: &[Anchor],
    act: RestoreAct<'_>,
) -> Result<RestoreReport, StoreError> {
    let source = check_backup(backup, key)?;
    // The name by which the head file knows it, also where the file is gone.
    let database = locate(database)?;
    if source.path == database {
        return Err(StoreError::BackupOverDatabase { path: database });
    }
    let recorded = heads.recorded(key, &database)?;
    let end = source.head()?;
    let part = copy_beside(&source.connection(), &source.path, &database)?;
    drop(source);
    let upgraded = upgrade_copy(&part, key, heads);
    let replaced = match upgraded.and_then(|()| replace(&part, &database, act.suffix)) {
        Ok(replaced) => replaced,
        Err(error) => {
            let _ = fs::remove_file(&part);
            return Err(error);
        }
    };
    let store = Store::open_with(&database, key.clone(), heads.clone(), Options::default())?;
    let lost = match recorded {
        Some(recorded) => lost_entries(&store, &end, &recorded)?,
        None => None,
    };
    let unmet = store.verify(anchors)?.unmet;
    let detail = RestoreDetail {
        heads: unmet.iter().take(MAX_HEADS).map(ToString::to_string).collect(),
        lost,
    };
    let name = backup.file_name().unwrap_or(backup.as_os_str()).to_string_lossy();
    let event =
        Event::new(act.actor, RESTORE, name, Outcome::Done).with_detail(serde_json::json!(detail));
    let head = store.write(act.now_ms, |transaction| transaction.audit(&event))?;
    Ok(RestoreReport { replaced, last_seq: end.seq, lost, recorded: head.seq })
}

/// Opens a backup after making sure that it is a whole database of ours, made with this key.
fn check_backup(backup: &Path, key: &AuditKey) -> Result<Reader, StoreError> {
    let reader = Reader::open(backup)?;
    {
        let (connection, path) = (reader.connection(), &reader.path);
        let damaged = |detail| StoreError::Damaged { path: path.clone(), detail };
        let state: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).at(path)?;
        if state != "ok" {
            return Err(damaged(state));
        }
        if let Some(oddity) = schema::oddities(&connection).at(path)?.into_iter().next() {
            return Err(damaged(oddity.0));
        }
        let identity = audit::identity(&connection, path)?;
        if Linker::new(key).key_check(identity.log_id) != identity.key_check {
            return Err(StoreError::WrongKey { path: path.clone() });
        }
    }
    Ok(reader)
}

/// Brings the copy of a backup up to date, as it would be at its own time. In the place of the database it would be
/// compared with what was recorded since, and a backup of an earlier version could not be told from a database
/// that somebody set back: nothing in it would be sealed.
fn upgrade_copy(part: &Path, key: &AuditKey, heads: &Heads) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(part, flags).at(part)?;
    schema::upgrade(&mut copy, key, heads, part)?;
    copy.close().map_err(|(_, error)| error).at(part)
}

/// Copies a database into a new file in the directory of `target`; gives the path of the copy.
fn copy_beside(from: &Connection, from_path: &Path, target: &Path) -> Result<PathBuf, StoreError> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let part = target.with_file_name(format!(".{name}.{}.part", random_suffix()?));
    let file =
        private_file().open(&part).map_err(|error| StoreError::io("write", target, error))?;
    let copied = (|| {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut to = Connection::open_with_flags(&part, flags).at(&part)?;
        {
            let backup = Backup::new(from, &mut to).at(from_path)?;
            // All pages at once: one state of the database.
            match backup.step(-1).at(from_path)? {
                StepResult::Done => {}
                _ => return Err(StoreError::Busy { path: from_path.to_path_buf() }),
            }
        }
        // One file, readable also where nothing can be written.
        journal::use_rollback(&to, &part)?;
        to.close().map_err(|(_, error)| error).at(&part)?;
        file.sync_all().map_err(|error| StoreError::io("write", target, error))
    })();
    if copied.is_err() {
        let _ = fs::remove_file(&part);
    }
    copied.map(|()| part)
}

/// Puts the new file in the place of the database; gives where the old one is now.
fn replace(part: &Path, database: &Path, suffix: &str) -> Result<Option<PathBuf>, StoreError> {
    let mut replaced = None;
    if database.symlink_metadata().is_ok() {
        settle(database)?;
        let aside = free_name(database, suffix);
        let failed = |error| StoreError::io("move aside", database, error);
        // What could not be settled belongs to the old file, and must not be read with the new one.
        for end in ["-wal", "-journal"] {
            if beside(database, end).exists() {
                fs::rename(beside(database, end), beside(&aside, end)).map_err(failed)?;
            }
        }
        let _ = fs::remove_file(beside(database, "-shm"));
        // Linked, so that there is a database at every moment; moved where links do not exist.
        fs::hard_link(database, &aside)
            .or_else(|_| fs::rename(database, &aside))
            .map_err(failed)?;
        replaced = Some(aside);
    }
    fs::rename(part, database).map_err(|error| StoreError::io("write", database, error))?;
    sync_directory(database);
    Ok(replaced)
}

/// Makes one file of the database, which also tells whether another process has it open. One that is
/// damaged stays as it is.
fn settle(database: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let Ok(connection) = Connection::open_with_flags(database, flags) else { return Ok(()) };
    let settled = connection.busy_timeout(PATIENCE).at(database).and_then(|()| {
        match journal::use_rollback(&connection, database) {
            Err(StoreError::Damaged { .. }) => Ok(()),
            other => other,
        }
    });
    drop(connection);
    settled
}

/// A name beside the database that nothing has yet.
fn free_name(database: &Path, suffix: &str) -> PathBuf {
    let mut name = beside(database, &format!(".{suffix}"));
    let mut number = 1;
    while name.symlink_metadata().is_ok() {
        number += 1;
        name = beside(database, &format!(".{suffix}-{number}"));
    }
    name
}

/// The entries up to a recorded head that the log does not hold; `end` is the end of the backup's own.
fn lost_entries(
    store: &Store,
    end: &Head,
    recorded: &Head,
) -> Result<Option<EntryRange>, StoreError> {
    let newest = store.head()?;
    let reached = audit::reaches(&store.connection(), &newest, recorded).at(store.path())?;
    let first = if end.log_id == recorded.log_id { end.seq.saturating_add(1) } else { 1 };
    let range = EntryRange { from: first.min(recorded.seq), to: recorded.seq };
    Ok((!reached && recorded.seq > 0).then_some(range))
}

/// Makes a rename durable, where the system can.
fn sync_directory(file: &Path) {
    if let Some(directory) = file.parent() {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let _ = fs::File::open(directory).and_then(|directory| directory.sync_all());
    }
}
