//! Files that belong to the person: their settings and what they trust. Nobody else may write them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::read::decode;

/// What the person keeps about one workspace, in a file named after its place.
#[derive(Debug)]
pub(crate) struct WorkspaceRecord {
    /// The workspace, links resolved.
    pub(crate) workspace: PathBuf,
    pub(crate) file: PathBuf,
}

impl WorkspaceRecord {
    /// Locates the record in a folder of the person's settings. Reads nothing. Fails if the settings lie in
    /// the workspace, where an agent could write them.
    pub(crate) fn locate(
        config_dir: &Path,
        folder: &str,
        workspace: &Path,
    ) -> Result<Self, WorkspaceError> {
        let workspace = fs::canonicalize(workspace).map_err(|source| WorkspaceError::Io {
            path: workspace.display().to_string(),
            source,
        })?;
        let settled = fs::canonicalize(config_dir).unwrap_or_else(|_| config_dir.to_path_buf());
        if settled.starts_with(&workspace) {
            return Err(WorkspaceError::TrustInside { path: config_dir.display().to_string() });
        }
        let name = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
        let name = name.get(..32).unwrap_or_default();
        let file = config_dir.join(folder).join(format!("{name}.json"));
        Ok(Self { workspace, file })
    }
}

/// Reads a file that only the person can write; `None` if it does not exist.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Option<String>, WorkspaceError> {
    let shown = || path.display().to_string();
    let io = |source| WorkspaceError::Io { path: shown(), source };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let meta = file.metadata().map_err(io)?;
    if !meta.is_file() {
        return Err(WorkspaceError::NotRegular { path: shown() });
    }
    if let Some(reason) = others_may_write(&meta) {
        return Err(WorkspaceError::NotYours { path: shown(), reason });
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(io)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > limit {
        return Err(WorkspaceError::TooLarge { path: shown(), size: meta.len().max(size), limit });
    }
    decode(bytes, &shown()).map(Some)
}

/// Replaces a file in one step. Only the person can read it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
    let written = write_private(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Makes a directory that only the person can enter.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens without waiting for the other end of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or(0);
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    options.open(path)
}

#[cfg(unix)]
fn others_may_write(meta: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Some("belongs to another user");
    }
    (meta.mode() & 0o022 != 0).then_some("can be written by other users")
}

#[cfg(not(unix))]
fn others_may_write(_meta: &fs::Metadata) -> Option<&'static str> {
    None
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
