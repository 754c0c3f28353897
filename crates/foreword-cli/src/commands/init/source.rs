//! The directory that is taken over: read within bounds, never changed, no link followed out of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use foreword_workspace::{Config, WorkspaceError, read_file};

use crate::error::CliError;

/// Entries of one directory that are looked at.
const MOST_ENTRIES: usize = 5_000;

/// A directory to read from.
pub(super) struct Source {
    /// Resolved, so that a path inside it resolves to something that starts with it.
    root: PathBuf,
    limit: u64,
}

/// A text and whether it may be run.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) executable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// Nothing, or nothing that can be reached inside the directory.
    Nothing,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let fail = |message: String| {
            CliError::usage(message).hint("give the directory to take over with `--from DIR`")
        };
        let root = fs::canonicalize(path)
            .map_err(|error| fail(format!("cannot read {}: {error}", path.display())))?;
        if !root.is_dir() {
            return Err(fail(format!("{}: is not a directory", path.display())));
        }
        Ok(Self { root, limit: Config::default().limits.max_file_bytes })
    }

    pub(super) fn kind(&self, path: &str) -> Kind {
        match self.resolve(path).map(fs::metadata) {
            Ok(Ok(meta)) if meta.is_dir() => Kind::Directory,
            Ok(Ok(meta)) if meta.is_file() => Kind::File,
            _ => Kind::Nothing,
        }
    }

    pub(super) fn is_file(&self, path: &str) -> bool {
        self.kind(path) == Kind::File
    }

    pub(super) fn is_dir(&self, path: &str) -> bool {
        self.kind(path) == Kind::Directory
    }

    /// Whether there is anything at a path, a link that leads nowhere included.
    pub(super) fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.root.join(path)).is_ok()
    }

    /// The names in a directory, sorted; why it cannot be read otherwise. A name that is not Unicode
    /// comes approximated, which no later step finds.
    pub(super) fn names(&self, path: &str) -> Result<Vec<String>, String> {
        let cannot = |error: io::Error| format!("cannot be read: {error}");
        let mut names = Vec::new();
        for entry in fs::read_dir(self.resolve(path)?).map_err(cannot)? {
            if names.len() >= MOST_ENTRIES {
                return Err(format!("holds more than {MOST_ENTRIES} entries"));
            }
            names.push(entry.map_err(cannot)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// A file's text, with every check that the files of a workspace get; why not otherwise.
    pub(super) fn read(&self, path: &str) -> Result<Text, String> {
        let resolved = self.resolve(path)?;
        let file = read_file(&resolved, self.limit).map_err(|error| reason(&error, &resolved))?;
        Ok(Text { text: file.text, executable: is_executable(&resolved) })
    }

    /// Where a path leads, if that is inside.
    pub(super) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let resolved =
            fs::canonicalize(self.root.join(path)).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "leads nowhere".to_owned(),
                _ => format!("cannot be read: {error}"),
            })?;
        if resolved.starts_with(&self.root) {
            Ok(resolved)
        } else {
            Err("is a link that leaves the directory".to_owned())
        }
    }
}

/// The message of an error without the path it starts with.
fn reason(error: &WorkspaceError, path: &Path) -> String {
    let message = error.to_string();
    let rest = message.strip_prefix(&path.display().to_string()).unwrap_or(&message);
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        format!("line {rest}")
    } else {
        rest.to_owned()
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    false
}

/// Whether a name can be a file name on every platform, and so an id.
pub(super) fn is_portable(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let device = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || port.is_some_and(|number| {
            number.chars().count() == 1
                && number.chars().all(|c| c.is_ascii_digit() || "\u{b9}\u{b2}\u{b3}".contains(c))
        });
    !name.is_empty()
        && name.len() <= 200
        && !name.chars().any(|c| c.is_control() || "/\\:*?\"<>|\u{fffd}".contains(c))
        && !name.ends_with(['.', ' '])
        && !device
}
