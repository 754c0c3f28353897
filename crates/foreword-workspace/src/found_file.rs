//! What the file system says about a file before anyone opens it.

use std::fs::Metadata;
use std::path::PathBuf;

use crate::error::WorkspaceError;

/// What changes when a file does, as far as a file system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FileStamp {
    /// The size in bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When anything about it changed, which no program can set; 0 where that is not known.
    pub changed: i64,
    /// Its number in the file system; 0 where that is not known.
    pub file: u64,
    /// The device it lies on; 0 where that is not known.
    pub device: u64,
}

/// A file that was found and not yet read.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) kind: FileKind,
    pub(crate) stamp: FileStamp,
    /// Where it is, if that is not plainly where its path says.
    pub(crate) resolved: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Regular,
    Directory,
    /// A pipe, socket or device.
    Special,
}

impl FoundFile {
    pub(crate) fn new(meta: &Metadata, resolved: Option<PathBuf>) -> Self {
        Self { kind: FileKind::of(meta), stamp: FileStamp::of(meta), resolved }
    }
}

impl FileKind {
    pub(crate) fn of(meta: &Metadata) -> Self {
        if meta.is_file() {
            Self::Regular
        } else if meta.is_dir() {
            Self::Directory
        } else {
            Self::Special
        }
    }

    /// Whether a file of this kind and size may be opened at all.
    pub(crate) fn check(self, size: u64, shown: &str, limit: u64) -> Result<(), WorkspaceError> {
        let path = || shown.to_owned();
        match self {
            Self::Directory => Err(WorkspaceError::IsDirectory { path: path() }),
            Self::Special => Err(WorkspaceError::NotRegular { path: path() }),
            Self::Regular if size > limit => {
                Err(WorkspaceError::TooLarge { path: path(), size, limit })
            }
            Self::Regular => Ok(()),
        }
    }
}

impl FileStamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            size: meta.len(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            file: meta.ino(),
            device: meta.dev(),
        }
    }

    /// The same from the system call itself, whose fields have other types on other systems.
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_fallible_conversions,
        reason = "the types of these fields differ between systems"
    )]
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanoseconds(
                i64::try_from(stat.st_mtime).unwrap_or(0),
                i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
            ),
            changed: nanoseconds(
                i64::try_from(stat.st_ctime).unwrap_or(0),
                i64::try_from(stat.st_ctime_nsec).unwrap_or(0),
            ),
            file: stat.st_ino,
            device: u64::try_from(stat.st_dev).unwrap_or(0),
        }
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
