//! Writes without overwriting: checks every target before writing the first, and creates each as a new
//! file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use foreword_workspace::{Config, Tree};

use crate::error::CliError;

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewFile {
    /// Relative to the workspace, with forward slashes.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) executable: bool,
    /// The source file, if it has another name.
    pub(crate) from: Option<String>,
}

impl NewFile {
    pub(crate) fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self::bytes(path, text.into())
    }

    pub(crate) fn bytes(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), executable: false, from: None }
    }
}

/// The state of a target path.
enum Target {
    Free,
    /// A file with the same text.
    Same,
    /// Another file.
    Other,
    /// A parent is not a plain directory.
    Blocked(String),
}

/// The files to write, and the outcome of the others.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    new: Vec<NewFile>,
    written: Written,
}

/// What became of each file.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Path and source.
    pub(crate) new: Vec<(String, Option<String>)>,
    /// Files with other bytes, which stay as they are.
    pub(crate) kept: Vec<String>,
    pub(crate) unchanged: Vec<String>,
    /// Path and reason.
    pub(crate) blocked: Vec<(String, String)>,
}

/// Fails if the workspace cannot be a directory.
pub(crate) fn check_root(root: &Path) -> Result<(), CliError> {
    match fs::metadata(root) {
        Ok(meta) if !meta.is_dir() => Err(CliError::usage(format!(
            "{} is a file; a workspace is a directory",
            root.display()
        ))
        .hint("pass another directory with `-w DIR`")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(cannot("read", root, &error)),
    }
}

/// Checks every target and writes nothing.
pub(crate) fn plan(root: &Path, files: Vec<NewFile>) -> Result<Plan, CliError> {
    let mut plan = Plan::default();
    for file in files {
        match look(root, &file)? {
            Target::Free => plan.new.push(file),
            Target::Same => plan.written.unchanged.push(file.path),
            Target::Other => plan.written.kept.push(file.path),
            Target::Blocked(reason) => plan.written.blocked.push((file.path, reason)),
        }
    }
    Ok(plan)
}

fn look(root: &Path, file: &NewFile) -> Result<Target, CliError> {
    let mut at = root.to_path_buf();
    let mut names = file.path.split('/').peekable();
    while let Some(name) = names.next() {
        at.push(name);
        let meta = match fs::symlink_metadata(&at) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::Free),
            Err(error) => return Err(cannot("read", &at, &error)),
        };
        let last = names.peek().is_none();
        if last && (meta.is_file() || meta.is_symlink()) && has_bytes(root, file) {
            return Ok(Target::Same);
        }
        if last {
            return Ok(Target::Other);
        }
        if meta.is_symlink() {
            return Ok(Target::Blocked(format!(
                "`{name}` is a symbolic link in the workspace; foreword does not write through links"
            )));
        }
        if !meta.is_dir() {
            return Ok(Target::Blocked(format!("`{name}` is a file in the workspace")));
        }
    }
    Ok(Target::Other)
}

/// Whether the workspace has this file already, byte for byte.
fn has_bytes(root: &Path, file: &NewFile) -> bool {
    current(root, &file.path).is_some_and(|bytes| bytes == file.bytes)
}

/// The bytes of a file of the workspace; `None` if it is absent, too large or no regular file. A link
/// to another file of the workspace counts as that file.
pub(crate) fn current(root: &Path, path: &str) -> Option<Vec<u8>> {
    let tree = Tree::open(root).ok()?;
    let limit = Config::default().limits.max_file_bytes;
    if let Ok(found) = tree.read(path, limit) {
        return found;
    }
    let target = fs::canonicalize(root.join(path)).ok()?;
    let below = target.strip_prefix(fs::canonicalize(root).ok()?).ok()?.to_path_buf();
    tree.read(below, limit).ok().flatten()
}

/// Whether a file of the workspace can be run. Everything can, where files have no such bit.
pub(crate) fn is_executable(root: &Path, path: &str) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(root.join(path)).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = (root, path);
        true
    }
}

/// Writes the new files. A file that appeared since the check is kept.
pub(crate) fn apply(root: &Path, plan: Plan) -> Result<Written, CliError> {
    let Plan { new, mut written } = plan;
    fs::create_dir_all(root).map_err(|error| cannot("create", root, &error))?;
    for file in new {
        let path: PathBuf = file.path.split('/').fold(root.to_path_buf(), |at, name| at.join(name));
        match create(&path, &file) {
            Ok(()) => written.new.push((file.path, file.from)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                written.kept.push(file.path);
            }
            Err(error) => {
                let error = cannot("write", &path, &error);
                return Err(match written.new.len() {
                    0 => error,
                    n => error.hint(format!(
                        "{n} files were written; run the same command again to write the rest"
                    )),
                });
            }
        }
    }
    Ok(written)
}

fn create(path: &Path, file: &NewFile) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if file.executable {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o777);
    }
    let mut out: File = options.open(path)?;
    out.write_all(&file.bytes).inspect_err(|_| {
        // A later run must not mistake a partial file for the user's.
        let _ = fs::remove_file(path);
    })
}

/// Replaces a file of the workspace in one step; the caller has checked what is there. A link on the
/// way or in its place is refused.
pub(crate) fn replace(root: &Path, file: &NewFile) -> Result<(), CliError> {
    if let Target::Blocked(reason) = look(root, file)? {
        return Err(CliError::usage(format!("cannot write {}: {reason}", file.path)));
    }
    let path: PathBuf = file.path.split('/').fold(root.to_path_buf(), |at, name| at.join(name));
    if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
        return Err(CliError::usage(format!("cannot write {}: it is not a file", file.path)));
    }
    let part = path
        .with_file_name(format!("{}.part", path.file_name().unwrap_or_default().to_string_lossy()));
    let _ = fs::remove_file(&part);
    create(&part, file)
        .and_then(|()| fs::rename(&part, &path))
        .inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
        .map_err(|error| cannot("write", &path, &error))
}

/// Deletes a file of the workspace, and the folders that are empty then.
pub(crate) fn remove(root: &Path, path: &str) -> Result<(), CliError> {
    let probe = NewFile::bytes(path, Vec::new());
    if let Target::Blocked(reason) = look(root, &probe)? {
        return Err(CliError::usage(format!("cannot delete {path}: {reason}")));
    }
    let full: PathBuf = path.split('/').fold(root.to_path_buf(), |at, name| at.join(name));
    fs::remove_file(&full).map_err(|error| cannot("delete", &full, &error))?;
    let mut folder = full.parent();
    while let Some(at) = folder.filter(|at| *at != root && at.starts_with(root)) {
        if fs::remove_dir(at).is_err() {
            break;
        }
        folder = at.parent();
    }
    Ok(())
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> CliError {
    let out = CliError::usage(format!("cannot {what} {}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            out.hint("choose a writable directory with `-w DIR`")
        }
        _ => out,
    }
}
