//! What lies in a workspace, by stamps, so that two looks tell what changed in between.
//!
//! A look is bounded, and flooding the workspace hides little. Entries of the earlier look are looked up
//! by name, whatever lies beside them. So are the names of files that run on their own, in every
//! directory that has too many entries. Only other new entries can be too many, and then the snapshot
//! names the directories that it did not list to their end.
//!
//! Links are never followed. The private directory and the insides of `.git` are left out: the first is
//! the host's own, the second has rules of its own.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::PRIVATE_DIR;
use crate::found_file::FileStamp;
use crate::governed::autorun::{Runs, autorun_names, autorun_rule};

/// Entries that were not there at the earlier look.
const MAX_NEW_ENTRIES: usize = 100_000;
/// Entries of one directory.
const MAX_LISTED: usize = 20_000;
/// Directories with too many entries in which names are looked up.
const MAX_LOOKED_UP: usize = 2000;
/// Directories that are listed at the same time. Together with [`MAX_LISTED`] it bounds the memory of a look.
const LISTED_TOGETHER: usize = 16;
/// Threads that list directories: most of a look is waiting for the kernel.
const MAX_THREADS: usize = 4;
/// Directories with very many entries that few people write; they come last.
const LAST: [&str; 6] = ["node_modules", "target", ".venv", "venv", ".tox", "__pycache__"];
const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY)
    .union(OFlags::NONBLOCK);

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotKind {
    File,
    Directory,
    Link,
    /// A pipe, socket or device.
    Other,
}

/// An entry at the time of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotEntry {
    pub kind: SnapshotKind,
    /// Permissions.
    pub mode: u32,
    pub stamp: FileStamp,
}

impl SnapshotEntry {
    /// Whether somebody may execute it.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.kind == SnapshotKind::File && self.mode & 0o111 != 0
    }
}

/// How an entry changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TreeChange {
    Created,
    Modified,
    Removed,
}

/// The entries of a workspace by their relative paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSnapshot {
    /// Sorted by path.
    entries: Vec<(OsString, SnapshotEntry)>,
    /// Directories that were not listed to their end.
    unlisted: BTreeSet<OsString>,
    /// Nanoseconds since 1970.
    taken_at: i64,
}

impl TreeSnapshot {
    /// Looks at a workspace for the first time. The directories on the way to `cwd`, a relative path,
    /// are looked at whatever else there is.
    pub fn take(root: &Path, cwd: &Path) -> io::Result<Self> {
        Walk::new(root, cwd, None, Limits::default())?.run()
    }

    /// Looks again. What was there before is looked up by name.
    pub fn take_again(&self, root: &Path, cwd: &Path) -> io::Result<Self> {
        Walk::new(root, cwd, Some(self), Limits::default())?.run()
    }

    /// All entries, sorted by path.
    pub fn entries(&self) -> impl Iterator<Item = (&OsStr, &SnapshotEntry)> {
        self.entries.iter().map(|(path, entry)| (path.as_os_str(), entry))
    }

    /// The entry at a path.
    #[must_use]
    pub fn get(&self, path: &OsStr) -> Option<&SnapshotEntry> {
        let at = self.entries.binary_search_by(|(known, _)| known.as_os_str().cmp(path)).ok()?;
        self.entries.get(at).map(|(_, entry)| entry)
    }

    /// Directories with more entries than were looked at.
    pub fn unlisted(&self) -> impl Iterator<Item = &OsStr> {
        self.unlisted.iter().map(OsString::as_os_str)
    }

    /// What differs from an earlier look, sorted by path; directories are not among it.
    ///
    /// Where the earlier look did not reach, an entry counts as created if it changed since.
    #[must_use]
    pub fn changes_since<'a>(&'a self, before: &'a Self) -> Vec<(&'a OsStr, TreeChange)> {
        let mut changes = Vec::new();
        let (mut old, mut new) = (before.entries().peekable(), self.entries().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return changes,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let was = if order.is_le() { old.next() } else { None };
            let is = if order.is_ge() { new.next() } else { None };
            let change = match (was, is) {
                (Some((path, was)), None) if was.kind != SnapshotKind::Directory => {
                    (path, TreeChange::Removed)
                }
                (None, Some((path, is))) if is.kind != SnapshotKind::Directory => {
                    if before.did_not_reach(path) && is.stamp.changed < before.taken_at {
                        continue;
                    }
                    (path, TreeChange::Created)
                }
                (Some((path, was)), Some((_, is))) if was != is => match (was.kind, is.kind) {
                    (SnapshotKind::Directory, SnapshotKind::Directory) => continue,
                    (_, SnapshotKind::Directory) => (path, TreeChange::Removed),
                    (SnapshotKind::Directory, _) => (path, TreeChange::Created),
                    _ => (path, TreeChange::Modified),
                },
                _ => continue,
            };
            changes.push(change);
        }
    }

    fn did_not_reach(&self, path: &OsStr) -> bool {
        if self.unlisted.is_empty() {
            return false;
        }
        let bytes = path.as_bytes();
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let outer = slashes.filter_map(|(at, _)| bytes.get(..at)).chain([&b""[..]]);
        outer.map(OsStr::from_bytes).any(|outer| self.unlisted.contains(outer))
    }

    /// Writes the snapshot in a form that [`TreeSnapshot::read`] takes.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let path = |out: &mut dyn io::Write, path: &OsStr| {
            let length = u32::try_from(path.len()).map_err(io::Error::other)?;
            out.write_all(&length.to_le_bytes())?;
            out.write_all(path.as_bytes())
        };
        let count = |out: &mut dyn io::Write, count: usize| {
            out.write_all(&u64::try_from(count).map_err(io::Error::other)?.to_le_bytes())
        };
        out.write_all(&self.taken_at.to_le_bytes())?;
        count(out, self.unlisted.len())?;
        for unlisted in &self.unlisted {
            path(out, unlisted)?;
        }
        count(out, self.entries.len())?;
        for (at, entry) in &self.entries {
            path(out, at)?;
            let kind: u32 = match entry.kind {
                SnapshotKind::File => 0,
                SnapshotKind::Directory => 1,
                SnapshotKind::Link => 2,
                SnapshotKind::Other => 3,
            };
            out.write_all(&(kind << 16 | entry.mode & 0xffff).to_le_bytes())?;
            let stamp = &entry.stamp;
            for number in [stamp.size, stamp.file, stamp.device] {
                out.write_all(&number.to_le_bytes())?;
            }
            for time in [stamp.modified, stamp.changed] {
                out.write_all(&time.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Reads a snapshot that [`TreeSnapshot::write`] wrote.
    pub fn read(from: &mut impl io::Read) -> io::Result<Self> {
        let taken_at = i64::from_le_bytes(take(from)?);
        let mut unlisted = BTreeSet::new();
        for _ in 0..u64::from_le_bytes(take(from)?) {
            unlisted.insert(take_path(from)?);
        }
        let mut entries = Vec::new();
        for _ in 0..u64::from_le_bytes(take(from)?) {
            let path = take_path(from)?;
            let bits = u32::from_le_bytes(take(from)?);
            let kind = match bits >> 16 {
                0 => SnapshotKind::File,
                1 => SnapshotKind::Directory,
                2 => SnapshotKind::Link,
                _ => SnapshotKind::Other,
            };
            let stamp = FileStamp {
                size: u64::from_le_bytes(take(from)?),
                file: u64::from_le_bytes(take(from)?),
                device: u64::from_le_bytes(take(from)?),
                modified: i64::from_le_bytes(take(from)?),
                changed: i64::from_le_bytes(take(from)?),
            };
            entries.push((path, SnapshotEntry { kind, mode: bits & 0xffff, stamp }));
        }
        Ok(Self { entries, unlisted, taken_at })
    }
}

fn take<const N: usize>(from: &mut impl io::Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn take_path(from: &mut impl io::Read) -> io::Result<OsString> {
    let length = u64::from(u32::from_le_bytes(take(from)?));
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).ok() != Some(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(OsString::from_vec(bytes))
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    new_entries: usize,
    listed: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { new_entries: MAX_NEW_ENTRIES, listed: MAX_LISTED }
    }
}

/// A look while it is taken.
struct Walk<'a> {
    root: OwnedFd,
    known: Option<&'a TreeSnapshot>,
    limits: Limits,
    entries: Vec<(OsString, SnapshotEntry)>,
    unlisted: BTreeSet<OsString>,
    /// Entries that the earlier look does not have.
    new: usize,
    /// Such entries below directories of files that run on their own. A flood elsewhere leaves these be.
    new_autorun: usize,
    looked_up: usize,
    /// Directories on the way to the working directory, then of the earlier look, then new ones, then those that come last.
    queue: VecDeque<OsString>,
    last: VecDeque<OsString>,
    taken_at: i64,
}

impl<'a> Walk<'a> {
    fn new(
        root: &Path,
        cwd: &Path,
        known: Option<&'a TreeSnapshot>,
        limits: Limits,
    ) -> io::Result<Self> {
        let root = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let taken_at = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let size = known.map_or(0, |known| known.entries.len());
        let mut walk = Self {
            root,
            known,
            limits,
            entries: Vec::with_capacity(size),
            unlisted: BTreeSet::new(),
            new: 0,
            new_autorun: 0,
            looked_up: 0,
            queue: VecDeque::from([OsString::new()]),
            last: VecDeque::new(),
            taken_at,
        };
        let mut towards = OsString::new();
        for name in cwd.iter().filter(|name| *name != ".") {
            towards = join(&towards, name);
            walk.queue.push_back(towards.clone());
        }
        // What was known is looked at first, however much has appeared since.
        for (path, entry) in known.into_iter().flat_map(TreeSnapshot::entries) {
            if entry.kind == SnapshotKind::Directory && is_walked(path) {
                walk.enqueue(path.to_owned());
            }
        }
        Ok(walk)
    }

    /// Lists some directories at the same time, then notes their entries one after the other, so that the
    /// result does not depend on the threads.
    fn run(mut self) -> io::Result<TreeSnapshot> {
        let mut seen = HashSet::new();
        loop {
            let mut next = Vec::with_capacity(LISTED_TOGETHER);
            while next.len() < LISTED_TOGETHER {
                // Those that come last go one by one: what lies in one is listed before the next.
                let directory = match self.queue.pop_front() {
                    None if next.is_empty() => self.last.pop_front(),
                    directory => directory,
                };
                let Some(directory) = directory else { break };
                if seen.insert(directory.clone()) {
                    next.push(directory);
                }
            }
            if next.is_empty() {
                break;
            }
            for (path, listing) in list_together(&self.root, next, self.limits.listed) {
                self.directory(&path, listing);
            }
        }
        self.entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        self.entries.dedup_by(|(a, _), (b, _)| a == b);
        let Self { entries, unlisted, taken_at, .. } = self;
        Ok(TreeSnapshot { entries, unlisted, taken_at })
    }

    fn enqueue(&mut self, path: OsString) {
        let name = path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let later = LAST.iter().any(|last| last.as_bytes() == name);
        let queue = if later { &mut self.last } else { &mut self.queue };
        queue.push_back(path);
    }

    fn directory(&mut self, path: &OsStr, listing: Result<Listing, Errno>) {
        let listing = match listing {
            Ok(listing) => listing,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return,
            Err(_) => {
                self.unlisted.insert(path.to_owned());
                return;
            }
        };
        let directory = &listing.directory;
        if !self.note_listed(path, &listing) {
            self.unlisted.insert(path.to_owned());
            self.look_up(directory, path);
        }
    }

    /// Notes the entries of a directory; whether these are all.
    fn note_listed(&mut self, path: &OsStr, listing: &Listing) -> bool {
        let is_autorun = runs_on_its_own(path);
        for (name, stat) in &listing.entries {
            let is_full = match is_autorun {
                true => self.new_autorun >= self.limits.listed,
                false => self.new >= self.limits.new_entries,
            };
            if is_full {
                return false;
            }
            let is_new = self.note(path, name, stat);
            let count = if is_autorun { &mut self.new_autorun } else { &mut self.new };
            *count += usize::from(is_new);
        }
        listing.is_whole
    }

    /// Looks up by name what the earlier look had in a directory, and what would run on its own.
    fn look_up(&mut self, directory: &OwnedFd, path: &OsStr) {
        self.looked_up += 1;
        if self.looked_up <= MAX_LOOKED_UP {
            for name in autorun_names().map(|name| name.trim_end_matches('/')) {
                let (outer, name) = name.rsplit_once('/').unwrap_or(("", name));
                // A link on the way is found as itself.
                let first = outer.split('/').next().unwrap_or_default();
                self.note_at(directory, path, OsStr::new(first));
                let outer = OsStr::new(outer);
                if let Ok(inner) = open_beneath(directory, outer) {
                    self.note_at(&inner, &join(path, outer), OsStr::new(name));
                }
            }
        }
        let Some(known) = self.known else { return };
        let mut below = path.as_bytes().to_vec();
        if !below.is_empty() {
            below.push(b'/');
        }
        let from = known.entries.partition_point(|(known, _)| known.as_bytes() < below.as_slice());
        for (known, _) in known.entries.iter().skip(from) {
            let Some(name) = known.as_bytes().strip_prefix(below.as_slice()) else { break };
            if !name.contains(&b'/') {
                self.note_at(directory, path, OsStr::from_bytes(name));
            }
        }
    }

    /// Notes what is at a name, if there is anything.
    fn note_at(&mut self, directory: &OwnedFd, outer: &OsStr, name: &OsStr) {
        if !name.is_empty()
            && let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        {
            self.note(outer, name, &stat);
        }
    }

    /// Notes an entry; whether it is new since the earlier look.
    fn note(&mut self, outer: &OsStr, name: &OsStr, stat: &Stat) -> bool {
        if outer.is_empty() && name == PRIVATE_DIR {
            return false;
        }
        let path = join(outer, name);
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => SnapshotKind::File,
            FileType::Directory => SnapshotKind::Directory,
            FileType::Symlink => SnapshotKind::Link,
            _ => SnapshotKind::Other,
        };
        let known = self.known.and_then(|known| known.get(&path));
        let was_directory = known.is_some_and(|known| known.kind == SnapshotKind::Directory);
        if kind == SnapshotKind::Directory && !was_directory && is_walked(&path) {
            self.enqueue(path.clone());
        }
        let nanoseconds = |seconds: i64, rest: u64| {
            let rest = i64::try_from(rest).unwrap_or_default();
            seconds.saturating_mul(1_000_000_000).saturating_add(rest)
        };
        let is_new = known.is_none();
        let stamp = FileStamp {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            file: stat.st_ino,
            device: stat.st_dev,
        };
        self.entries.push((path, SnapshotEntry { kind, mode: stat.st_mode & 0o7777, stamp }));
        is_new
    }
}

/// The entries of one directory.
struct Listing {
    directory: OwnedFd,
    entries: Vec<(OsString, Stat)>,
    /// Whether these are all.
    is_whole: bool,
}

/// Lists directories on a few threads; in the order in which they were given.
fn list_together(
    root: &OwnedFd,
    directories: Vec<OsString>,
    max: usize,
) -> Vec<(OsString, Result<Listing, Errno>)> {
    let threads =
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS));
    let list_all =
        |part: &[OsString]| -> Vec<_> { part.iter().map(|path| list(root, path, max)).collect() };
    let share = directories.len().div_ceil(threads).max(1);
    let mut parts = directories.chunks(share);
    let own = parts.next().unwrap_or_default();
    let listings: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| {
                let started = std::thread::Builder::new().spawn_scoped(scope, || list_all(part));
                (part, started)
            })
            .collect();
        let mut listings = list_all(own);
        for (part, started) in others {
            // Without a thread, or without its answer, this one does the work.
            let done = started.ok().and_then(|thread| thread.join().ok());
            listings.extend(done.unwrap_or_else(|| list_all(part)));
        }
        listings
    });
    directories.into_iter().zip(listings).collect()
}

fn list(root: &OwnedFd, path: &OsStr, max: usize) -> Result<Listing, Errno> {
    let directory = open_beneath(root, path)?;
    let mut entries = Vec::new();
    let Ok(names) = Dir::read_from(&directory) else {
        return Ok(Listing { directory, entries, is_whole: false });
    };
    let mut is_whole = true;
    for (listed, entry) in names.filter(|entry| !is_dot(entry)).enumerate() {
        let Some(entry) = entry.ok().filter(|_| listed < max) else {
            is_whole = false;
            break;
        };
        let name = entry.file_name();
        if let Ok(stat) = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            entries.push((OsStr::from_bytes(name.to_bytes()).to_owned(), stat));
        }
    }
    Ok(Listing { directory, entries, is_whole })
}

fn is_dot(entry: &rustix::io::Result<DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))
}

/// Whether a directory holds files that run on their own, whatever they are called.
fn runs_on_its_own(directory: &OsStr) -> bool {
    let rule = directory.to_str().and_then(|path| autorun_rule(path, false));
    rule.is_some_and(|rule| rule.runs == Runs::OnItsOwn)
}

/// Whether a path lies in a directory of dependencies or build results, which few people write.
#[must_use]
pub fn is_dependency(path: &str) -> bool {
    path.split('/').any(|name| LAST.contains(&name))
}

/// Whether to look into a directory.
fn is_walked(path: &OsStr) -> bool {
    let name = path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    !name.eq_ignore_ascii_case(b".git")
}

fn join(outer: &OsStr, name: &OsStr) -> OsString {
    let mut path = OsString::with_capacity(outer.len() + name.len() + 1);
    path.push(outer);
    if !outer.is_empty() && !name.is_empty() {
        path.push("/");
    }
    path.push(name);
    path
}

/// Opens a directory below another, through no link.
fn open_beneath(root: &impl AsFd, path: &OsStr) -> Result<OwnedFd, Errno> {
    let start = if path.is_empty() { OsStr::new(".") } else { path };
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(root, start, DIRECTORY, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    let mut directory = rustix::fs::openat(root, ".", DIRECTORY, Mode::empty())?;
    for name in Path::new(start).iter() {
        directory = rustix::fs::openat(&directory, name, DIRECTORY, Mode::empty())?;
    }
    Ok(directory)
}

#[cfg(test)]
#[path = "tree_snapshot_tests.rs"]
mod tests;
