//! The directory to import: read within limits, never changed, and links out of it are not followed.
//!
//! A link inside it is resolved, and what it leads to is then opened through a handle of the directory,
//! without links. So nothing can be exchanged between the two.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use foreword_workspace::{Config, Tree, TreeEntryKind, WorkspaceError};

use crate::error::CliError;

/// Entries per directory.
const MAX_ENTRIES: usize = 5_000;

/// A directory to read from.
pub(super) struct Source {
    /// Resolved, so that resolved paths inside it start with it.
    root: PathBuf,
    tree: Tree,
    limit: u64,
    /// Files that an earlier migration wrote into the same directory.
    hidden: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// Missing, or outside of the directory.
    Missing,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let fail = |message: String| {
            CliError::usage(message).hint("pass the directory to import with `--from DIR`")
        };
        let root = fs::canonicalize(path)
            .map_err(|error| fail(format!("cannot read {}: {error}", path.display())))?;
        let tree = Tree::open_as(&root, "").map_err(|error| match error {
            WorkspaceError::NotADirectory { .. } => {
                fail(format!("{} is not a directory", path.display()))
            }
            error => fail(error.to_string()),
        })?;
        Ok(Self {
            root,
            tree,
            limit: Config::default().limits.max_file_bytes,
            hidden: BTreeSet::new(),
        })
    }

    /// Passes over files that an earlier migration wrote, so that they are not migrated again.
    pub(super) fn hide(&mut self, paths: BTreeSet<String>) {
        self.hidden = paths;
    }

    fn is_hidden(&self, path: &str) -> bool {
        self.hidden.contains(path)
    }

    /// Whether a directory holds hidden files only.
    fn holds_hidden_only(&self, path: &str) -> bool {
        let start = format!("{path}/");
        let some = self.hidden.range(start.clone()..).next();
        some.is_some_and(|hidden| hidden.starts_with(&start))
            && self.is_dir(path)
            && self.names(path).is_ok_and(|names| names.is_empty())
    }

    pub(super) fn kind(&self, path: &str) -> Kind {
        if self.is_hidden(path) {
            return Kind::Missing;
        }
        let Ok(resolved) = self.relative(path) else { return Kind::Missing };
        if resolved.as_os_str().is_empty() {
            return Kind::Directory;
        }
        match self.tree.stat(resolved) {
            Ok(Some((TreeEntryKind::Directory, _))) => Kind::Directory,
            Ok(Some((TreeEntryKind::File, _))) => Kind::File,
            _ => Kind::Missing,
        }
    }

    pub(super) fn is_file(&self, path: &str) -> bool {
        self.kind(path) == Kind::File
    }

    pub(super) fn is_dir(&self, path: &str) -> bool {
        self.kind(path) == Kind::Directory
    }

    /// Whether a path exists, broken links included.
    pub(super) fn exists(&self, path: &str) -> bool {
        !self.is_hidden(path) && fs::symlink_metadata(self.root.join(path)).is_ok()
    }

    /// The directories in a directory, without links and hidden ones.
    pub(super) fn directories(&self, path: &str) -> Vec<String> {
        let entries = self.tree.list(path, MAX_ENTRIES).ok().flatten().unwrap_or_default();
        let is_plain = |entry: &foreword_workspace::TreeEntry| {
            entry.kind == TreeEntryKind::Directory
                && entry.is_unicode
                && !entry.name.starts_with('.')
        };
        entries.into_iter().filter(is_plain).map(|entry| entry.name).collect()
    }

    /// The sorted names in a directory, or the reason it cannot be read. Names that are not Unicode are
    /// approximated, so later steps do not find them.
    pub(super) fn names(&self, path: &str) -> Result<Vec<String>, String> {
        let resolved = self.relative(path)?;
        let entries = match self.tree.list(&resolved, MAX_ENTRIES) {
            Ok(entries) => entries.ok_or("not found")?,
            Err(WorkspaceError::TooManyEntries { limit, .. }) => {
                return Err(format!("has more than {limit} entries"));
            }
            Err(error) => return Err(reason(&error, &resolved)),
        };
        let names = entries.into_iter().map(|entry| entry.name);
        if self.hidden.is_empty() {
            return Ok(names.collect());
        }
        let below = |name: &str| {
            if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
        };
        let is_there = |name: &String| {
            let path = below(name);
            !self.is_hidden(&path) && !self.holds_hidden_only(&path)
        };
        Ok(names.filter(is_there).collect())
    }

    /// The text of a file, with all checks of workspace files, or the reason it cannot be read.
    pub(super) fn read(&self, path: &str) -> Result<String, String> {
        let resolved = self.visible(path)?;
        let text = self.tree.read_text(&resolved, self.limit);
        Ok(text.map_err(|error| reason(&error, &resolved))?.ok_or("not found")?)
    }

    /// The bytes of a file and whether it is executable, or the reason it cannot be read.
    pub(super) fn read_bytes(&self, path: &str) -> Result<(Vec<u8>, bool), String> {
        let resolved = self.visible(path)?;
        let bytes = self.tree.read(&resolved, self.limit);
        let bytes = bytes.map_err(|error| reason(&error, &resolved))?.ok_or("not found")?;
        let file = self.tree.file(&resolved).ok().flatten();
        Ok((bytes, file.is_some_and(|(file, _)| is_executable(&file))))
    }

    /// The name of the directory itself.
    pub(super) fn name(&self) -> &str {
        self.root.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// The text of a file beside the directory, or the reason it cannot be read; `None` if there is none. A
    /// tool may keep a part of a person's settings there.
    pub(super) fn read_beside(&self, name: &str) -> Option<Result<String, String>> {
        let parent = self.root.parent()?;
        fs::symlink_metadata(parent.join(name)).ok()?;
        let text = Tree::open_as(parent, "").and_then(|tree| tree.read_text(name, self.limit));
        Some(match text {
            Ok(text) => text.ok_or_else(|| "not found".to_owned()),
            Err(error) => Err(reason(&error, Path::new(name))),
        })
    }

    /// A directory below, as a source of its own.
    pub(super) fn below(&self, path: &str) -> Result<Self, CliError> {
        Self::open(&self.root.join(path))
    }

    /// The resolved path below the directory, of a file that is not hidden.
    fn visible(&self, path: &str) -> Result<PathBuf, String> {
        if self.is_hidden(path) { Err("not found".to_owned()) } else { self.relative(path) }
    }

    /// The resolved path below the directory.
    fn relative(&self, path: &str) -> Result<PathBuf, String> {
        let resolved = self.resolve(path)?;
        Ok(resolved.strip_prefix(&self.root).unwrap_or(Path::new("")).to_path_buf())
    }

    /// The resolved path, if it is inside the directory.
    pub(super) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let resolved =
            fs::canonicalize(self.root.join(path)).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "not found".to_owned(),
                _ => format!("cannot read it: {error}"),
            })?;
        if resolved.starts_with(&self.root) {
            Ok(resolved)
        } else {
            Err("symbolic link to outside the directory".to_owned())
        }
    }
}

/// The message of an error without its path.
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
fn is_executable(file: &fs::File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_file: &fs::File) -> bool {
    false
}

/// Whether a name is a valid file name on every platform.
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
