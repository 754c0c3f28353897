//! Writes without overwriting: checks every target before writing the first, and creates each as a new
//! file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use foreword_workspace::{Config, read_file};

use super::report::Skipped;
use crate::error::CliError;

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewFile {
    /// Relative to the workspace, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) executable: bool,
    /// The source file, if it has another name.
    pub(super) from: Option<String>,
}

impl NewFile {
    pub(super) fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), executable: false, from: None }
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
pub(super) struct Plan {
    new: Vec<NewFile>,
    outcome: Outcome,
}

/// The outcome for each file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Path and source.
    pub(super) written: Vec<(String, Option<String>)>,
    pub(super) kept: Vec<String>,
    pub(super) unchanged: Vec<String>,
    pub(super) blocked: Vec<Skipped>,
}

/// Fails if the workspace cannot be a directory.
pub(super) fn check_root(root: &Path) -> Result<(), CliError> {
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
pub(super) fn plan(root: &Path, files: Vec<NewFile>) -> Result<Plan, CliError> {
    let mut plan = Plan::default();
    for file in files {
        match look(root, &file)? {
            Target::Free => plan.new.push(file),
            Target::Same => plan.outcome.unchanged.push(file.path),
            Target::Other => plan.outcome.kept.push(file.path),
            Target::Blocked(reason) => {
                plan.outcome.blocked.push(Skipped { path: file.path, reason });
            }
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
        if last && meta.is_file() && has_text(&at, &file.text) {
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

fn has_text(path: &Path, text: &str) -> bool {
    read_file(path, Config::default().limits.max_file_bytes).is_ok_and(|file| file.text == text)
}

/// Writes the new files. A file that appeared since the check is kept.
pub(super) fn apply(root: &Path, plan: Plan) -> Result<Outcome, CliError> {
    let Plan { new, mut outcome } = plan;
    fs::create_dir_all(root).map_err(|error| cannot("create", root, &error))?;
    for file in new {
        let path: PathBuf = file.path.split('/').fold(root.to_path_buf(), |at, name| at.join(name));
        match create(&path, &file) {
            Ok(()) => outcome.written.push((file.path, file.from)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                outcome.kept.push(file.path);
            }
            Err(error) => {
                let error = cannot("write", &path, &error);
                return Err(match outcome.written.len() {
                    0 => error,
                    n => error.hint(format!(
                        "{n} files were written; run the same command again to write the rest"
                    )),
                });
            }
        }
    }
    Ok(outcome)
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
    out.write_all(file.text.as_bytes()).inspect_err(|_| {
        // A later run must not mistake a partial file for the user's.
        let _ = fs::remove_file(path);
    })
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
