//! The one way in which files of a workspace, of `.git` and of `.foreword` are opened.
//!
//! A [`Tree`] is the handle of a directory that cannot be left. A path below it is followed without
//! links, by the kernel in one step where it can (`openat2`) and name by name elsewhere, so that
//! nothing can be exchanged between a check and a read. A file is opened without waiting, looked at
//! through its handle and read only if it is a regular file within the limit: a pipe, a device, a link
//! or a file of gigabytes is an error with its name, never a hang and never a balloon.
//!
//! Which links may be followed is the business of [`Root`](crate::read::Root), which resolves them
//! first and then opens what it found through the tree around it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::WorkspaceError;
use crate::found_file::{FileKind, FileStamp};
use crate::read::decode;

/// Opening never waits for a writer and never makes a device the terminal of this process.
const READING: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// A directory whose files are read, and that cannot be left.
#[derive(Debug, Clone)]
pub struct Tree {
    handle: Arc<OwnedFd>,
    path: PathBuf,
    /// What is put in front of a path to show it to a person.
    shown: String,
}

/// A name in a directory. Links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// The name; an approximation if it is not Unicode.
    pub name: String,
    /// Whether `name` is the name, and no approximation.
    pub is_unicode: bool,
    /// What it is.
    pub kind: TreeEntryKind,
}

/// What a name in a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeEntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Special,
}

/// A file or directory that was opened without following a link.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) handle: OwnedFd,
    pub(crate) kind: FileKind,
    pub(crate) stamp: FileStamp,
}

impl Tree {
    /// Opens a directory that a person named: links on the way to it are followed.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let shown = path.display().to_string();
        Self::open_as(path, &shown)
    }

    /// The same, shown to a person under another name; an empty one for a workspace.
    pub fn open_as(path: &Path, shown: &str) -> Result<Self, WorkspaceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            Errno::NOENT => WorkspaceError::NoRoot { path: path.display().to_string() },
            Errno::NOTDIR => WorkspaceError::NotADirectory { path: path.display().to_string() },
            error => WorkspaceError::Io { path: path.display().to_string(), source: error.into() },
        })?;
        let shown = shown.trim_end_matches('/');
        let shown = if shown.is_empty() { String::new() } else { format!("{shown}/") };
        Ok(Self { handle: Arc::new(handle), path: path.to_path_buf(), shown })
    }

    /// A directory that was opened already.
    pub(crate) fn of(opened: Opened, path: &Path, shown: &str) -> Result<Self, WorkspaceError> {
        if opened.kind != FileKind::Directory {
            return Err(WorkspaceError::NotADirectory { path: shown.to_owned() });
        }
        let handle = Arc::new(opened.handle);
        Ok(Self { handle, path: path.to_path_buf(), shown: format!("{shown}/") })
    }

    /// Where it is, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory below; `None` if there is none.
    pub fn subtree(&self, path: impl AsRef<Path>) -> Result<Option<Self>, WorkspaceError> {
        let path = path.as_ref();
        let Some(opened) = self.opened(path)? else { return Ok(None) };
        if opened.kind != FileKind::Directory {
            return Err(WorkspaceError::NotADirectory { path: self.show(path) });
        }
        Ok(Some(Self {
            handle: Arc::new(opened.handle),
            path: self.path.join(path),
            shown: format!("{}/", self.show(path)),
        }))
    }

    /// The bytes of a regular file; `None` if there is none.
    pub fn read(
        &self,
        path: impl AsRef<Path>,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let path = path.as_ref();
        match self.opened(path)? {
            Some(opened) => opened.read(&self.show(path), limit).map(Some),
            None => Ok(None),
        }
    }

    /// The text of a regular file: UTF-8, with the checks of every file of a workspace; `None` if there
    /// is none.
    pub fn read_text(
        &self,
        path: impl AsRef<Path>,
        limit: u64,
    ) -> Result<Option<String>, WorkspaceError> {
        let path = path.as_ref();
        self.read(path, limit)?.map(|bytes| decode(bytes, &self.show(path))).transpose()
    }

    /// The handle of a regular file, to read parts of it, and its size; `None` if there is none.
    pub fn file(&self, path: impl AsRef<Path>) -> Result<Option<(File, u64)>, WorkspaceError> {
        let path = path.as_ref();
        let Some(opened) = self.opened(path)? else { return Ok(None) };
        opened.kind.check(0, &self.show(path), u64::MAX)?;
        Ok(Some((File::from(opened.handle), opened.stamp.size)))
    }

    /// The names in a directory, sorted; `None` if there is none. An empty path is the tree itself.
    pub fn list(
        &self,
        path: impl AsRef<Path>,
        limit: usize,
    ) -> Result<Option<Vec<TreeEntry>>, WorkspaceError> {
        let path = path.as_ref();
        let Some(opened) = self.opened(path)? else { return Ok(None) };
        opened.list(&self.show(path), limit).map(Some)
    }

    /// What is at a path, and its stamp, without following a link at its end; `None` if nothing is.
    pub fn stat(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Option<(TreeEntryKind, FileStamp)>, WorkspaceError> {
        let path = path.as_ref();
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(None) };
        match rustix::fs::statat(&*directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let kind = TreeEntryKind::of(FileType::from_raw_mode(stat.st_mode));
                Ok(Some((kind, FileStamp::of_stat(&stat))))
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(self.io(path, error)),
        }
    }

    /// What a link says; `None` if nothing or something else is there.
    pub fn link(&self, path: impl AsRef<Path>) -> Result<Option<PathBuf>, WorkspaceError> {
        use std::os::unix::ffi::OsStringExt as _;
        let path = path.as_ref();
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(None) };
        match rustix::fs::readlinkat(&*directory, name, Vec::new()) {
            Ok(target) => {
                Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()))))
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::INVAL) => Ok(None),
            Err(error) => Err(self.io(path, error)),
        }
    }

    /// Refuses anything below a path that is neither a directory nor a regular file, for programs that
    /// open files by their names and would follow a link or wait for a pipe.
    pub fn check_plain(&self, path: impl AsRef<Path>, limit: usize) -> Result<(), WorkspaceError> {
        let mut left = limit;
        let mut directories = vec![path.as_ref().to_path_buf()];
        while let Some(directory) = directories.pop() {
            let too_many = || WorkspaceError::TooManyEntries { path: self.show(&directory), limit };
            for entry in self.list(&directory, left)?.unwrap_or_default() {
                left = left.checked_sub(1).ok_or_else(too_many)?;
                let path = directory.join(&entry.name);
                match entry.kind {
                    TreeEntryKind::File => {}
                    TreeEntryKind::Directory if entry.is_unicode => directories.push(path),
                    TreeEntryKind::Link => {
                        return Err(WorkspaceError::IsLink { path: self.show(&path) });
                    }
                    TreeEntryKind::Special | TreeEntryKind::Directory => {
                        return Err(WorkspaceError::NotRegular { path: self.show(&path) });
                    }
                }
            }
        }
        Ok(())
    }

    /// The directory of a path, and the name in it.
    fn directory_of<'p>(
        &self,
        path: &'p Path,
    ) -> Result<Option<(Arc<OwnedFd>, &'p std::ffi::OsStr)>, WorkspaceError> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let directory = path.parent().unwrap_or(Path::new(""));
        if directory.as_os_str().is_empty() {
            return Ok(Some((Arc::clone(&self.handle), name)));
        }
        match open_below(self.handle.as_fd(), directory, READING) {
            Ok(directory) => Ok(Some((Arc::new(directory), name))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(self.io(directory, error)),
        }
    }

    fn opened(&self, path: &Path) -> Result<Option<Opened>, WorkspaceError> {
        match self.try_open(path) {
            Ok(opened) => Ok(Some(opened)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(self.io(path, error)),
        }
    }

    /// Opens what is at a path without following any link.
    pub(crate) fn try_open(&self, path: &Path) -> Result<Opened, Errno> {
        Opened::of(open_below(self.handle.as_fd(), path, READING)?)
    }

    fn io(&self, path: &Path, error: Errno) -> WorkspaceError {
        fault(self.show(path), error)
    }

    fn show(&self, path: &Path) -> String {
        if path.as_os_str().is_empty() {
            let shown = self.shown.trim_end_matches('/');
            return if shown.is_empty() { ".".into() } else { shown.into() };
        }
        format!("{}{}", self.shown, path.display())
    }
}

/// Why something could not be opened without following links.
pub(crate) fn fault(path: String, error: Errno) -> WorkspaceError {
    match error {
        Errno::LOOP => WorkspaceError::IsLink { path },
        // A socket, or a device without a driver.
        Errno::NXIO | Errno::NODEV => WorkspaceError::NotRegular { path },
        error => WorkspaceError::Io { path, source: error.into() },
    }
}

impl Opened {
    fn of(handle: OwnedFd) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&handle)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::Regular,
            FileType::Directory => FileKind::Directory,
            _ => FileKind::Special,
        };
        Ok(Self { kind, stamp: FileStamp::of_stat(&stat), handle })
    }

    /// Opens a file that a person named, wherever it lies, following links.
    pub(crate) fn named(path: &Path) -> Result<Self, Errno> {
        let flags = READING.difference(OFlags::NOFOLLOW);
        Self::of(rustix::fs::open(path, flags, Mode::empty())?)
    }

    /// All bytes of a regular file within a limit.
    pub(crate) fn read(self, shown: &str, limit: u64) -> Result<Vec<u8>, WorkspaceError> {
        self.kind.check(self.stamp.size, shown, limit)?;
        let mut bytes = Vec::with_capacity(usize::try_from(self.stamp.size).unwrap_or(0) + 1);
        File::from(self.handle)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| WorkspaceError::Io { path: shown.to_owned(), source })?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > limit {
            return Err(WorkspaceError::TooLarge { path: shown.to_owned(), size, limit });
        }
        Ok(bytes)
    }

    /// The names in a directory, sorted.
    pub(crate) fn list(self, shown: &str, limit: usize) -> Result<Vec<TreeEntry>, WorkspaceError> {
        let io = |error: Errno| WorkspaceError::Io { path: shown.to_owned(), source: error.into() };
        if self.kind != FileKind::Directory {
            return Err(WorkspaceError::NotADirectory { path: shown.to_owned() });
        }
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() >= limit {
                return Err(WorkspaceError::TooManyEntries { path: shown.to_owned(), limit });
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                        Err(Errno::NOENT) => continue,
                        Err(error) => return Err(io(error)),
                    }
                }
                kind => kind,
            };
            let (name, is_unicode) = match name.to_str() {
                Ok(name) => (name.to_owned(), true),
                Err(_) => (name.to_string_lossy().into_owned(), false),
            };
            entries.push(TreeEntry { name, is_unicode, kind: TreeEntryKind::of(kind) });
        }
        entries.sort();
        Ok(entries)
    }
}

impl TreeEntryKind {
    fn of(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Self::Directory,
            FileType::RegularFile => Self::File,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

/// Opens a path below a directory; a link anywhere on the way is `ELOOP`.
fn open_below(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    if path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(Errno::XDEV);
    }
    #[cfg(target_os = "linux")]
    match in_one_step(directory, path, flags) {
        // A kernel before 5.6, or a filter of system calls that does not know this one.
        Err(Errno::NOSYS | Errno::PERM) => {}
        opened => return opened,
    }
    name_by_name(directory, path, flags)
}

#[cfg(target_os = "linux")]
fn in_one_step(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(directory, path, flags, Mode::empty(), resolve)
}

fn name_by_name(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let Some(mut name) = names.next() else {
        return rustix::fs::openat(directory, ".", flags, Mode::empty());
    };
    let mut outer: Option<OwnedFd> = None;
    loop {
        let at = outer.as_ref().map_or(directory, AsFd::as_fd);
        let next = names.next();
        let wanted = if next.is_some() { READING | OFlags::DIRECTORY } else { flags };
        let opened = rustix::fs::openat(at, name, wanted, Mode::empty()).map_err(|error| {
            // A link where a directory is wanted is reported as no directory.
            let stat = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
            let is_link =
                stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            if is_link { Errno::LOOP } else { error }
        })?;
        match next {
            Some(next) => (outer, name) = (Some(opened), next),
            None => return Ok(opened),
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
