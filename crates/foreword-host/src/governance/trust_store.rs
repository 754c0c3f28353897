//! Which workspaces a person trusts, and as what: the governed files as they were then.
//!
//! It is kept in the person's own settings and never in a workspace: a workspace from elsewhere cannot
//! bring trust along. What is kept includes the texts, so that a change can be shown and not only told.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use foreword_workspace::{GovernedContents, GovernedFile, GovernedGroup};
use serde::{Deserialize, Serialize};

use foreword_sandbox::SandboxError;

const FORMAT: u32 = 1;
/// More than the texts that are kept can ever come to.
const MAX_FILE_BYTES: u64 = 128 << 20;

/// What is remembered of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustStore {
    workspace: PathBuf,
    file: PathBuf,
}

/// How a workspace stands with the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Never asked about.
    Unknown,
    /// As it was when it was accepted.
    Trusted,
    /// Accepted once, and different now.
    Changed(Vec<TrustChange>),
}

/// One governed file that is not as it was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustChange {
    /// The path in the workspace.
    pub path: String,
    /// What it is about.
    pub group: GovernedGroup,
    /// The file as it was accepted; `None` if there was none.
    pub old: Option<GovernedFile>,
    /// The file as it is; `None` if it is gone.
    pub new: Option<GovernedFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    format: u32,
    /// For people who look into the file.
    workspace: String,
    files: GovernedContents,
}

impl TrustStore {
    /// Finds the place where trust in a workspace is kept. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// If the workspace does not exist, or the person's settings lie in it.
    pub(crate) fn open(config_dir: &Path, workspace: &Path) -> Result<Self, SandboxError> {
        let workspace = fs::canonicalize(workspace)
            .map_err(|source| SandboxError::Io { path: workspace.to_path_buf(), source })?;
        let settled = fs::canonicalize(config_dir).unwrap_or_else(|_| config_dir.to_path_buf());
        if settled.starts_with(&workspace) {
            return Err(SandboxError::TrustInside { path: config_dir.to_path_buf() });
        }
        let name = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
        let name = name.get(..32).unwrap_or_default();
        let file = config_dir.join("trust").join(format!("{name}.json"));
        Ok(Self { workspace, file })
    }

    /// How the workspace stands, its governed files being what they are. Give the groups that were
    /// given to [`TrustStore::accept`]: usually [`GovernedGroup::TRUSTED`], for skills have approvals.
    ///
    /// # Errors
    ///
    /// If what is remembered cannot be read, or others than the person may write it.
    pub(crate) fn standing(&self, now: &GovernedContents) -> Result<Standing, SandboxError> {
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

    /// Remembers that the person accepted these files: exactly what was shown, not what is there now.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn accept(&self, shown: &GovernedContents) -> Result<(), SandboxError> {
        let _lock = self.lock()?;
        self.keep(shown)
    }

    /// Remembers some of these files and leaves the others as they were accepted: for a change that the
    /// host itself made because a person approved it. In a workspace that is unknown it does nothing.
    ///
    /// # Errors
    ///
    /// If what is remembered cannot be read or written.
    pub(crate) fn accept_only(
        &self,
        shown: &GovernedContents,
        paths: &[&str],
    ) -> Result<(), SandboxError> {
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

    /// Two processes that accept at once must not undo each other.
    fn lock(&self) -> Result<File, SandboxError> {
        let io = |source| SandboxError::Io { path: self.file.clone(), source };
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

    fn keep(&self, files: &GovernedContents) -> Result<(), SandboxError> {
        let remembered = TrustRecord {
            format: FORMAT,
            workspace: self.workspace.display().to_string(),
            files: files.clone(),
        };
        let io = |source| SandboxError::Io { path: self.file.clone(), source };
        let bytes = serde_json::to_vec(&remembered).map_err(|error| io(error.into()))?;
        self.write(&bytes).map_err(io)
    }

    /// Forgets the workspace; it will be asked about again.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed.
    pub(crate) fn forget(&self) -> Result<(), SandboxError> {
        match fs::remove_file(&self.file) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(SandboxError::Io { path: self.file.clone(), source })
            }
            _ => Ok(()),
        }
    }

    /// The files as they were accepted; `None` if the workspace is unknown.
    ///
    /// # Errors
    ///
    /// As [`TrustStore::standing`].
    pub(crate) fn accepted(&self) -> Result<Option<GovernedContents>, SandboxError> {
        let io = |source| SandboxError::Io { path: self.file.clone(), source };
        let bad = |reason: String| SandboxError::BadTrust { path: self.file.clone(), reason };
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
            return Err(bad(format!("is longer than {MAX_FILE_BYTES} bytes")));
        }
        let remembered: TrustRecord =
            serde_json::from_slice(&bytes).map_err(|error| bad(format!("is damaged: {error}")))?;
        if remembered.format != FORMAT {
            return Err(bad(format!("has the format {}, not {FORMAT}", remembered.format)));
        }
        Ok(Some(remembered.files))
    }

    /// Writes beside the file, and puts it in place in one step.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let beside = self.file.with_extension(format!("new-{}", std::process::id()));
        let written = write_private(&beside, bytes).and_then(|()| fs::rename(&beside, &self.file));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }
}

#[cfg(unix)]
fn others_may_write(meta: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Some("belongs to somebody else".into());
    }
    (meta.mode() & 0o022 != 0).then(|| "can be written by others".into())
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
    // Left behind by a process of the same number that was killed.
    let _ = fs::remove_file(path);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
#[path = "trust_store_tests.rs"]
mod tests;
