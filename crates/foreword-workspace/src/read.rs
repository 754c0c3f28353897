//! Reading a workspace: which links may be followed, and what a text is.
//!
//! A file is opened through the [`Tree`] around it, which follows no link. Where a name on the way is a
//! link, it is resolved first; if it stays inside its boundary, what it leads to is opened through the
//! same tree. Whoever swaps files meanwhile gets an error and no file from elsewhere. Text is UTF-8.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::WorkspaceError;
use crate::found_file::{FileKind, FileStamp, FoundFile};
use crate::rel_path::RelPath;
use crate::snapshot::SeenPaths;
use crate::tree::{Opened, Tree, TreeEntry, TreeEntryKind, fault};
use rustix::io::Errno;

/// The text of one file and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path relative to the workspace, with forward slashes.
    pub path: String,
    /// The text, without a byte order mark and with CRLF as LF, so that a checkout on any
    /// platform gives the same bytes.
    pub text: String,
    /// The line of the file on which `text` starts: 1, or the line after a header.
    pub first_line: usize,
}

/// The name of the usual boundary.
const WORKSPACE: &str = "the workspace";

/// A directory below which files are read, and the boundary that links must not leave.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// Resolved, so that what is joined to it needs no resolving unless it is a link.
    directory: PathBuf,
    /// What resolved links have to stay in: `directory`, or the workspace around it.
    boundary: Tree,
    boundary_name: String,
    /// What is put in front of a path to show it to a person.
    shown: String,
    /// What was looked at below any root of the workspace.
    pub(crate) seen: Arc<SeenPaths>,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    Directory,
    File,
    /// A link, pipe or device: told apart when it is read.
    Other,
    /// The name is not Unicode; `Entry::name` is an approximation of it.
    BadName,
}

impl Root {
    /// Opens a workspace directory.
    pub(crate) fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let directory = resolve_directory(path, &path.display().to_string())?;
        Ok(Self {
            boundary: Tree::open_as(&directory, "")?,
            directory,
            boundary_name: WORKSPACE.into(),
            shown: String::new(),
            seen: Arc::default(),
        })
    }

    /// Opens a further root that the configuration names, which may lie outside the workspace.
    ///
    /// Inside the workspace its links may lead anywhere in the workspace; outside, they have to
    /// stay inside the root itself.
    pub(crate) fn further(&self, configured: &str) -> Result<Self, WorkspaceError> {
        let shown = configured.trim_end_matches(['/', '\\']);
        let directory = resolve_directory(&self.directory.join(configured), shown)?;
        let inside = directory.starts_with(&self.directory);
        Ok(Self {
            boundary: if inside { self.boundary.clone() } else { Tree::open(&directory)? },
            directory,
            boundary_name: if inside { self.boundary_name.clone() } else { shown.into() },
            shown: format!("{}/", shown.replace('\\', "/")),
            seen: Arc::clone(&self.seen),
        })
    }

    /// The directory, with all links resolved.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads a file; `None` if it does not exist.
    pub(crate) fn read(
        &self,
        path: &RelPath,
        limit: u64,
    ) -> Result<Option<SourceFile>, WorkspaceError> {
        let Some((opened, resolved)) = self.open_at(path)? else { return Ok(None) };
        let shown = self.show(path.as_str());
        let bytes = opened.read(&shown, limit)?;
        let inside = resolved.strip_prefix(self.boundary.path()).ok().and_then(Path::to_str);
        if let Some(inside) = inside.filter(|_| self.boundary_name == WORKSPACE) {
            self.seen.used(inside, &bytes);
        }
        let text = decode(bytes, &shown)?;
        Ok(Some(SourceFile { path: shown, text, first_line: 1 }))
    }

    /// Finds a file without opening it; `None` if it does not exist.
    ///
    /// A listing may have shown that the directory it lies in is one, and no link: then only the
    /// file itself is looked at.
    pub(crate) fn find(
        &self,
        path: &str,
        in_known_directory: bool,
    ) -> Result<Option<FoundFile>, WorkspaceError> {
        if in_known_directory {
            let at = self.directory.join(path);
            match fs::symlink_metadata(&at) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.seen.note(at, None);
                    return Ok(None);
                }
                Ok(meta) if !meta.is_symlink() => {
                    let found = FoundFile::new(&meta, None);
                    self.seen.note(at, Some(found.stamp));
                    return Ok(Some(found));
                }
                // A link, or an error to explain: the long way does that.
                _ => {}
            }
        }
        let found = self.locate(&RelPath::listed("", path))?;
        Ok(found.map(|(path, meta)| FoundFile::new(&meta, Some(path))))
    }

    /// The bytes of a file that was found, with every check of a read but that of its text.
    pub(crate) fn bytes(
        &self,
        path: &str,
        found: &FoundFile,
        limit: u64,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let shown = self.show(path);
        let resolved = found.resolved.clone().unwrap_or_else(|| self.directory.join(path));
        self.open_resolved(&resolved, &shown)?.read(&shown, limit)
    }

    /// Whether there is anything at a path.
    pub(crate) fn exists(&self, path: &RelPath) -> Result<bool, WorkspaceError> {
        self.locate(path).map(|found| found.is_some())
    }

    /// Refuses a name at the top of the boundary that is a link.
    pub(crate) fn refuse_link(&self, name: &str) -> Result<(), WorkspaceError> {
        match self.boundary.stat(name)? {
            Some((TreeEntryKind::Link, _)) => Err(WorkspaceError::IsLink { path: name.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Whether two roots are the same directory.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.directory == other.directory
    }

    /// The names in a directory, sorted, hidden ones left out; `None` if it does not exist.
    ///
    /// An empty `path` is the root itself.
    pub(crate) fn list(
        &self,
        path: &str,
        limit: usize,
    ) -> Result<Option<Vec<Entry>>, WorkspaceError> {
        let shown = self.show(path);
        let found = if path.is_empty() {
            let opened = self.open_resolved(&self.directory, &shown)?;
            self.seen.note(self.directory.clone(), Some(opened.stamp));
            Some(opened)
        } else {
            self.open_at(&RelPath::listed("", path))?.map(|(opened, _)| opened)
        };
        let Some(opened) = found else { return Ok(None) };
        let listed = opened.list(&shown, limit)?;
        let entries = listed.into_iter().filter(|entry| !entry.name.starts_with('.'));
        let kind = |entry: &TreeEntry| match entry.kind {
            _ if !entry.is_unicode => EntryKind::BadName,
            TreeEntryKind::Directory => EntryKind::Directory,
            TreeEntryKind::File => EntryKind::File,
            TreeEntryKind::Link | TreeEntryKind::Special => EntryKind::Other,
        };
        Ok(Some(entries.map(|entry| Entry { kind: kind(&entry), name: entry.name }).collect()))
    }

    /// The directories below this root on the way to `target`, outermost first, without the root.
    ///
    /// A relative target is taken from the root. A target outside has none on its way.
    pub(crate) fn directories_towards(&self, target: &Path) -> Result<Vec<String>, WorkspaceError> {
        let shown = target.display().to_string();
        let resolved = resolve_directory(&self.directory.join(target), &shown)?;
        let Ok(below) = resolved.strip_prefix(&self.directory) else {
            return Ok(Vec::new());
        };
        let mut directories: Vec<String> = Vec::new();
        for component in below.components() {
            let Component::Normal(name) = component else { continue };
            let name = name.to_str().ok_or_else(|| WorkspaceError::Io {
                path: shown.clone(),
                source: io::Error::new(io::ErrorKind::InvalidData, "the name is not Unicode"),
            })?;
            let directory = directories
                .last()
                .map_or_else(|| name.to_owned(), |outer| format!("{outer}/{name}"));
            directories.push(directory);
        }
        Ok(directories)
    }

    /// How a path below this root is shown to a person.
    pub(crate) fn show(&self, path: &str) -> String {
        match (path.is_empty(), self.shown.is_empty()) {
            (true, true) => ".".into(),
            (true, false) => self.shown.trim_end_matches('/').into(),
            (false, _) => format!("{}{path}", self.shown),
        }
    }

    /// A path that was shown to a person, as one below this root.
    pub(crate) fn below<'p>(&self, shown: &'p str) -> &'p str {
        shown.strip_prefix(self.shown.as_str()).unwrap_or(shown)
    }

    /// Opens what a listing showed below this root, and says where that is with its links resolved.
    pub(crate) fn open_below(
        &self,
        path: &str,
    ) -> Result<Option<(Opened, PathBuf)>, WorkspaceError> {
        self.open_at(&RelPath::listed("", path))
    }

    /// Opens what is at a path, and says where that is with its links resolved.
    fn open_at(&self, path: &RelPath) -> Result<Option<(Opened, PathBuf)>, WorkspaceError> {
        let at = self.directory.join(path.as_str());
        let below = at.strip_prefix(self.boundary.path()).unwrap_or(Path::new(path.as_str()));
        match self.boundary.try_open(below) {
            Ok(opened) => {
                self.seen.note(at.clone(), Some(opened.stamp));
                Ok(Some((opened, at)))
            }
            Err(Errno::NOENT) => {
                self.seen.note(at, None);
                Ok(None)
            }
            // A link, or an error to explain: the long way does that.
            Err(_) => {
                let Some((resolved, meta)) = self.locate(path)? else { return Ok(None) };
                let shown = self.show(path.as_str());
                if FileKind::of(&meta) == FileKind::Special {
                    return Err(WorkspaceError::NotRegular { path: shown });
                }
                let opened = self.open_resolved(&resolved, &shown)?;
                Ok(Some((opened, resolved)))
            }
        }
    }

    /// Opens what a path leads to, which no longer holds a link unless somebody has just put one there.
    fn open_resolved(&self, resolved: &Path, shown: &str) -> Result<Opened, WorkspaceError> {
        let below = resolved.strip_prefix(self.boundary.path()).unwrap_or(resolved);
        self.boundary.try_open(below).map_err(|error| fault(shown.to_owned(), error))
    }

    fn locate(&self, path: &RelPath) -> Result<Option<(PathBuf, Metadata)>, WorkspaceError> {
        let found = self.follow_path(path)?;
        let stamp = found.as_ref().map(|(_, meta)| FileStamp::of(meta));
        self.seen.note(self.directory.join(path.as_str()), stamp);
        Ok(found)
    }

    /// Follows a path name by name; every link on the way has to stay inside the boundary.
    fn follow_path(&self, path: &RelPath) -> Result<Option<(PathBuf, Metadata)>, WorkspaceError> {
        let mut found = self.directory.clone();
        let mut walked = String::new();
        let mut last: Option<Metadata> = None;
        for name in path.names() {
            if last.as_ref().is_some_and(|meta| !meta.is_dir()) {
                return Err(WorkspaceError::NotADirectory { path: self.show(&walked) });
            }
            found.push(name);
            if !walked.is_empty() {
                walked.push('/');
            }
            walked.push_str(name);
            let mut meta = match fs::symlink_metadata(&found) {
                Ok(meta) => meta,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(source) => return Err(WorkspaceError::Io { path: self.show(&walked), source }),
            };
            if meta.is_symlink() {
                (found, meta) = self.follow(&found, &walked)?;
            }
            last = Some(meta);
        }
        Ok(last.map(|meta| (found, meta)))
    }

    fn follow(&self, link: &Path, walked: &str) -> Result<(PathBuf, Metadata), WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: self.show(walked), source };
        let target = match fs::canonicalize(link) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let says = fs::read_link(link).map_err(io)?;
                return Err(WorkspaceError::DanglingLink {
                    link: self.show(walked),
                    target: says.display().to_string(),
                });
            }
            Err(source) => return Err(io(source)),
        };
        if !target.starts_with(self.boundary.path()) {
            return Err(WorkspaceError::LinkOutside {
                link: self.show(walked),
                target: target.display().to_string(),
                boundary: self.boundary_name.clone(),
            });
        }
        let meta = fs::metadata(&target).map_err(io)?;
        Ok((target, meta))
    }
}

/// Reads a file that a person named, wherever it lies, with the checks that every read gets.
///
/// For files given on a command line only. What a workspace refers to goes through
/// [`Workspace`](crate::Workspace), which keeps it inside.
pub fn read_file(path: &Path, limit: u64) -> Result<SourceFile, WorkspaceError> {
    let shown = path.display().to_string();
    let text = decode(read_named(path, limit)?, &shown)?;
    Ok(SourceFile { path: shown, text, first_line: 1 })
}

/// The bytes of a regular file that a person named, wherever it lies; links are followed.
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, WorkspaceError> {
    let shown = path.display().to_string();
    let opened = Opened::named(path).map_err(|error| fault(shown.clone(), error))?;
    opened.read(&shown, limit)
}

/// The bytes of a regular file that is no link itself; `None` if there is none. For state that a program
/// keeps at a known path.
pub fn read_state(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    match Tree::open(directory) {
        Ok(tree) => tree.read(path.file_name().unwrap_or_default(), limit),
        Err(WorkspaceError::NoRoot { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn resolve_directory(path: &Path, shown: &str) -> Result<PathBuf, WorkspaceError> {
    let resolved = fs::canonicalize(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => WorkspaceError::NoRoot { path: shown.into() },
        io::ErrorKind::NotADirectory => WorkspaceError::NotADirectory { path: shown.into() },
        _ => WorkspaceError::Io { path: shown.into(), source },
    })?;
    match fs::metadata(&resolved) {
        Ok(meta) if meta.is_dir() => Ok(resolved),
        Ok(_) => Err(WorkspaceError::NotADirectory { path: shown.into() }),
        Err(source) => Err(WorkspaceError::Io { path: shown.into(), source }),
    }
}

/// Bytes to text: UTF-8 without NUL, byte order mark dropped, CRLF as LF.
pub(crate) fn decode(bytes: Vec<u8>, shown: &str) -> Result<String, WorkspaceError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(WorkspaceError::Utf16 { path: shown.into() });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = line_of(error.as_bytes(), offset);
        WorkspaceError::NotUtf8 { path: shown.into(), line, offset }
    })?;
    if let Some(offset) = text.find('\0') {
        let line = line_of(text.as_bytes(), offset);
        return Err(WorkspaceError::Binary { path: shown.into(), line, offset });
    }
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    Ok(if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text })
}

/// The line, from 1, of a byte offset.
pub(crate) fn line_of(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
