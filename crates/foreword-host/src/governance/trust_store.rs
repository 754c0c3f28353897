//! Which workspaces a person trusts, with the governed files as they were accepted.
//!
//! Trust is stored in the person's settings and never in a workspace, so that a downloaded workspace
//! cannot trust itself. It includes the texts of the files, so that a change can be shown as a diff.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use foreword_workspace::{GovernedContents, GovernedFile, GovernedGroup};
use serde::{Deserialize, Serialize};

use crate::governance::GovernanceError;

const FORMAT: u32 = 1;
/// More than the stored texts can ever take.
const MAX_FILE_BYTES: u64 = 128 << 20;

/// The trust file of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustStore {
    workspace: PathBuf,
    file: PathBuf,
}

/// Whether the person trusts a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Never accepted.
    Unknown,
    /// Accepted and unchanged.
    Trusted,
    /// Accepted, but changed since.
    Changed(Vec<TrustChange>),
}

/// A governed file that differs from what was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustChange {
    /// The path in the workspace.
    pub path: String,
    pub group: GovernedGroup,
    /// The accepted file; `None` if it is new.
    pub old: Option<GovernedFile>,
    /// The current file; `None` if it was deleted.
    pub new: Option<GovernedFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    format: u32,
    /// Informative only.
    workspace: String,
    files: GovernedContents,
}

impl TrustStore {
    /// Locates the trust file of a workspace. Reads nothing yet.
    pub(crate) fn open(config_dir: &Path, workspace: &Path) -> Result<Self, GovernanceError> {
        let workspace = fs::canonicalize(workspace)
            .map_err(|source| GovernanceError::Io { path: workspace.to_path_buf(), source })?;
        let settled = fs::canonicalize(config_dir).unwrap_or_else(|_| config_dir.to_path_buf());
        if settled.starts_with(&workspace) {
            return Err(GovernanceError::TrustInside { path: config_dir.to_path_buf() });
        }
        let name = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
        let name = name.get(..32).unwrap_or_default();
        let file = config_dir.join("trust").join(format!("{name}.json"));
        Ok(Self { workspace, file })
    }

    /// Compares the current governed files with the accepted ones. Use the same groups as for
    /// [`TrustStore::accept`]: [`GovernedGroup::TRUSTED`], since skills have approvals of their own.
    pub(crate) fn standing(&self, now: &GovernedContents) -> Result<Standing, GovernanceError> {
        let Some(before) = self.accepted()? else { return Ok(Standing::Unknown) };
        let changes = now.changes_since(&before);
        if changes.is_empty() {
            return Ok(Standing::Trusted);
        }
        let mut paths = [changes.added, changes.changed, changes.removed].concat();
        paths.sort();
        let change = |path: String| {
            let (old, new) = (before.files.get(&path).cloned(), now.files.get(&path).cloned());
            let group = new.as_ref().or(old.as_ref()).map(|file| file.group)?;
            Some(TrustChange { path, group, old, new })
        };
        Ok(Standing::Changed(paths.into_iter().filter_map(change).collect()))
    }

    /// Stores that the person accepted these files as they were shown, not as they are now.
    pub(crate) fn accept(&self, shown: &GovernedContents) -> Result<(), GovernanceError> {
        let _lock = self.lock()?;
        self.keep(shown)
    }

    /// Accepts only some of these files, for a change that the host made because a person approved it.
    /// Does nothing in a workspace that was never accepted.
    pub(crate) fn accept_only(
        &self,
        shown: &GovernedContents,
        paths: &[&str],
    ) -> Result<(), GovernanceError> {
        let _lock = self.lock()?;
        let Some(mut accepted) = self.accepted()? else { return Ok(()) };
        for path in paths {
            match shown.files.get(*path) {
                Some(file) => accepted.files.insert((*path).to_owned(), file.clone()),
                None => accepted.files.remove(*path),
            };
        }
        self.keep(&accepted)
    }

    /// Keeps two processes that accept at the same time from undoing each other's changes.
    fn lock(&self) -> Result<File, GovernanceError> {
        let io = |source| GovernanceError::Io { path: self.file.clone(), source };
        let directory = self.file.parent().unwrap_or(Path::new("."));
        make_private_directory(directory).map_err(io)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock = options.open(directory.join("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        Ok(lock)
    }

    fn keep(&self, files: &GovernedContents) -> Result<(), GovernanceError> {
        let record = TrustRecord {
            format: FORMAT,
            workspace: self.workspace.display().to_string(),
            files: files.clone(),
        };
        let io = |source| GovernanceError::Io { path: self.file.clone(), source };
        let bytes = serde_json::to_vec(&record).map_err(|error| io(error.into()))?;
        self.write(&bytes).map_err(io)
    }

    /// The accepted files; `None` if the workspace was never accepted. Fails if other users could have
    /// written the file.
    pub(crate) fn accepted(&self) -> Result<Option<GovernedContents>, GovernanceError> {
        let io = |source| GovernanceError::Io { path: self.file.clone(), source };
        let bad = |reason: String| GovernanceError::BadTrust { path: self.file.clone(), reason };
        let file = match File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let meta = file.metadata().map_err(io)?;
        if let Some(reason) = others_may_write(&meta) {
            return Err(bad(reason));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
            return Err(bad(format!("is larger than {MAX_FILE_BYTES} bytes")));
        }
        let record: TrustRecord =
            serde_json::from_slice(&bytes).map_err(|error| bad(format!("is damaged: {error}")))?;
        if record.format != FORMAT {
            return Err(bad(format!("has format {}, expected {FORMAT}", record.format)));
        }
        Ok(Some(record.files))
    }

    /// Replaces the file in one step.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.file.with_extension(format!("new-{}", std::process::id()));
        let written =
            write_private(&temporary, bytes).and_then(|()| fs::rename(&temporary, &self.file));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

#[cfg(unix)]
fn others_may_write(meta: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Some("belongs to another user".into());
    }
    (meta.mode() & 0o022 != 0).then(|| "can be written by other users".into())
}

#[cfg(not(unix))]
fn others_may_write(_meta: &fs::Metadata) -> Option<String> {
    None
}

fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A killed process with the same id may have left one.
    let _ = fs::remove_file(path);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
#[path = "trust_store_tests.rs"]
mod tests;
