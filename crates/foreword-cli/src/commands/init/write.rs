//! Writing without overwriting: every target is looked at before the first is written, and each is
//! created anew or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use foreword_workspace::{Config, read_file};

use super::report::NotTaken;
use crate::error::CliError;

/// A file to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewFile {
    /// Relative to the workspace, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) executable: bool,
    /// The file it was made from, where that has another name.
    pub(super) from: Option<String>,
}

impl NewFile {
    pub(super) fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), executable: false, from: None }
    }
}

/// What stands at a target.
enum Target {
    Free,
    /// A file of the same text.
    Same,
    /// Anything else.
    Taken,
    /// The way to it is not one of plain directories.
    Blocked(String),
}

/// What is to be written, and what is already there.
#[derive(Debug, Default)]
pub(super) struct Plan {
    new: Vec<NewFile>,
    outcome: Outcome,
}

/// What became of each file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Path, and what it was made from.
    pub(super) written: Vec<(String, Option<String>)>,
    pub(super) kept: Vec<String>,
    pub(super) unchanged: Vec<String>,
    pub(super) blocked: Vec<NotTaken>,
}

/// Refuses a workspace that cannot be one.
pub(super) fn check_root(root: &Path) -> Result<(), CliError> {
    match fs::metadata(root) {
        Ok(meta) if !meta.is_dir() => Err(CliError::usage(format!(
            "{}: is a file, a workspace is a directory",
            root.display()
        ))
        .hint("give another name with `-w DIR`")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(cannot("read", root, &error)),
    }
}

/// Looks at every target; writes nothing.
pub(super) fn plan(root: &Path, files: Vec<NewFile>) -> Result<Plan, CliError> {
    let mut plan = Plan::default();
    for file in files {
        match look(root, &file)? {
            Target::Free => plan.new.push(file),
            Target::Same => plan.outcome.unchanged.push(file.path),
            Target::Taken => plan.outcome.kept.push(file.path),
            Target::Blocked(reason) => {
                plan.outcome.blocked.push(NotTaken { path: file.path, reason });
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
            return Ok(Target::Taken);
        }
        if meta.is_symlink() {
            return Ok(Target::Blocked(format!(
                "`{name}` is a link in the workspace, and nothing is written through a link"
            )));
        }
        if !meta.is_dir() {
            return Ok(Target::Blocked(format!("`{name}` is a file in the workspace")));
        }
    }
    Ok(Target::Taken)
}

fn has_text(path: &Path, text: &str) -> bool {
    read_file(path, Config::default().limits.max_file_bytes).is_ok_and(|file| file.text == text)
}

/// Writes what is new. A file that appeared since it was looked at is kept.
pub(super) fn carry_out(root: &Path, plan: Plan) -> Result<Outcome, CliError> {
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
                        "{n} files were written before; the same command goes on where it stopped"
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
        // Ours, and only half of it: a later run must not take it for someone's work.
        let _ = fs::remove_file(path);
    })
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> CliError {
    let out = CliError::usage(format!("cannot {what} {}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            out.hint("choose a directory you may write to with `-w DIR`")
        }
        _ => out,
    }
}
