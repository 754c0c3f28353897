//! What an agent created under governed names, put aside after its run.
//!
//! A sandbox cannot forbid a name that nothing has without creating it. So what appears under such a
//! name is moved to `.foreword/quarantine/`, where a person can look at it. Links are never followed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use foreword_workspace::{
    Governed, GovernedContents, GovernedGroup, PRIVATE_DIR, Workspace, WorkspaceError,
};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use foreword_sandbox::SandboxError;
use foreword_workspace::{MAX_ENTRIES, Repositories};

/// Directory below the private one.
const QUARANTINE_DIR: &str = "quarantine";
/// A file larger than this was never accepted as it is.
const MAX_COMPARED_BYTES: u64 = 64 << 20;
/// Entries of a directory that are looked at one by one.
const MAX_DIRECTORY_ENTRIES: usize = 20_000;

/// The governed names and the repositories of a workspace as they were before an agent ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quarantine {
    before: Governed,
    repositories: Repositories,
    /// Settings of repositories that were not there.
    absent_of_git: Vec<PathBuf>,
}

/// Something that was put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuarantinedEntry {
    /// Where it was, relative to the workspace.
    pub path: String,
    /// What it would have been about; nothing for what git would have run.
    pub group: Option<GovernedGroup>,
    /// Where it is now, relative to the workspace.
    pub moved_to: String,
    /// Whether it stood in the place of a link, which is there again.
    pub replaced_link: bool,
}

/// What came of putting aside.
#[derive(Debug, Default)]
pub(crate) struct QuarantineReport {
    /// What was moved.
    pub moved: Vec<QuarantinedEntry>,
    /// What could not be, each with its reason.
    pub faults: Vec<SandboxError>,
}

impl Quarantine {
    /// Remembers what there is. Take it from the same [`Governed`] as the sandbox.
    ///
    /// The directory of skills should exist by then: it is written by the store while an agent runs, and
    /// would be moved away if it had only just appeared.
    #[must_use]
    pub(crate) fn before(governed: &Governed) -> Self {
        let repositories = Repositories::find(governed.root());
        let absent_of_git = repositories.absent();
        Self { before: governed.clone(), repositories, absent_of_git }
    }

    /// As [`run_by_host`](crate::run_by_host), of the repositories that are remembered.
    #[must_use]
    pub(crate) fn run_by_host(&self) -> Vec<PathBuf> {
        self.repositories.read_only()
    }

    /// Moves what appeared since into `.foreword/quarantine/<name>/`, and puts governed links back.
    ///
    /// `name` is made from the time and the session, and has to be one file name. What is as a person
    /// accepted it ([`Trust::accepted`](crate::Trust::accepted)) stays where it is. Whatever else appeared
    /// is moved, whoever made it: nobody can tell the agent's files from a person's. What cannot be
    /// moved keeps nothing else from being moved.
    #[must_use]
    pub(crate) fn after(
        &self,
        workspace: &Workspace,
        name: &str,
        accepted: Option<&GovernedContents>,
    ) -> QuarantineReport {
        let mut done = QuarantineReport::default();
        if let Some(reason) = foreword_workspace::file_name_fault(name) {
            let given = name.to_owned();
            let fault = WorkspaceError::BadPath { given, reason, asked_by: None };
            done.faults.push(fault.into());
            return done;
        }
        let moving = Mover { root: self.before.root(), name };
        for (path, link) in self.before.links() {
            moving.restore(Path::new(path), &link.target, Some(link.group), &mut done);
        }
        // Names that are known need no search, which somebody could make long.
        moving.all(self.absent(), accepted, &mut done);
        self.put_repositories_aside(&moving, &mut done);
        match self.new_instructions(workspace) {
            Ok(new) => moving.all(new, accepted, &mut done),
            Err(fault) => done.faults.push(fault),
        }
        done.moved.sort_by(|a, b| a.path.cmp(&b.path));
        done
    }

    fn put_repositories_aside(&self, moving: &Mover<'_>, done: &mut QuarantineReport) {
        for (path, target) in self.repositories.links() {
            moving.restore(path, target, None, done);
        }
        let now = self.repositories.find_again();
        if self.repositories.is_complete() && !now.is_complete() {
            done.faults.push(SandboxError::TooMuchMade { most: MAX_ENTRIES });
        }
        let new = self.repositories.appeared_in(&now);
        for path in self.absent_of_git.iter().chain(&new) {
            moving.one(path, None, done);
        }
    }

    /// Names that had nothing.
    fn absent(&self) -> BTreeSet<(String, GovernedGroup)> {
        let private = Path::new(PRIVATE_DIR);
        let absent = self.before.absent().iter();
        let visible = absent.filter(|(path, _)| !Path::new(path).starts_with(private));
        visible.map(|(path, group)| (path.clone(), *group)).collect()
    }

    /// Nested instructions that were not there.
    fn new_instructions(
        &self,
        workspace: &Workspace,
    ) -> Result<BTreeSet<(String, GovernedGroup)>, SandboxError> {
        let mut names = BTreeSet::new();
        let now = workspace.governed()?;
        let instructions = now.paths().iter().map(|(path, group)| (path, *group));
        let links = now.links().iter().map(|(path, link)| (path, link.group));
        for (path, group) in instructions.chain(links) {
            let known =
                self.before.paths().contains_key(path) || self.before.links().contains_key(path);
            if group == GovernedGroup::Instructions && !known {
                names.insert((path.clone(), group));
            }
        }
        Ok(names)
    }
}

enum Accepted {
    No,
    Yes,
    /// A directory, of which some was; its entries.
    Partly(Vec<String>),
}

struct Mover<'a> {
    root: &'a Path,
    name: &'a str,
}

impl Mover<'_> {
    /// Moves what was not accepted of these.
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
                Accepted::No => self.one(Path::new(&path), Some(group), done),
                Accepted::Yes => {}
                Accepted::Partly(inside) => {
                    appeared.extend(inside.into_iter().rev().map(|path| (path, group)));
                }
            }
        }
    }

    fn one(&self, path: &Path, group: Option<GovernedGroup>, done: &mut QuarantineReport) {
        match self.put_aside(path) {
            Ok(None) => {}
            Ok(Some(moved_to)) => {
                let path = path.to_string_lossy().into_owned();
                done.moved.push(QuarantinedEntry { path, group, moved_to, replaced_link: false });
            }
            Err(fault) => done.faults.push(fault),
        }
    }

    /// Puts a link back, and what stands in its place aside.
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
            let moved_to = self.put_aside(path)?;
            self.put_link_back(path, target)?;
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

    /// Whether what is at a path is as a person accepted it; for a directory, what there is in it if
    /// some of that was accepted.
    fn accepted(&self, path: &str, accepted: Option<&GovernedContents>) -> Accepted {
        let Some(accepted) = accepted else { return Accepted::No };
        let at = self.root.join(path);
        let Ok(meta) = fs::symlink_metadata(&at) else { return Accepted::No };
        if let Some(file) = accepted.files.get(path) {
            let small = meta.is_file() && meta.len() <= MAX_COMPARED_BYTES;
            let same =
                small && fs::read(&at).is_ok_and(|bytes| blake3::hash(&bytes) == file.digest);
            return if same { Accepted::Yes } else { Accepted::No };
        }
        let below = format!("{path}/");
        let next = accepted.files.range(below.clone()..).next();
        if !meta.is_dir() || !next.is_some_and(|(known, _)| known.starts_with(&below)) {
            return Accepted::No;
        }
        let names = fs::read_dir(&at).into_iter().flatten().flatten();
        let mut inside: Vec<String> = names
            .filter_map(|entry| Some(format!("{below}{}", entry.file_name().to_str()?)))
            .take(MAX_DIRECTORY_ENTRIES)
            .collect();
        inside.sort();
        Accepted::Partly(inside)
    }

    /// Moves what is at a path, if there is anything and no link on the way; says where it went.
    fn put_aside(&self, path: &Path) -> Result<Option<String>, SandboxError> {
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
        // Two of one name, one put aside and one made again, are both kept.
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
        // A directory that moves is written too, for it holds the way back.
        or_opened(rename, &[(&directory, OsStr::new(".")), (&directory, name)]).map_err(io)?;
        Ok(Some(moved_to.join(free).to_string_lossy().into_owned()))
    }

    /// The outermost link that stands where a directory would have to be, or else the path itself.
    ///
    /// There was nothing at the path before, so the link was made since, and leads a governed name to
    /// whatever somebody put elsewhere.
    fn link_on_the_way(&self, path: &str) -> Result<String, SandboxError> {
        for outer in path.match_indices('/').filter_map(|(at, _)| path.get(..at)) {
            let Some((directory, name)) = self.directory_of(Path::new(outer))? else { break };
            let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
            if stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink) {
                return Ok(outer.to_owned());
            }
        }
        Ok(path.to_owned())
    }

    fn link_is(&self, path: &Path, target: &Path) -> Result<bool, SandboxError> {
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(false) };
        Ok(rustix::fs::readlinkat(&directory, name, Vec::new())
            .is_ok_and(|says| says.as_bytes() == target.as_os_str().as_bytes()))
    }

    fn put_link_back(&self, path: &Path, target: &Path) -> Result<(), SandboxError> {
        let Some((directory, name)) = self.directory_of(path)? else { return Ok(()) };
        rustix::fs::symlinkat(target, &directory, name).map_err(|error| self.io(path, error))
    }

    /// The directory a path lies in, opened name by name; `None` if it is not there or behind a link.
    fn directory_of<'p>(
        &self,
        path: &'p Path,
    ) -> Result<Option<(OwnedFd, &'p OsStr)>, SandboxError> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let mut directory = self.open_root()?;
        for outer in path.parent().into_iter().flat_map(Path::iter) {
            let open = || rustix::fs::openat(&directory, outer, DIRECTORY, Mode::empty());
            match or_opened(open, &[(&directory, outer)]) {
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
    ) -> Result<OwnedFd, SandboxError> {
        match rustix::fs::mkdirat(directory, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(self.io(shown, error)),
        }
        rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(shown, error))
    }

    fn open_root(&self) -> Result<OwnedFd, SandboxError> {
        rustix::fs::open(self.root, DIRECTORY, Mode::empty())
            .map_err(|error| self.io(Path::new(""), error))
    }

    fn io(&self, path: &Path, error: Errno) -> SandboxError {
        SandboxError::Io { path: self.root.join(path), source: error.into() }
    }
}

/// Tries something again after giving the owner every right to some directories, if rights were missing.
fn or_opened<T>(
    attempt: impl Fn() -> Result<T, Errno>,
    directories: &[(&OwnedFd, &OsStr)],
) -> Result<T, Errno> {
    let done = attempt();
    if !matches!(done, Err(Errno::ACCESS | Errno::PERM)) {
        return done;
    }
    for (outer, name) in directories {
        let stat = rustix::fs::statat(outer, *name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            // If that is not ours to do, the second attempt says so.
            let _ = rustix::fs::chmodat(outer, *name, Mode::RWXU, AtFlags::empty());
        }
    }
    attempt()
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[cfg(test)]
#[path = "quarantine_tests.rs"]
mod tests;
