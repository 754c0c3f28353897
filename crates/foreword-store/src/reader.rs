//! Reading the database: as it is, without making or changing anything.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};
use rustix::fs::{Mode, OFlags};

use crate::audit::chain::{Anchor, Head, Linker};
use crate::audit::event::Entry;
use crate::audit::heads::{HeadFile, Heads};
use crate::audit::key::AuditKey;
use crate::audit::verification::Verification;
use crate::audit::verify;
use crate::audit::{self, LogFilter};
use crate::error::{InDatabase as _, StoreError};
use crate::journal::{has_pending_changes, has_write_ahead_log};
use crate::memory::rows::MemoryRows;
use crate::place::locate;
use crate::rows::Rows;
use crate::schema;
use crate::skills::proposal::{Proposal, ProposalState, ProposalSummary};
use crate::skills::proposals;
use crate::skills::tracked::{self, TrackedFile, TrackedFiles};

/// What a file of SQLite begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The page cache of a connection that lives long; SQLite's own default is 2,000 KiB.
const LONG_LIVED_CACHE_KIB: i64 = 512;

/// A database that is read.
///
/// Reading sees what was last committed and never waits for a writer. It needs no key.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Mutex<Connection>,
    /// Absolute, links followed.
    pub(crate) path: PathBuf,
}

impl Reader {
    /// Opens a database that exists; creates nothing, also not in a directory that is read-only.
    pub fn open(database: &Path) -> Result<Self, StoreError> {
        let path = match locate(database) {
            Ok(path) if path.exists() => path,
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Err(StoreError::NoDatabase { path: database.to_path_buf() });
            }
            Err(error) => return Err(error),
            Ok(_) => return Err(StoreError::NoDatabase { path: database.to_path_buf() }),
        };
        if check_file(&path)? == Contents::Empty {
            return Err(StoreError::EmptyDatabase { path });
        }
        let connection = open_read_only(&path)?;
        if schema::version(&connection, &path)? == 0 {
            return Err(StoreError::EmptyDatabase { path });
        }
        Ok(Self { connection: Mutex::new(connection), path })
    }

    /// Where the database lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bounds the pages of the database that this connection keeps in memory, for a process that lives long. The
    /// system caches the file as well, so a small cache costs little.
    pub fn limit_page_cache(&self) -> Result<(), StoreError> {
        // A negative number is a size in KiB.
        self.connection().pragma_update(None, "cache_size", -LONG_LIVED_CACHE_KIB).at(&self.path)
    }

    /// Whether the database was made with the audit key in a configuration directory. Without a key there,
    /// it was not.
    pub fn is_made_by(&self, config_dir: &Path) -> Result<bool, StoreError> {
        let key = match AuditKey::load(config_dir) {
            Ok(key) => key,
            Err(StoreError::NoKey { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let identity = audit::identity(&self.connection(), &self.path)?;
        Ok(Linker::new(&key).key_check(identity.log_id) == identity.key_check)
    }

    /// The proposal with this id, or the only one whose id begins with it.
    pub fn proposal(&self, id: &str) -> Result<Proposal, StoreError> {
        proposals::find(&self.connection(), &self.path, id)
    }

    /// The proposals in a state, or all, oldest first and without the content of their files.
    pub fn proposals(
        &self,
        state: Option<ProposalState>,
    ) -> Result<Vec<ProposalSummary>, StoreError> {
        proposals::list(&self.connection(), &self.path, state)
    }

    /// The proposals whose change was begun and not finished, with their files.
    pub fn intents(&self) -> Result<Vec<Proposal>, StoreError> {
        proposals::intents(&self.connection(), &self.path)
    }

    /// What the skill repository held when it was last looked at.
    pub fn tracked(&self) -> Result<TrackedFiles, StoreError> {
        tracked::read(&self.connection(), &self.path, None)
    }

    /// The same, without rows that were not written with this key.
    pub fn tracked_with(&self, key: &AuditKey) -> Result<TrackedFiles, StoreError> {
        tracked::read(&self.connection(), &self.path, Some(key))
    }

    /// The commit at which [`tracked`](Self::tracked) was written down.
    pub fn tracked_head(&self) -> Result<Option<String>, StoreError> {
        tracked::head(&self.connection(), &self.path)
    }

    /// What is written down of one file.
    pub fn tracked_file(&self, path: &str) -> Result<Option<TrackedFile>, StoreError> {
        tracked::file(&self.connection(), &self.path, path)
    }

    /// Reads memories: `read` sees one state of the database, whatever others write meanwhile.
    /// `None` where the database is of a version without memories.
    ///
    /// `read` must not use this reader otherwise: it is busy until `read` returns.
    pub fn read_memories<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let connection = self.connection();
        let snapshot = connection.unchecked_transaction().at(&self.path)?;
        if schema::version(&snapshot, &self.path)? < schema::WITH_MEMORIES {
            return Ok(None);
        }
        read(&MemoryRows { connection: &snapshot, path: &self.path }).map(Some)
    }

    /// The end of the audit log.
    pub fn head(&self) -> Result<Head, StoreError> {
        audit::head(&self.connection(), &self.path)
    }

    /// Gives each entry of the log that the filter lets through to `each`, until it breaks.
    ///
    /// `each` must not use this reader: it is busy until the last entry.
    pub fn log(
        &self,
        filter: &LogFilter,
        each: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        audit::log(&self.connection(), &self.path, filter, each)
    }

    /// The entries of the log that the filter lets through.
    pub fn entries(&self, filter: &LogFilter) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        self.log(filter, |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })?;
        Ok(entries)
    }

    /// Checks the whole log against the key, the head file and the anchors.
    pub fn verify(
        &self,
        key: &AuditKey,
        heads: &Heads,
        anchors: &[Anchor],
    ) -> Result<Verification, StoreError> {
        // Before the database is looked at: a head is written down after its entry.
        let recorded = heads.read(key, &self.path)?;
        let aside = heads.moved_aside(&self.path);
        let connection = self.connection();
        // A copy at another place has no head file of its own, but its log may have one elsewhere.
        let elsewhere = match recorded {
            HeadFile::Missing => heads.furthest(key, audit::head(&connection, &self.path)?.log_id),
            _ => None,
        };
        let heads = verify::KnownHeads { recorded: &recorded, elsewhere, aside, anchors };
        verify::run(&connection, &self.path, key, heads)
    }

    /// Reads what the host keeps; a database of a version before a table has nothing of it.
    pub(crate) fn read<T: Default>(
        &self,
        read: impl FnOnce(Rows<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let connection = self.connection();
        read(Rows { connection: &connection, path: &self.path }).or_else(|error| {
            // Looked at only then, so that reading costs one statement.
            match schema::version(&connection, &self.path) {
                Ok(version) if version < schema::VERSION => Ok(T::default()),
                _ => Err(error),
            }
        })
    }

    /// The same, where several statements must see one state of the database.
    pub(crate) fn read_together<T: Default>(
        &self,
        read: impl FnOnce(Rows<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read(|rows| {
            let snapshot = rows.connection.unchecked_transaction().at(rows.path)?;
            read(Rows { connection: &snapshot, path: rows.path })
        })
    }

    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic while holding it leaves no transaction behind: that is rolled back when dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the file holds, before SQLite is let near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Nothing at all: just created, or created by a process that was killed then.
    Empty,
    /// Something that begins as a database does.
    Database,
}

/// Looks at the first bytes.
///
/// SQLite would take an empty file with a log beside it for a new database, and could hide a
/// damaged page behind its write-ahead log.
pub(crate) fn check_file(path: &Path) -> Result<Contents, StoreError> {
    let damaged =
        |detail: &str| StoreError::Damaged { path: path.to_path_buf(), detail: detail.to_owned() };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|error| StoreError::io("open", path, error.into()))?;
    let file = File::from(file);
    let metadata = file.metadata().map_err(|error| StoreError::io("look at", path, error))?;
    if !metadata.is_file() {
        return Err(damaged("it is not a file"));
    }
    let mut start = Vec::with_capacity(100);
    let read = |start: &mut Vec<u8>| {
        let read = (&file).take(100).read_to_end(start);
        read.map(drop).map_err(|error| StoreError::io("read", path, error))
    };
    read(&mut start)?;
    if start.is_empty() {
        if !has_write_ahead_log(path) {
            return Ok(Contents::Empty);
        }
        // Another process may have made it since: the file is written before the log.
        read(&mut start)?;
        if start.is_empty() {
            return Err(damaged("it is empty, but a write-ahead log lies beside it"));
        }
    }
    if !start.starts_with(MAGIC) || start.len() < 100 {
        return Err(damaged("it is not an SQLite database"));
    }
    Ok(Contents::Database)
}

/// Settings of every connection: strict about what a file from elsewhere may make us do.
pub(crate) fn configure(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(timeout)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Reading leaves everything as it is; a `Store` empties the write-ahead log when it is dropped.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// Opens to read only, from the place itself or, where nothing can be written there, without locks.
fn open_read_only(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).at(path)?;
    configure(&connection, Duration::from_secs(10)).at(path)?;
    let looked_at = connection.query_row("SELECT 1 FROM sqlite_schema", [], |_| Ok(()));
    let cannot_lock = looked_at.is_err_and(|error| {
        matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
    });
    if !cannot_lock {
        return Ok(connection);
    }
    // Without a log of changes the file is complete, and who cannot write here need not fear that
    // it changes while it is read.
    if has_pending_changes(path) {
        return Err(StoreError::ReadOnly { path: path.to_path_buf() });
    }
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable_uri(path), flags).at(path)?;
    configure(&connection, Duration::from_secs(10)).at(path)?;
    Ok(connection)
}

/// The name by which SQLite reads a file that does not change.
fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            // Writing to a string does not fail.
            _ => drop(write!(uri, "%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}
