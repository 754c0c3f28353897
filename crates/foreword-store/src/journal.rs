//! How the database survives a crash: a write-ahead log, or a rollback journal on file systems that
//! several machines can mount.
//!
//! The write-ahead log needs memory that all its users share. Over a network there is none: two
//! machines would corrupt the file. The rollback journal is slower and needs nothing but locks.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::{InDatabase as _, StoreError};
use crate::store::{Durability, Options};

/// Which journal to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Journal {
    /// A write-ahead log, except on a network file system.
    #[default]
    Auto,
    /// A rollback journal, whatever the file system.
    Rollback,
}

/// Something about where the database lies that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreWarning {
    /// The database lies on a file system that other machines may use at the same time.
    NetworkFileSystem {
        /// The database.
        path: PathBuf,
        /// What the file system is called: `nfs`.
        file_system: &'static str,
    },
}

impl StoreWarning {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NetworkFileSystem { .. } => {
                "keep the workspace on a local disk, or use it from one machine at a time"
            }
        }
    }
}

impl fmt::Display for StoreWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NetworkFileSystem { path, file_system } => write!(
                f,
                "{} is on a network file system ({file_system}); using a rollback journal, which \
                 is slower",
                path.display()
            ),
        }
    }
}

/// What to warn about before a database at this place is used; the file need not exist yet.
#[must_use]
pub fn storage_warning(database: &Path) -> Option<StoreWarning> {
    let file_system = network_file_system(file_system_type(database)?)?;
    Some(StoreWarning::NetworkFileSystem { path: database.to_path_buf(), file_system })
}

/// The name of a network file system by the number that `statfs` gives; `None` for a local one.
///
/// FUSE counts as one: sshfs and the shared folders of virtual machines cannot be told apart from
/// local file systems.
fn network_file_system(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "nfs",
        0x517b | 0xfe53_4d42 => "smb",
        0xff53_4d42 => "cifs",
        0x0102_1997 => "9p",
        0x6573_5546 => "fuse",
        0x00c3_6400 => "ceph",
        0x5346_414f | 0x6b41_4653 => "afs",
        0x0bd0_0bd0 => "lustre",
        0x0116_1970 => "gfs2",
        0x7461_636f => "ocfs2",
        0x786f_4256 => "vboxsf",
        _ => return None,
    })
}

/// The number of the file system a path is on, or its directory where the file does not exist.
#[cfg(target_os = "linux")]
fn file_system_type(path: &Path) -> Option<u64> {
    let status = path.ancestors().find_map(|path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        rustix::fs::statfs(path).ok()
    })?;
    // The kernel has 32 bits; some platforms sign-extend them.
    #[allow(clippy::unnecessary_cast, reason = "the type differs between platforms")]
    Some(status.f_type as u64 & 0xffff_ffff)
}

#[cfg(not(target_os = "linux"))]
fn file_system_type(_path: &Path) -> Option<u64> {
    None
}

/// Sets the journal and what survives a loss of power.
pub(crate) fn configure(
    connection: &Connection,
    path: &Path,
    options: Options,
) -> Result<(), StoreError> {
    let synchronous = match options.durability {
        Durability::Durable => "FULL",
        Durability::Fast => "OFF",
    };
    connection.pragma_update(None, "synchronous", synchronous).at(path)?;
    // What is deleted is overwritten, so that nothing of it stays in free pages.
    connection.pragma_update(None, "secure_delete", true).at(path)?;
    let rollback = options.journal == Journal::Rollback || storage_warning(path).is_some();
    if rollback {
        return use_rollback(connection, path);
    }
    use_write_ahead_log(connection, path, options.busy_timeout)?;
    connection.pragma_update(None, "journal_size_limit", 8 * 1024 * 1024).at(path)
}

/// Switches to a write-ahead log. SQLite does not wait when another process does the same to a new
/// database, so the waiting is done here.
fn use_write_ahead_log(
    connection: &Connection,
    path: &Path,
    patience: Duration,
) -> Result<(), StoreError> {
    let start = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL").at(path) {
            Err(StoreError::Busy { .. }) if start.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

/// Switches to a rollback journal. With a write-ahead log that works only while nothing else has the
/// database open, and leaves one complete file.
pub(crate) fn use_rollback(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode: String =
        connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0)).at(path)?;
    if mode == "delete" { Ok(()) } else { Err(StoreError::Busy { path: path.to_path_buf() }) }
}

/// Moves what the write-ahead log holds into the database file, as far as readers allow.
///
/// With `truncate` the log is emptied too, so that the file can be copied or replaced on its own.
/// What cannot be moved now is moved later, so a failure is not reported.
pub(crate) fn checkpoint(connection: &Connection, truncate: bool) {
    let mode = if truncate { "TRUNCATE" } else { "PASSIVE" };
    let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
}

/// A file that SQLite keeps beside the database: `foreword.db-wal`.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether changes lie beside the database that are not in it yet.
pub(crate) fn has_pending_changes(database: &Path) -> bool {
    has_write_ahead_log(database) || is_filled(&beside(database, "-journal"))
}

/// Whether a write-ahead log with changes lies beside the database.
pub(crate) fn has_write_ahead_log(database: &Path) -> bool {
    is_filled(&beside(database, "-wal"))
}

fn is_filled(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        for (magic, name) in [
            (0x6969, "nfs"),
            (0xff53_4d42, "cifs"),
            (0xfe53_4d42, "smb"),
            (0x0102_1997, "9p"),
            (0x6573_5546, "fuse"),
        ] {
            assert_eq!(network_file_system(magic), Some(name));
        }
        // ext4, btrfs, xfs, tmpfs, overlayfs, zfs.
        for local in [0xef53, 0x9123_683e, 0x5846_5342, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(network_file_system(local), None, "{local:x}");
        }
    }

    #[test]
    fn the_warning_says_what_to_do() {
        let path = PathBuf::from("/mnt/w/.foreword/foreword.db");
        let warning = StoreWarning::NetworkFileSystem { path, file_system: "nfs" };
        assert_eq!(
            warning.to_string(),
            "/mnt/w/.foreword/foreword.db is on a network file system (nfs); using a rollback \
             journal, which is slower"
        );
        assert!(warning.hint().contains("local disk"));
    }
}
