//! A database that is written: one transaction at a time, and the head written down after each.

use std::io::ErrorKind;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::audit;
use crate::audit::chain::{Anchor, Linker};
use crate::audit::event::{Event, Outcome};
use crate::audit::expected_heads::{ACCEPT, Acceptance};
use crate::audit::heads::Heads;
use crate::audit::key::{AuditKey, private_file};
use crate::audit::verification::Verification;
use crate::error::{InDatabase as _, StoreError};
use crate::journal::{self, Journal};
use crate::place::locate;
use crate::reader::{Contents, Reader, check_file, configure};
use crate::schema;
use crate::transaction::Transaction;

/// The most heads in the detail of one entry.
const ACCEPTED_AT_ONCE: usize = 100;
/// The most characters of the reason that are kept.
const MAX_REASON: usize = 500;

/// What survives a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Everything that was committed.
    #[default]
    Durable,
    /// A consistent database, perhaps without the last commits. For tests.
    Fast,
}

/// How a database is opened.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What survives a loss of power.
    pub durability: Durability,
    /// How long to wait for other writers.
    pub busy_timeout: Duration,
    /// Which journal to use.
    pub journal: Journal,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Durable,
            busy_timeout: Duration::from_secs(10),
            journal: Journal::Auto,
        }
    }
}

/// A database that is written and read. Safe to share between threads and processes.
#[derive(Debug)]
pub struct Store {
    reader: Reader,
    key: AuditKey,
    heads: Heads,
    /// Why the head could not be written down after the last commit.
    head_problem: Mutex<Option<String>>,
}

impl Deref for Store {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl Store {
    /// Opens a database, or makes one that only its owner can read. The directory must exist.
    pub fn open(database: &Path, key: AuditKey, heads: Heads) -> Result<Self, StoreError> {
        Self::open_with(database, key, heads, Options::default())
    }

    /// As [`Store::open`], with options.
    pub fn open_with(
        database: &Path,
        key: AuditKey,
        heads: Heads,
        options: Options,
    ) -> Result<Self, StoreError> {
        let created = create_file(database)?;
        let path = locate(database)?;
        if check_file(&path)? == Contents::Empty && !created {
            check_never_filled(&path, &key, &heads)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(&path, flags).at(&path)?;
        configure(&connection, options.busy_timeout).at(&path)?;
        // Before anything is written: a file of another program stays as it is.
        schema::version(&connection, &path)?;
        journal::configure(&connection, &path, options)?;
        schema::migrate(&mut connection, &key, &heads, &path)?;
        if let Some(oddity) = schema::oddities(&connection).at(&path)?.into_iter().next() {
            return Err(StoreError::Damaged { path, detail: oddity.0 });
        }
        let identity = audit::identity(&connection, &path)?;
        if Linker::new(&key).key_check(identity.log_id) != identity.key_check {
            return Err(StoreError::WrongKey { path });
        }
        Ok(Self {
            reader: Reader { connection: Mutex::new(connection), path },
            key,
            heads,
            head_problem: Mutex::new(None),
        })
    }

    /// Carries out one transaction: all that `change` does happens, or none of it.
    ///
    /// Waits for other writers first. After the commit the head of the log is written down.
    /// `change` must not use this store otherwise: it is busy until `change` returns.
    pub fn write<T, E: From<StoreError>>(
        &self,
        now_ms: i64,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.reader.connection();
        let path = &self.reader.path;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).at(path)?;
        let mut write = Transaction::new(&transaction, path, &self.key, &self.heads, now_ms);
        let value = change(&mut write)?;
        let advanced = write.advanced();
        transaction.commit().at(path)?;
        if let Some((head, lost)) = advanced {
            let result = self.heads.advance(&self.key, path, head, lost);
            // The change is made: it would be wrong to report it as failed.
            *self.head_problem.lock().unwrap_or_else(PoisonError::into_inner) =
                result.err().map(|error| error.to_string());
        }
        Ok(value)
    }

    /// Moves what the write-ahead log holds into the database file, as far as that is possible
    /// without waiting. For moments in which nothing else is to be done.
    pub fn checkpoint(&self) {
        journal::checkpoint(&self.reader.connection(), false);
    }

    /// Lets the database grow no more, as a full disk would.
    #[doc(hidden)]
    pub fn limit_pages_for_tests(&self) {
        let connection = self.reader.connection();
        let pages = connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0));
        let _ = connection.pragma_update(None, "max_page_count", pages.unwrap_or(1));
    }

    /// The key it writes with.
    #[must_use]
    pub fn key(&self) -> &AuditKey {
        &self.key
    }

    /// Why the head of the log could not be written down after the last change, if it could not.
    ///
    /// The change itself was made; only a later truncation could go unnoticed.
    #[must_use]
    pub fn head_problem(&self) -> Option<String> {
        self.head_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks the whole log against the key, the head file and the anchors.
    pub fn verify(&self, anchors: &[Anchor]) -> Result<Verification, StoreError> {
        self.reader.verify(&self.key, &self.heads, anchors)
    }

    /// Accepts that the log does not hold heads that were written down elsewhere, as after a person
    /// began a new log or restored an older state; gives their number.
    ///
    /// The log records the acceptance. Altered entries cannot be accepted.
    pub fn accept(
        &self,
        now_ms: i64,
        actor: &str,
        reason: &str,
        anchors: &[Anchor],
    ) -> Result<usize, StoreError> {
        let unmet = self.verify(anchors)?.unmet;
        self.write(now_ms, |write| {
            for heads in unmet.chunks(ACCEPTED_AT_ONCE) {
                let acceptance = Acceptance {
                    heads: heads.iter().map(ToString::to_string).collect(),
                    reason: reason.chars().take(MAX_REASON).collect(),
                };
                let event = Event::new(actor, ACCEPT, "heads", Outcome::Done)
                    .with_detail(serde_json::json!(acceptance));
                write.audit(&event)?;
            }
            Ok(unmet.len())
        })
    }
}

impl Drop for Store {
    /// Leaves one complete file, so that it can be copied on its own.
    fn drop(&mut self) {
        if journal::has_write_ahead_log(&self.reader.path) {
            let connection = self.reader.connection();
            // Another process that uses the database does this later.
            let _ = connection.busy_timeout(Duration::ZERO);
            journal::checkpoint(&connection, true);
        }
    }
}

/// Makes an empty file that only its owner can read; `false` where there is a file.
fn create_file(path: &Path) -> Result<bool, StoreError> {
    match private_file().open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(StoreError::io("open", path, error)),
    }
}

/// Refuses an empty file in the place of a database with entries: that database was lost, and a new
/// one would hide it.
fn check_never_filled(path: &Path, key: &AuditKey, heads: &Heads) -> Result<(), StoreError> {
    // Another process may have filled the file since: a head is written after its entry.
    match heads.recorded(key, path)? {
        Some(head) if head.seq > 0 && check_file(path)? == Contents::Empty => {
            Err(StoreError::Damaged {
                path: path.to_path_buf(),
                detail: format!("it is empty, but its head file names entry {}", head.seq),
            })
        }
        _ => Ok(()),
    }
}
