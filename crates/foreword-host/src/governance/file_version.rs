//! Reading and writing what is at a path of the workspace, through no link.
//!
//! A version is replaced in one step: its successor is written in the private directory, which agents
//! cannot reach, and renamed over the name. So a second hard link of the old file keeps what it says, and
//! a link at the name is replaced, never written through.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use foreword_store::FileVersion;
use foreword_workspace::PRIVATE_DIR;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::governance::GovernanceError;
use crate::governance::quarantine::with_rights;
use crate::random::random_hex;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const PERMISSIONS: u32 = 0o7777;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Version(FileVersion),
    /// A file with more bytes than are read.
    TooLarge,
    /// A directory, pipe, socket or device, or a file that cannot be read.
    Other,
    /// Something on the way that is no directory.
    Blocked {
        by: PathBuf,
    },
}

/// The files of a workspace, reached from its root name by name.
pub(crate) struct WorkspaceFiles<'a> {
    root: &'a Path,
}

impl<'a> WorkspaceFiles<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root }
    }

    /// What is at a relative path, up to `limit` bytes of it.
    pub(crate) fn read(&self, path: &Path, limit: usize) -> Result<Found, GovernanceError> {
        let (directory, name) = match self.open_parent(path)? {
            Parent::Open(directory, name) => (directory, name),
            Parent::Absent => return Ok(Found::Version(FileVersion::Absent)),
            Parent::Blocked(by) => return Ok(Found::Blocked { by }),
        };
        let stat = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Found::Version(FileVersion::Absent)),
            Err(error) => return Err(self.io(path, error)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&directory, name, Vec::new());
                let target = target.map_err(|error| self.io(path, error))?.into_bytes();
                Ok(Found::Version(FileVersion::Link { target }))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let Ok(file) = rustix::fs::openat(&directory, name, flags, Mode::empty()) else {
                    return Ok(Found::Other);
                };
                self.read_file(path, file, limit)
            }
            _ => Ok(Found::Other),
        }
    }

    fn read_file(
        &self,
        path: &Path,
        file: OwnedFd,
        limit: usize,
    ) -> Result<Found, GovernanceError> {
        // What was looked at may have been replaced since.
        let stat = rustix::fs::fstat(&file).map_err(|error| self.io(path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Found::Other);
        }
        let mut content = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let read = File::from(file).take(most).read_to_end(&mut content);
        read.map_err(|source| GovernanceError::Io { path: self.root.join(path), source })?;
        if content.len() > limit {
            return Ok(Found::TooLarge);
        }
        let mode = stat.st_mode & PERMISSIONS;
        Ok(Found::Version(FileVersion::File { mode, content }))
    }

    /// Puts a version at a path. Directories on the way are created; anything else there is an error.
    pub(crate) fn write(&self, path: &Path, version: &FileVersion) -> Result<(), GovernanceError> {
        if *version == FileVersion::Absent {
            return self.remove(path);
        }
        let Some(name) = path.file_name() else { return Ok(()) };
        let mut directory = self.open_root()?;
        for outer in path.parent().into_iter().flat_map(Path::iter) {
            directory = self.make_directory(&directory, outer, path)?;
        }
        let root = self.open_root()?;
        let private = rustix::fs::openat(&root, PRIVATE_DIR, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(Path::new(PRIVATE_DIR), error))?;
        let temporary = format!("version-{}", random_hex::<16>().unwrap_or_default());
        let written = self
            .write_temporary(&private, &temporary, version)
            .and_then(|()| {
                let rename =
                    || rustix::fs::renameat(&private, temporary.as_str(), &directory, name);
                Ok(with_rights(rename, &[(&directory, OsStr::new("."))])?)
            })
            .map_err(|source| GovernanceError::Io { path: self.root.join(path), source });
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&private, temporary.as_str(), AtFlags::empty());
        }
        written
    }

    fn write_temporary(
        &self,
        private: &OwnedFd,
        name: &str,
        version: &FileVersion,
    ) -> Result<(), std::io::Error> {
        match version {
            FileVersion::Absent => Ok(()),
            FileVersion::Link { target } => {
                Ok(rustix::fs::symlinkat(OsStr::from_bytes(target), private, name)?)
            }
            FileVersion::File { mode, content } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let file = rustix::fs::openat(private, name, flags, Mode::RUSR | Mode::WUSR)?;
                let mut file = File::from(file);
                file.write_all(content)?;
                // Last, because writing clears the set-user bit.
                rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode))?;
                Ok(())
            }
        }
    }

    /// Removes a file or link.
    fn remove(&self, path: &Path) -> Result<(), GovernanceError> {
        let Parent::Open(directory, name) = self.open_parent(path)? else { return Ok(()) };
        let unlink = || rustix::fs::unlinkat(&directory, name, AtFlags::empty());
        match with_rights(unlink, &[(&directory, OsStr::new("."))]) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.io(path, error)),
        }
    }

    /// Removes a directory if it is empty; whether it was.
    pub(crate) fn remove_empty_directory(&self, path: &Path) -> bool {
        let Ok(Parent::Open(directory, name)) = self.open_parent(path) else { return false };
        rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR).is_ok()
    }

    fn make_directory(
        &self,
        directory: &OwnedFd,
        name: &OsStr,
        shown: &Path,
    ) -> Result<OwnedFd, GovernanceError> {
        let mode = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
        match rustix::fs::mkdirat(directory, name, mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(self.io(shown, error)),
        }
        rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(shown, error))
    }

    fn open_parent<'p>(&self, path: &'p Path) -> Result<Parent<'p>, GovernanceError> {
        let Some(name) = path.file_name() else { return Ok(Parent::Absent) };
        let mut directory = self.open_root()?;
        let mut walked = PathBuf::new();
        for outer in path.parent().into_iter().flat_map(Path::iter) {
            walked.push(outer);
            let open = || rustix::fs::openat(&directory, outer, DIRECTORY, Mode::empty());
            match with_rights(open, &[(&directory, outer)]) {
                Ok(opened) => directory = opened,
                Err(Errno::NOENT) => return Ok(Parent::Absent),
                Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Parent::Blocked(walked)),
                Err(error) => return Err(self.io(&walked, error)),
            }
        }
        Ok(Parent::Open(directory, name))
    }

    fn open_root(&self) -> Result<OwnedFd, GovernanceError> {
        rustix::fs::open(self.root, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(Path::new(""), error))
    }

    fn io(&self, path: &Path, error: Errno) -> GovernanceError {
        GovernanceError::Io { path: self.root.join(path), source: error.into() }
    }
}

enum Parent<'p> {
    Open(OwnedFd, &'p OsStr),
    Absent,
    Blocked(PathBuf),
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::testing::Place;

    fn file(mode: u32, content: &str) -> FileVersion {
        FileVersion::File { mode, content: content.as_bytes().to_vec() }
    }

    #[test]
    fn a_version_is_written_as_it_was_read() {
        let place = Place::new(&["a/tool", ".foreword/"]);
        let at = place.at("a/tool");
        fs::set_permissions(&at, fs::Permissions::from_mode(0o4751)).unwrap();
        let files = WorkspaceFiles::new(&place.root);
        let tool = files.read(Path::new("a/tool"), 100).unwrap();
        assert_eq!(tool, Found::Version(file(0o4751, "a/tool")));
        assert_eq!(files.read(Path::new("a/tool"), 5).unwrap(), Found::TooLarge);
        files.write(Path::new("b/c/tool"), &file(0o4751, "a/tool")).unwrap();
        assert_eq!(files.read(Path::new("b/c/tool"), 100).unwrap(), tool);
        let link = FileVersion::Link { target: b"../x".to_vec() };
        files.write(Path::new("a/tool"), &link).unwrap();
        assert_eq!(files.read(Path::new("a/tool"), 100).unwrap(), Found::Version(link));
        files.write(Path::new("a/tool"), &FileVersion::Absent).unwrap();
        assert!(fs::symlink_metadata(&at).is_err());
        assert_eq!(fs::read_dir(place.at(".foreword")).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_read_or_written_through_a_link() {
        let place = Place::new(&["w/.foreword/", "outside/x"]);
        symlink("../outside", place.at("w/.vscode")).unwrap();
        symlink("../outside/x", place.at("w/.envrc")).unwrap();
        let root = place.at("w");
        let files = WorkspaceFiles::new(&root);
        let blocked = Found::Blocked { by: ".vscode".into() };
        assert_eq!(files.read(Path::new(".vscode/x"), 100).unwrap(), blocked);
        assert!(files.write(Path::new(".vscode/x"), &file(0o644, "evil")).is_err());
        files.write(Path::new(".vscode/x"), &FileVersion::Absent).unwrap();
        files.write(Path::new(".envrc"), &file(0o644, "mine")).unwrap();
        assert_eq!(fs::read_to_string(place.at("w/.envrc")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(place.at("outside/x")).unwrap(), "outside/x");
    }

    #[test]
    fn a_second_name_of_a_file_keeps_what_it_says() {
        let place = Place::new(&[".envrc", ".foreword/"]);
        fs::hard_link(place.at(".envrc"), place.at("notes")).unwrap();
        WorkspaceFiles::new(&place.root).write(Path::new(".envrc"), &file(0o600, "old")).unwrap();
        assert_eq!(fs::read_to_string(place.at("notes")).unwrap(), ".envrc");
        assert_eq!(fs::read_to_string(place.at(".envrc")).unwrap(), "old");
    }

    #[test]
    fn a_pipe_or_a_directory_is_not_opened() {
        let place = Place::new(&[".envrc/"]);
        let pipe = place.at(".npmrc");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let files = WorkspaceFiles::new(&place.root);
        assert_eq!(files.read(Path::new(".envrc"), 9).unwrap(), Found::Other);
        assert_eq!(files.read(Path::new(".npmrc"), 9).unwrap(), Found::Other);
    }
}
