//! Head files: where each log ended, written down beside the key and outside every workspace.
//!
//! A log that was cut off, or replaced by another, does not reach the head that was written down.
//! A head that no longer fits its log is kept, so that going on with the log hides nothing.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::audit::chain::{Head, LogId};
use crate::audit::key::{AuditKey, create_private_dir, private_file, random_suffix};
use crate::error::StoreError;

/// What a head file begins with.
const MARK: &str = "foreword-audit-head-1";
/// The most bytes that are read of a head file.
const MAX_BYTES: u64 = 64 * 1024;
/// The most head files that are searched for another copy of a log.
const MAX_FILES: usize = 10_000;
/// The most heads that are kept of logs that were cut off or replaced.
const MAX_KEPT: usize = 64;

/// The directory of the head files.
#[derive(Debug, Clone)]
pub struct Heads {
    directory: PathBuf,
}

/// What a head file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Where the log ended last.
    pub(crate) head: Option<Head>,
    /// Heads that their log no longer reached.
    pub(crate) kept: Vec<Head>,
}

/// What became of reading a head file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadFile {
    /// There is none.
    Missing,
    /// It does not bear the seal of the key.
    Unreadable,
    /// It is as it was written.
    Sealed(Record),
}

impl Heads {
    /// The head files of this configuration directory.
    #[must_use]
    pub fn new(config_dir: &Path) -> Self {
        Self { directory: config_dir.join("heads") }
    }

    /// The head file of a database.
    #[must_use]
    pub fn file(&self, database: &Path) -> PathBuf {
        self.directory.join(format!("{}.head", name_of(database)))
    }

    /// Where the log of a database ended, as its head file says; `None` without a readable one.
    pub fn recorded(&self, key: &AuditKey, database: &Path) -> Result<Option<Head>, StoreError> {
        Ok(match self.read(key, database)? {
            HeadFile::Sealed(record) => record.head,
            HeadFile::Missing | HeadFile::Unreadable => None,
        })
    }

    pub(crate) fn read(&self, key: &AuditKey, database: &Path) -> Result<HeadFile, StoreError> {
        let path = self.file(database);
        let mut text = Vec::new();
        match File::open(&path) {
            Ok(file) => file
                .take(MAX_BYTES)
                .read_to_end(&mut text)
                .map_err(|error| StoreError::io("read", &path, error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HeadFile::Missing),
            Err(error) => return Err(StoreError::io("read", &path, error)),
        };
        // As after a loss of power: it is not made durable on its own.
        if text.is_empty() {
            return Ok(HeadFile::Missing);
        }
        Ok(std::str::from_utf8(&text)
            .ok()
            .and_then(|text| parse(key, &name_of(database), text))
            .map_or(HeadFile::Unreadable, HeadFile::Sealed))
    }

    /// Writes down a new head; one that is behind the head already there changes nothing.
    ///
    /// `lost` is the head that the log did not reach any more when the new one was made.
    pub(crate) fn advance(
        &self,
        key: &AuditKey,
        database: &Path,
        new: Head,
        lost: Option<Head>,
    ) -> Result<(), StoreError> {
        create_private_dir(&self.directory)?;
        let _lock = self.lock()?;
        let path = self.file(database);
        let mut record = match self.read(key, database)? {
            HeadFile::Sealed(record) => record,
            HeadFile::Missing => Record::default(),
            HeadFile::Unreadable => {
                let aside = aside(&path);
                if !aside.exists() {
                    fs::rename(&path, &aside)
                        .map_err(|error| StoreError::io("move aside", &path, error))?;
                }
                Record::default()
            }
        };
        if let Some(head) = record.head {
            if Some(head) == lost {
                if !record.kept.contains(&head) && record.kept.len() < MAX_KEPT {
                    record.kept.push(head);
                }
            } else if head.log_id == new.log_id && head.seq >= new.seq {
                return Ok(());
            }
        }
        record.head = Some(new);
        self.replace(&path, &render(key, &name_of(database), &record))
    }

    /// The furthest head of a log in the head files of all databases.
    pub(crate) fn furthest(&self, key: &AuditKey, log_id: LogId) -> Option<Head> {
        let files = fs::read_dir(&self.directory).ok()?;
        let heads = files.flatten().take(MAX_FILES).filter_map(|file| {
            let path = file.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".head")?;
            let mut text = String::new();
            File::open(&path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
            parse(key, name, &text)?.head.filter(|head| head.log_id == log_id)
        });
        heads.max_by_key(|head| head.seq)
    }

    /// Whether a head file that could not be read was moved aside.
    pub(crate) fn moved_aside(&self, database: &Path) -> Option<PathBuf> {
        Some(aside(&self.file(database))).filter(|path| path.exists())
    }

    fn lock(&self) -> Result<File, StoreError> {
        let path = self.directory.join("lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| StoreError::io("open", &path, error))?;
        file.lock().map_err(|error| StoreError::io("lock", &path, error))?;
        Ok(file)
    }

    fn replace(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        let temporary = self.directory.join(format!(".new.{}", random_suffix()?));
        let written = private_file()
            .open(&temporary)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&temporary, path));
        written.map_err(|error| {
            // Nothing more can be done about a temporary file that stays.
            let _ = fs::remove_file(&temporary);
            StoreError::io("write", path, error)
        })
    }
}

/// A short name for a database by its path, which tells nothing to who lists the directory.
fn name_of(database: &Path) -> String {
    let hash = blake3::hash(database.as_os_str().as_encoded_bytes());
    hash.to_hex().chars().take(16).collect()
}

fn aside(path: &Path) -> PathBuf {
    path.with_extension("head.unreadable")
}

fn render(key: &AuditKey, name: &str, record: &Record) -> String {
    let mut text = format!("{MARK} {name}\n");
    let heads = record.head.iter().map(|head| ("head", head));
    for (word, head) in heads.chain(record.kept.iter().map(|head| ("kept", head))) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{word} {} {} {}", head.log_id, head.seq, head.hash);
    }
    let seal = key.head_seal(text.as_bytes());
    let _ = writeln!(text, "seal {}", seal.to_hex());
    text
}

fn parse(key: &AuditKey, name: &str, text: &str) -> Option<Record> {
    let (body, seal) = text.rsplit_once("seal ")?;
    let seal = blake3::Hash::from_hex(seal.strip_suffix('\n')?).ok()?;
    if seal != key.head_seal(body.as_bytes()) {
        return None;
    }
    let mut lines = body.lines();
    if lines.next()? != format!("{MARK} {name}") {
        return None;
    }
    let mut record = Record::default();
    for line in lines {
        let mut words = line.split(' ');
        let word = words.next()?;
        let head = Head {
            log_id: words.next()?.parse().ok()?,
            seq: words.next()?.parse().ok()?,
            hash: words.next()?.parse().ok()?,
        };
        match word {
            "head" => record.head = Some(head),
            "kept" => record.kept.push(head),
            _ => return None,
        }
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::Hash;

    fn head(log: u8, seq: i64) -> Head {
        Head { log_id: LogId([log; 16]), seq, hash: Hash([u8::try_from(seq).unwrap(); 32]) }
    }

    #[test]
    fn a_head_only_moves_forward_and_a_lost_one_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let key = AuditKey::from_bytes([1; 32]);
        let heads = Heads::new(directory.path());
        let database = Path::new("/somewhere/foreword.db");
        let read = || match heads.read(&key, database).unwrap() {
            HeadFile::Sealed(record) => record,
            other => panic!("{other:?}"),
        };

        assert_eq!(heads.read(&key, database).unwrap(), HeadFile::Missing);
        heads.advance(&key, database, head(1, 5), None).unwrap();
        heads.advance(&key, database, head(1, 4), None).unwrap();
        assert_eq!(read().head, Some(head(1, 5)));

        heads.advance(&key, database, head(1, 3), Some(head(1, 5))).unwrap();
        assert_eq!(read().head, Some(head(1, 3)));
        assert_eq!(read().kept, [head(1, 5)]);
    }

    #[test]
    fn a_head_without_the_seal_of_the_key_is_set_aside() {
        let directory = tempfile::tempdir().unwrap();
        let key = AuditKey::from_bytes([1; 32]);
        let heads = Heads::new(directory.path());
        let database = Path::new("/somewhere/foreword.db");
        heads.advance(&key, database, head(1, 5), None).unwrap();
        let path = heads.file(database);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(" 5 ", " 2 ")).unwrap();
        assert_eq!(heads.read(&key, database).unwrap(), HeadFile::Unreadable);
        assert_eq!(heads.moved_aside(database), None);

        heads.advance(&key, database, head(1, 6), None).unwrap();
        assert!(heads.moved_aside(database).is_some());
    }
}
