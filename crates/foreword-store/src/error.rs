//! What can go wrong with the store, in words a person can act on.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::host::turn::{TurnNumber, TurnState};
use crate::skills::proposal::ProposalState;

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no database yet, and reading creates none.
    #[error("there is no database at {}", path.display())]
    NoDatabase {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is a file, but no data in it.
    #[error("the database {} is empty", path.display())]
    EmptyDatabase {
        /// The database.
        path: PathBuf,
    },
    /// The file is not a database, or not one that Foreword can trust to write to.
    #[error("the database {} is damaged: {detail}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A link, pipe or device stands in the place of a database or of a file beside it.
    #[error("{} is {kind}, and only a regular file is opened as a database", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The database was made by a newer version.
    #[error(
        "the database {} was made by a newer foreword (schema version {found}; this one supports up to {known})",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version of its layout.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The audit key is not the one the log was made with.
    #[error("the audit log in {} was not made with this key", path.display())]
    WrongKey {
        /// The database.
        path: PathBuf,
    },
    /// Another process kept the database locked for longer than the timeout.
    #[error("the database {} is in use by another process", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// No room is left on the disk.
    #[error("the disk is full: {} could not be written", path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
    },
    /// The file, its directory or its file system cannot be written.
    #[error("{} is read-only", path.display())]
    ReadOnly {
        /// What was to be written.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried: a verb such as `read`.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The database refused something that none of the other kinds describes.
    #[error("the database {} failed: {detail}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// In the words of the database.
        detail: String,
    },
    /// The system gave no random bytes.
    #[error("the system's random number generator failed: {detail}")]
    Random {
        /// In the words of the system.
        detail: String,
    },
    /// A backup would overwrite a file.
    #[error("{} already exists", path.display())]
    BackupExists {
        /// The file.
        path: PathBuf,
    },
    /// A backup would overwrite the database it is made of, or be restored over itself.
    #[error("{} is the database itself", path.display())]
    BackupOverDatabase {
        /// The file.
        path: PathBuf,
    },
    /// There is no audit key yet, and reading creates none.
    #[error("there is no audit key at {}", path.display())]
    NoKey {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Others than its owner can read or replace the audit key.
    #[error("the audit key is readable or replaceable by other users: {} has mode {mode:03o}", path.display())]
    KeyExposed {
        /// The key file, or the directory it lies in.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode it should have.
        wanted: u32,
    },
    /// The key file holds something else.
    #[error("{} is not an audit key", path.display())]
    KeyMalformed {
        /// The key file.
        path: PathBuf,
    },
    /// The key would lie where an agent can read it.
    #[error(
        "the configuration directory {} is inside the workspace {}",
        directory.display(), workspace.display()
    )]
    KeyInsideWorkspace {
        /// The configuration directory.
        directory: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// No proposal has this id, nor one that begins with it.
    #[error("there is no proposal `{id}`")]
    NoSuchProposal {
        /// What was asked for.
        id: String,
        /// The most similar id there is.
        nearest: Option<String>,
    },
    /// Several proposals begin with these characters.
    #[error("`{prefix}` matches several proposals: {}", candidates.join(", "))]
    AmbiguousProposal {
        /// What was asked for.
        prefix: String,
        /// The ids that begin with it; at most ten.
        candidates: Vec<String>,
    },
    /// The state changed in the meantime.
    #[error("the proposal `{id}` is {found}, not {expected}")]
    StateChanged {
        /// The proposal.
        id: String,
        /// The state it was expected to be in.
        expected: ProposalState,
        /// The state it is in.
        found: ProposalState,
    },
    /// A proposal brings more than may be stored.
    #[error("{what} is {bytes} bytes long; the limit for a proposal is {limit}")]
    TooLarge {
        /// The file or the proposal.
        what: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Too many proposals wait for a decision.
    #[error("{waiting} are waiting for a decision; the limit is {limit}")]
    TooManyPending {
        /// What waits, and how much of it.
        waiting: String,
        /// The limit.
        limit: String,
    },
    /// No memory has this id, nor one that begins with it.
    #[error("there is no memory `{id}`")]
    NoSuchMemory {
        /// What was asked for.
        id: String,
    },
    /// Several memories begin with these characters.
    #[error("`{prefix}` matches several memories: {}", candidates.join(", "))]
    AmbiguousMemory {
        /// What was asked for.
        prefix: String,
        /// The ids that begin with it; at most ten.
        candidates: Vec<String>,
    },
    /// The text of a memory is too long.
    #[error("the memory is {bytes} bytes long; the limit is {limit}")]
    MemoryTooLong {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Something about a memory is not as it has to be.
    #[error("the {what} of a memory must be {wanted}")]
    UnfitMemory {
        /// Which field.
        what: &'static str,
        /// What it has to be.
        wanted: &'static str,
    },
    /// What memories are found by is damaged: an answer could be wrong.
    #[error("the memory vectors in {} are damaged: {detail}", path.display())]
    MemoryDamaged {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// What the skill repository holds changed since it was read.
    #[error(
        "the skill repository was changed by another process: expected commit {}, found {}",
        expected.as_deref().unwrap_or("nothing"), found.as_deref().unwrap_or("nothing")
    )]
    TrackedMoved {
        /// The commit that was expected.
        expected: Option<String>,
        /// The commit that is recorded.
        found: Option<String>,
    },
    /// There is no session of this name.
    #[error("there is no session `{id}`")]
    NoSuchSession {
        /// What was asked for.
        id: String,
    },
    /// A session of this name is there already.
    #[error("session `{id}` already exists")]
    SessionExists {
        /// Its name.
        id: String,
    },
    /// A session does one turn at a time.
    #[error("turn {turn} of session `{session}` is still running")]
    TurnRunning {
        /// The session.
        session: String,
        /// The turn that is under way.
        turn: TurnNumber,
        /// Whose it is, as it was given when the turn began.
        owner: String,
    },
    /// A turn that is not under way cannot end.
    #[error(
        "turn {turn} of session `{session}` {}",
        found.map_or("does not exist".to_owned(), |found| format!("is {found}, not running"))
    )]
    TurnNotRunning {
        /// The session.
        session: String,
        /// The turn.
        turn: TurnNumber,
        /// What became of it, if there is such a turn.
        found: Option<TurnState>,
    },
    /// Nothing has this id, nor an id that begins with it.
    #[error("there is no {what} `{id}`")]
    NoSuch {
        /// What was looked for: `task`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// Several ids begin with these characters.
    #[error("`{prefix}` matches several ids: {}", candidates.join(", "))]
    Ambiguous {
        /// What was looked for: `task`.
        what: &'static str,
        /// What was asked for.
        prefix: String,
        /// The ids that begin with it; at most ten.
        candidates: Vec<String>,
    },
    /// It is decided already.
    #[error("the {what} `{id}` is already {found}")]
    Decided {
        /// What was to be decided: `refusal`.
        what: &'static str,
        /// Its id.
        id: String,
        /// What was decided.
        found: &'static str,
    },
    /// A row was added or altered by someone without the key, or set back to an earlier state.
    #[error("the {what} `{id}` was changed outside Foreword and is not used")]
    Unsealed {
        /// What it is: `schedule`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// A text is longer than it may be.
    #[error("the {what} is {bytes} bytes long; the limit is {limit}")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A field is not as it has to be.
    #[error("the {what} must be {wanted}")]
    Unfit {
        /// Which field.
        what: &'static str,
        /// What it has to be.
        wanted: &'static str,
    },
    /// No more of these are taken.
    #[error("the limit of {limit} {what} is reached")]
    TooMany {
        /// Of what: `open tasks`.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The writer has stopped and takes no more.
    #[error("the database writer has stopped")]
    WriterStopped,
    /// The database undid the changes of others together with one that failed.
    #[error("the database {} undid this change together with another one that failed: {detail}", path.display())]
    Undone {
        /// The database.
        path: PathBuf,
        /// Why the other failed.
        detail: String,
    },
    /// The transaction that carried this entry failed.
    #[error(transparent)]
    Batch(Arc<StoreError>),
}

impl StoreError {
    /// What to do about it, where that can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoDatabase { .. } => "nothing is stored in this workspace yet".to_owned(),
            Self::EmptyDatabase { .. } => "a copy made without its write-ahead log looks like this; \
                 restore a backup with `foreword restore FILE`, or delete the file to start a new \
                 database"
                .to_owned(),
            Self::Damaged { path, .. } => format!(
                "nothing was overwritten; restore a backup with `foreword restore FILE`, or move {} \
                 and the `-wal` and `-shm` files next to it aside to start a new database \
                 (the history of skills stays in the skill repository; pending proposals and the \
                 audit log stay in the moved file)",
                path.display()
            ),
            Self::NotAFile { .. } => {
                "remove it; a workspace from elsewhere must not bring a database of its own".to_owned()
            }
            Self::Newer { .. } => "install that version of foreword".to_owned(),
            Self::WrongKey { .. } => {
                "restore the `audit.key` that this log was made with; `foreword audit verify` \
                 tells whether the log itself was altered"
                    .to_owned()
            }
            Self::Busy { .. } => "wait for the other foreword to finish and try again".to_owned(),
            Self::DiskFull { .. } => {
                "free some space and try again; the next command completes or undoes what was interrupted"
                    .to_owned()
            }
            Self::ReadOnly { path } => {
                format!("make {} and its directory writable", path.display())
            }
            Self::BackupExists { .. } => "choose another file, or pass `--force`".to_owned(),
            Self::BackupOverDatabase { .. } => "choose another file".to_owned(),
            Self::NoKey { .. } => {
                "the first command that changes something creates it; if it was lost, earlier \
                 entries can no longer be verified"
                    .to_owned()
            }
            Self::KeyExposed { path, wanted, .. } => format!(
                "run `chmod {wanted:o} {}`; if others may have read it, move it and the database \
                 aside to start a new log",
                path.display()
            ),
            Self::KeyMalformed { path } => format!(
                "put {} back from a backup, or move it and the database aside to start a new log",
                path.display()
            ),
            Self::KeyInsideWorkspace { .. } => {
                "set FOREWORD_CONFIG_DIR to a directory outside the workspace".to_owned()
            }
            Self::NoSuchProposal { nearest, .. } => match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "see `foreword skill proposals`".to_owned(),
            },
            Self::AmbiguousProposal { .. } => "pass more characters of the ID".to_owned(),
            Self::StateChanged { .. } => "another process decided it in the meantime".to_owned(),
            Self::TooManyPending { .. } => {
                "approve or reject some of them: `foreword skill proposals` lists them".to_owned()
            }
            Self::NoSuchMemory { .. } => "see `foreword memory list`".to_owned(),
            Self::AmbiguousMemory { .. } => "pass more characters of the ID".to_owned(),
            Self::MemoryTooLong { .. } => "shorten it, or split it into several memories".to_owned(),
            Self::MemoryDamaged { .. } => {
                "the texts are intact; run `foreword memory reindex --all` to rebuild the vectors"
                    .to_owned()
            }
            Self::TrackedMoved { .. } => "try again".to_owned(),
            Self::NoSuchSession { .. } => {
                "see `foreword run --help` for valid session names".to_owned()
            }
            Self::SessionExists { .. } => "choose another name".to_owned(),
            Self::TurnRunning { .. } => {
                "wait until it ends; if its process is gone, the next `foreword run` or \
                 `foreword chat` ends it"
                    .to_owned()
            }
            Self::TurnNotRunning { .. } | Self::Decided { .. } => {
                "another process changed it first".to_owned()
            }
            Self::Ambiguous { .. } => "pass more characters of the ID".to_owned(),
            Self::Unsealed { .. } => {
                "run `foreword audit verify` to see everything that was changed".to_owned()
            }
            Self::TooLong { .. } => "shorten it".to_owned(),
            Self::TooMany { .. } => "finish or remove some of them first".to_owned(),
            Self::Undone { .. } => "try again".to_owned(),
            Self::Batch(error) => return error.hint(),
            Self::Io { path, source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                format!("check the owner and permissions of {}", path.display())
            }
            Self::Io { .. }
            | Self::Database { .. }
            | Self::Random { .. }
            | Self::TooLarge { .. }
            | Self::UnfitMemory { .. }
            | Self::NoSuch { .. }
            | Self::Unfit { .. }
            | Self::WriterStopped => return None,
        })
    }

    /// A failed file operation; a full disk and a read-only file system are told as such.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { action, path, source },
        }
    }

    /// A failure of the database, sorted by what a person can do about it.
    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, detail }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(_) => Self::Database { path, detail },
            // A row that does not read as what was written: the file was changed from outside.
            None => Self::Damaged { path, detail },
        }
    }
}

/// Says which database failed, at the edge where the words of SQLite end.
pub(crate) trait InDatabase<T> {
    fn at(self, path: &Path) -> Result<T, StoreError>;
}

impl<T> InDatabase<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::database(path, &error))
    }
}
