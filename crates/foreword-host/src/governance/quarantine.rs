//! Moving governed files that an agent created into quarantine after its turn.
//!
//! A sandbox can protect a file that exists, but it cannot forbid creating one. So whatever appears
//! under a governed name is moved to `.foreword/quarantine/`, where a person can review it. Links are
//! never followed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use foreword_workspace::{
    Governed, GovernedContents, GovernedGroup, MAX_ENTRIES, PRIVATE_DIR, Repositories, Tree,
    WorkspaceError, file_name_fault,
};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::governance::GovernanceError;

/// In the private directory.
const QUARANTINE_DIR: &str = "quarantine";
/// Larger files are never accepted, so they need not be compared.
const MAX_COMPARED_BYTES: u64 = 64 << 20;
/// Entries of a partly accepted directory that are checked one by one.
const MAX_DIRECTORY_ENTRIES: usize = 20_000;

/// The governed names and repositories of a workspace before an agent ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quarantine {
    before: Governed,
    repositories: Repositories,
    /// Settings files that the repositories did not have.
    absent_git_files: Vec<PathBuf>,
}

/// A file or directory that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuarantinedEntry {
    /// Where it was, relative to the workspace.
    pub path: String,
    /// `None` for files that configure git.
    pub group: Option<GovernedGroup>,
    /// Where it is now, relative to the workspace.
    pub moved_to: String,
    /// Whether it had replaced a link, which has been restored.
    pub replaced_link: bool,
}

/// What was moved, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct QuarantineReport {
    pub moved: Vec<QuarantinedEntry>,
    pub faults: Vec<GovernanceError>,
}

impl Quarantine {
    /// Notes what exists. Use the same [`Governed`] as the sandbox.
    ///
    /// The skills directory must exist by then: the store writes to it while the agent runs, and a
    /// directory that appears only then would be moved.
    pub(crate) fn before(governed: &Governed, repositories: Repositories) -> Self {
        let absent_git_files = repositories.absent();
        Self { before: governed.clone(), repositories, absent_git_files }
    }

    /// Moves what has appeared since into `.foreword/quarantine/<name>/`, and restores governed links.
    ///
    /// Files that equal what the person `accepted` stay. Everything else is moved, since an agent's
    /// files cannot be told from a person's. A file that cannot be moved does not stop the others.
    pub(crate) fn after(
        &self,
        name: &str,
        accepted: Option<&GovernedContents>,
    ) -> QuarantineReport {
        let mut done = QuarantineReport::default();
        if let Some(reason) = file_name_fault(name) {
            let given = name.to_owned();
            let fault = WorkspaceError::BadPath { given, reason, asked_by: None };
            done.faults.push(fault.into());
            return done;
        }
        let moving = Mover { root: self.before.root(), name };
        for (path, link) in self.before.links() {
            moving.restore(Path::new(path), &link.target, Some(link.group), &mut done);
        }
        moving.all(self.absent(), accepted, &mut done);
        self.move_git_files(&moving, &mut done);
        done.moved.sort_by(|a, b| a.path.cmp(&b.path));
        done
    }

    fn move_git_files(&self, moving: &Mover<'_>, done: &mut QuarantineReport) {
        for (path, target) in self.repositories.links() {
            moving.restore(path, target, None, done);
        }
        let now = self.repositories.find_again();
        if self.repositories.is_complete() && !now.is_complete() {
            done.faults.push(GovernanceError::TooManyEntries { max: MAX_ENTRIES });
        }
        let new = self.repositories.appeared_in(&now);
        for path in self.absent_git_files.iter().chain(&new) {
            moving.one(path, None, done);
        }
    }

    /// Governed names that did not exist.
    fn absent(&self) -> BTreeSet<(String, GovernedGroup)> {
        let private = Path::new(PRIVATE_DIR);
        let absent = self.before.absent().iter();
        let visible = absent.filter(|(path, _)| !Path::new(path).starts_with(private));
        visible.map(|(path, group)| (path.clone(), *group)).collect()
    }
}

enum Acceptance {
    No,
    Yes,
    /// A directory of which some entries were accepted; all its entries.
    Partly(Vec<String>),
}

/// Moves entries of a workspace to `.foreword/quarantine/<name>/`.
pub(super) struct Mover<'a> {
    pub(super) root: &'a Path,
    pub(super) name: &'a str,
}

impl Mover<'_> {
    /// Moves those of these that were not accepted.
    fn all(
        &self,
        appeared: BTreeSet<(String, GovernedGroup)>,
        accepted: Option<&GovernedContents>,
        done: &mut QuarantineReport,
    ) {
        let mut appeared: Vec<(String, GovernedGroup)> = appeared.into_iter().rev().collect();
        while let Some((path, group)) = appeared.pop() {
            let path = match self.link_on_the_way(&path) {
                Ok(path) => path,
                Err(fault) => {
                    done.faults.push(fault);
                    continue;
                }
            };
            match self.accepted(&path, accepted) {
                Acceptance::No => self.one(Path::new(&path), Some(group), done),
                Acceptance::Yes => {}
                Acceptance::Partly(inside) => {
                    appeared.extend(inside.into_iter().rev().map(|path| (path, group)));
                }
            }
        }
    }

    fn one(&self, path: &Path, group: Option<GovernedGroup>, done: &mut QuarantineReport) {
        match self.quarantine(path) {
            Ok(None) => {}
            Ok(Some(moved_to)) => {
                let path = path.to_string_lossy().into_owned();
                done.moved.push(QuarantinedEntry { path, group, moved_to, replaced_link: false });
            }
            Err(fault) => done.faults.push(fault),
        }
    }

    /// Restores a link, and moves what has replaced it.
    fn restore(
        &self,
        path: &Path,
        target: &Path,
        group: Option<GovernedGroup>,
        done: &mut QuarantineReport,
    ) {
        let restored = self.link_is(path, target).and_then(|same| {
            if same {
                return Ok(None);
            }
            let moved_to = self.quarantine(path)?;
            self.restore_link(path, target)?;
            Ok(moved_to)
        });
        match restored {
            Ok(None) => {}
            Ok(Some(moved_to)) => {
                let path = path.to_string_lossy().into_owned();
                done.moved.push(QuarantinedEntry { path, group, moved_to, replaced_link: true });
            }
            Err(fault) => done.faults.push(fault),
        }
    }

    /// Whether a path holds what the person accepted.
    fn accepted(&self, path: &str, accepted: Option<&GovernedContents>) -> Acceptance {
        let Some(accepted) = accepted else { return Acceptance::No };
        let Ok(tree) = Tree::open(self.root) else { return Acceptance::No };
        if let Some(file) = accepted.files.get(path) {
            let now = tree.read(path, MAX_COMPARED_BYTES).ok().flatten();
            let same = now.is_some_and(|bytes| blake3::hash(&bytes) == file.digest);
            return if same { Acceptance::Yes } else { Acceptance::No };
        }
        let below = format!("{path}/");
        let next = accepted.files.range(below.clone()..).next();
        if !next.is_some_and(|(known, _)| known.starts_with(&below)) {
            return Acceptance::No;
        }
        let Ok(Some(entries)) = tree.list(path, MAX_DIRECTORY_ENTRIES) else {
            return Acceptance::No;
        };
        let names = entries.into_iter().filter(|entry| entry.is_unicode);
        Acceptance::Partly(names.map(|entry| format!("{below}{}", entry.name)).collect())
    }

    /// Moves what is at a path, unless a link leads there; returns where it went.
    pub(super) fn quarantine(&self, path: &Path) -> Result<Option<String>, GovernanceError> {
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(None) };
        let io = |error: Errno| self.io(path, error);
        match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => {}
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(io(error)),
        }
        let mut to = self.open_root()?;
        let mut moved_to = PathBuf::new();
        let outer = path.parent().into_iter().flat_map(Path::iter);
        let names = [PRIVATE_DIR, QUARANTINE_DIR, self.name].map(OsStr::new);
        for name in names.into_iter().chain(outer) {
            moved_to.push(name);
            to = self.make_and_open(&to, name, &moved_to)?;
        }
        // Keeps both if something of this name was moved here before.
        let mut free = name.to_owned();
        for count in 2..1000 {
            match rustix::fs::statat(&to, free.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => break,
                _ => {
                    free = name.to_owned();
                    free.push(format!("~{count}"));
                }
            }
        }
        let rename = || rustix::fs::renameat(&directory, name, &to, free.as_os_str());
        // Moving a directory also writes to it, since its `..` changes.
        with_rights(rename, &[(&directory, OsStr::new(".")), (&directory, name)]).map_err(io)?;
        Ok(Some(moved_to.join(free).to_string_lossy().into_owned()))
    }

    /// Gives a directory its permissions back.
    pub(super) fn reopen(&self, path: &Path, mode: u32) -> Result<(), GovernanceError> {
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(()) };
        set_mode(&directory, name, Mode::from_raw_mode(mode)).map_err(|error| self.io(path, error))
    }

    /// The outermost link on the way to a path, or else the path itself.
    ///
    /// The path did not exist before, so such a link is new and would lead a governed name elsewhere.
    fn link_on_the_way(&self, path: &str) -> Result<String, GovernanceError> {
        for outer in path.match_indices('/').filter_map(|(at, _)| path.get(..at)) {
            let Some((directory, name)) = self.directory_of(Path::new(outer))? else { break };
            let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
            if stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink) {
                return Ok(outer.to_owned());
            }
        }
        Ok(path.to_owned())
    }

    fn link_is(&self, path: &Path, target: &Path) -> Result<bool, GovernanceError> {
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(false) };
        Ok(rustix::fs::readlinkat(&directory, name, Vec::new())
            .is_ok_and(|says| says.as_bytes() == target.as_os_str().as_bytes()))
    }

    fn restore_link(&self, path: &Path, target: &Path) -> Result<(), GovernanceError> {
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(()) };
        rustix::fs::symlinkat(target, &directory, name).map_err(|error| self.io(path, error))
    }

    /// The directory of a path, opened name by name; `None` if it is missing or behind a link.
    fn directory_of<'p>(
        &self,
        path: &'p Path,
    ) -> Result<Option<(OwnedFd, &'p OsStr)>, GovernanceError> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let mut directory = self.open_root()?;
        for outer in path.parent().into_iter().flat_map(Path::iter) {
            let open = || rustix::fs::openat(&directory, outer, DIRECTORY, Mode::empty());
            match with_rights(open, &[(&directory, outer)]) {
                Ok(opened) => directory = opened,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(error) => return Err(self.io(path, error)),
            }
        }
        Ok(Some((directory, name)))
    }

    fn make_and_open(
        &self,
        directory: &OwnedFd,
        name: &OsStr,
        shown: &Path,
    ) -> Result<OwnedFd, GovernanceError> {
        match rustix::fs::mkdirat(directory, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(self.io(shown, error)),
        }
        rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(shown, error))
    }

    fn open_root(&self) -> Result<OwnedFd, GovernanceError> {
        rustix::fs::open(self.root, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(Path::new(""), error))
    }

    fn io(&self, path: &Path, error: Errno) -> GovernanceError {
        GovernanceError::Io { path: self.root.join(path), source: error.into() }
    }
}

/// Retries after giving the owner all rights to these directories, if rights were missing.
pub(super) fn with_rights<T>(
    attempt: impl Fn() -> Result<T, Errno>,
    directories: &[(&OwnedFd, &OsStr)],
) -> Result<T, Errno> {
    let done = attempt();
    if !matches!(done, Err(Errno::ACCESS | Errno::PERM)) {
        return done;
    }
    for (outer, name) in directories {
        // If this fails, so does the second attempt, with the same error.
        let _ = set_mode(outer, name, Mode::RWXU);
    }
    attempt()
}

/// Changes the permissions of a directory, and never those of what a link leads to.
#[cfg(target_os = "linux")]
fn set_mode(outer: &OwnedFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    // A directory that its owner may not read can only be opened as a path, and `fchmod` refuses that.
    let directory = rustix::fs::openat(outer, name, DIRECTORY.union(OFlags::PATH), Mode::empty())?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", directory.as_raw_fd()), mode)
}

/// Changes the permissions of a directory that can be read, and never those of what a link leads to.
#[cfg(not(target_os = "linux"))]
fn set_mode(outer: &OwnedFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    let directory = rustix::fs::openat(outer, name, DIRECTORY, Mode::empty())?;
    rustix::fs::fchmod(&directory, mode)
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[cfg(test)]
#[path = "quarantine_tests.rs"]
mod tests;
