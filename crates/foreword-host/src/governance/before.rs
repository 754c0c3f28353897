//! The state of a workspace before a turn, so that what the turn changed can be told and put back.
//!
//! It is kept in `.foreword/before/`, where agents cannot reach it: stamps of every file, and copies of
//! the files that run. A host that finds the state of a turn whose host died accounts for that turn.
//!
//! Turns may overlap, and a turn that starts later takes what an earlier agent wrote for the state
//! before. So whoever puts a file back tells the other turns ([`settle`]), which then expect that.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use foreword_gather::KeptIndex;
use foreword_store::{FileVersion, MAX_HELD_BYTES};
use foreword_workspace::{
    AutorunRule, PRIVATE_DIR, Runs, SnapshotEntry, SnapshotKind, Tree, TreeEntryKind, TreeSnapshot,
    WorkspaceError, autorun_directory_rule, autorun_rule, is_dependency,
};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::governance::GovernanceError;
use crate::governance::file_version::{Found, WorkspaceFiles};

const BEFORE_DIR: &str = "before";
const LOCK_FILE: &str = "lock";
const MANIFEST_FILE: &str = "manifest.json";
const TREE_FILE: &str = "tree";
const COPIES_FILE: &str = "copies";
const SETTLED_FILE: &str = "settled";
/// Bytes of all copies of files that run on their own. What does not fit is read-only in the sandbox.
const MAX_OWN_BYTES: u64 = 16 << 20;
/// Bytes of one copy, and of all copies, of files that run when called.
const MAX_CALLED_FILE: u64 = 256 << 10;
const MAX_CALLED_BYTES: u64 = 32 << 20;
/// Files that are copied.
const MAX_COPIES: usize = 5000;
/// Files that are made read-only because they cannot be copied; each is a mount.
const MAX_READ_ONLY: usize = 200;
/// Links followed from one file that runs on its own.
const MAX_LINK_HOPS: usize = 8;
/// Turns whose state is looked at.
const MAX_STATES: usize = 10_000;
/// Bytes of a manifest or of the notes of other turns.
const MAX_STATE_BYTES: u64 = 64 << 20;

/// Which turn a state belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TurnId {
    pub(crate) session: String,
    pub(crate) turn: u64,
    /// As the audit log names it.
    pub(crate) agent: String,
    /// The process of the host.
    pub(crate) owner: String,
    /// Relative to the workspace.
    pub(crate) cwd: PathBuf,
}

/// A copied file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Copied {
    Absent,
    File { mode: u32, at: u64, length: u64 },
    Link { target: Vec<u8> },
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    turn: TurnId,
    copies: BTreeMap<String, Copied>,
}

/// What was at a path before a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Known(FileVersion),
    /// There was something that was not copied.
    Unknown,
}

/// The state of a workspace before a turn.
#[derive(Debug)]
pub(crate) struct BeforeTurn {
    root: PathBuf,
    directory: PathBuf,
    manifest: Manifest,
    tree: TreeSnapshot,
    rules: Rules,
    /// Files that run on their own and could not be copied.
    read_only: Vec<PathBuf>,
    /// Git's index.
    index: KeptIndex,
}

impl BeforeTurn {
    /// Notes the state of a workspace. The agent must not have started yet.
    pub(crate) fn capture(root: &Path, turn: TurnId) -> Result<Self, GovernanceError> {
        let name = format!("{}-{}", turn.session, turn.turn);
        let directory = root.join(PRIVATE_DIR).join(BEFORE_DIR).join(name);
        let failed = |source| GovernanceError::Io { path: directory.clone(), source };
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => fs::create_dir_all(&directory).map_err(failed)?,
        }
        let tree = TreeSnapshot::take(root, &turn.cwd)
            .map_err(|source| GovernanceError::Io { path: root.to_owned(), source })?;
        let manifest = Manifest { turn, copies: BTreeMap::new() };
        let rules = Rules::default();
        let root = root.to_owned();
        let (index, read_only) = (KeptIndex::around(&root), Vec::new());
        let mut before = Self { root, directory, manifest, tree, rules, read_only, index };
        before.follow_links()?;
        let written = before.copy().and_then(|()| before.save());
        if let Err(error) = written {
            before.forget();
            return Err(error);
        }
        Ok(before)
    }

    pub(crate) fn turn(&self) -> &TurnId {
        &self.manifest.turn
    }

    pub(crate) fn tree(&self) -> &TreeSnapshot {
        &self.tree
    }

    /// Absolute paths that the sandbox must make read-only, because there is no copy to put back.
    pub(crate) fn read_only(&self) -> impl Iterator<Item = PathBuf> {
        self.read_only.iter().map(|path| self.root.join(path))
    }

    /// The rule that an entry falls under, now or before the turn.
    pub(crate) fn rule(
        &self,
        path: &OsStr,
        now: Option<&SnapshotEntry>,
    ) -> Option<&'static AutorunRule> {
        let entries = [self.tree.get(path), now].into_iter().flatten();
        entries.filter_map(|entry| self.rules.rule(path, entry)).min_by_key(|rule| rule.runs)
    }

    /// What was at a path.
    pub(crate) fn old(
        &self,
        path: &str,
        settled: &BTreeMap<String, Settled>,
    ) -> Result<Old, GovernanceError> {
        let copied = match settled.get(path) {
            Some(settled) => Some(&settled.copied),
            None => self.manifest.copies.get(path),
        };
        if let Some(copied) = copied {
            return Ok(Old::Known(self.copied_version(copied)?));
        }
        let there = self.tree.get(OsStr::new(path));
        Ok(match there.filter(|entry| entry.kind != SnapshotKind::Directory) {
            Some(_) => Old::Unknown,
            None => Old::Known(FileVersion::Absent),
        })
    }

    /// Files that run on their own of which git has another version that it did not have before. Not known
    /// of a turn whose host was killed.
    pub(crate) fn newly_staged(&self) -> Vec<String> {
        self.index.newly_staged(&self.root)
    }

    /// Paths below a directory of which there are copies.
    pub(crate) fn copied_below<'a>(&'a self, directory: &str) -> impl Iterator<Item = &'a str> {
        let below = format!("{directory}/");
        let known = self.manifest.copies.range(below.clone()..).map(|(path, _)| path.as_str());
        known.take_while(move |path| path.starts_with(&below))
    }

    /// Files that others have put back or approved during the turn.
    pub(crate) fn settled(&self) -> Result<BTreeMap<String, Settled>, GovernanceError> {
        let text = match read_text(&self.directory, SETTLED_FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(source) => {
                let path = self.directory.join(SETTLED_FILE);
                return Err(GovernanceError::Io { path, source });
            }
        };
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Settled>(line).ok());
        Ok(lines.map(|settled| (settled.path.clone(), settled)).collect())
    }

    /// Whether the state is still there: whoever accounts for a turn deletes it.
    pub(crate) fn is_kept(&self) -> bool {
        open(&self.directory, MANIFEST_FILE).is_ok()
    }

    /// Deletes the state.
    pub(crate) fn forget(&self) {
        if let Err(error) = fs::remove_dir_all(&self.directory)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("cannot remove {}: {error}", self.directory.display());
        }
    }

    /// Where links lead that run on their own: what is there runs too.
    fn follow_links(&mut self) -> Result<(), GovernanceError> {
        let files = WorkspaceFiles::new(&self.root);
        let mut links: Vec<(PathBuf, usize)> = self
            .tree
            .entries()
            .filter(|(_, entry)| entry.kind == SnapshotKind::Link)
            .filter(|(path, entry)| {
                self.rules.rule(path, entry).is_some_and(|rule| rule.runs == Runs::OnItsOwn)
            })
            .map(|(path, _)| (PathBuf::from(path), 0))
            .collect();
        while let Some((link, hops)) = links.pop() {
            let Found::Version(FileVersion::Link { target }) = files.read(&link, 0)? else {
                continue;
            };
            let Some(target) = inside(&self.root, &link, Path::new(OsStr::from_bytes(&target)))
            else {
                continue;
            };
            let target = target.into_os_string();
            let leads_to_link =
                self.tree.get(&target).is_some_and(|at| at.kind == SnapshotKind::Link);
            if let Some(path) = target.to_str().filter(|path| !path.is_empty()) {
                self.rules.led_to.insert(path.to_owned());
            }
            if leads_to_link && hops < MAX_LINK_HOPS {
                links.push((target.into(), hops + 1));
            }
        }
        Ok(())
    }

    fn copy(&mut self) -> Result<(), GovernanceError> {
        let path = self.directory.join(COPIES_FILE);
        let failed = |source| GovernanceError::Io { path: path.clone(), source };
        let mut out = BufWriter::new(File::create(&path).map_err(failed)?);
        let files = WorkspaceFiles::new(&self.root);
        let (mut at, mut called_bytes) = (0, 0);
        for (path, entry) in self.tree.entries() {
            let Some(rule) = self.rules.rule(path, entry) else { continue };
            let size = entry.stamp.size;
            let own = rule.runs == Runs::OnItsOwn;
            let name = path.to_str().filter(|_| self.manifest.copies.len() < MAX_COPIES);
            let fits = match own {
                true => at - called_bytes + size <= MAX_OWN_BYTES,
                false => {
                    size <= MAX_CALLED_FILE
                        && called_bytes + size <= MAX_CALLED_BYTES
                        && !name.is_some_and(is_dependency)
                }
            };
            let found = match name.filter(|_| fits) {
                Some(name) => files.read(Path::new(name), MAX_HELD_BYTES)?,
                None => Found::TooLarge,
            };
            let copied = match found {
                Found::Version(FileVersion::File { mode, content }) => {
                    out.write_all(&content).map_err(failed)?;
                    let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
                    let copied = Copied::File { mode, at, length };
                    at += length;
                    called_bytes += if own { 0 } else { length };
                    copied
                }
                Found::Version(FileVersion::Link { target }) => Copied::Link { target },
                Found::Version(FileVersion::Absent) | Found::Blocked { .. } => continue,
                Found::TooLarge | Found::Other => {
                    if own
                        && entry.kind == SnapshotKind::File
                        && self.read_only.len() < MAX_READ_ONLY
                    {
                        self.read_only.push(path.into());
                    }
                    continue;
                }
            };
            if let Some(name) = name {
                self.manifest.copies.insert(name.to_owned(), copied);
            }
        }
        out.flush().map_err(failed)
    }

    fn save(&self) -> Result<(), GovernanceError> {
        let failed = |source| GovernanceError::Io { path: self.directory.clone(), source };
        let mut out = BufWriter::new(File::create(self.directory.join(TREE_FILE)).map_err(failed)?);
        self.tree.write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
        // Last: a state without a manifest is of a turn that did not start.
        let text = serde_json::to_vec(&self.manifest).map_err(|error| failed(error.into()))?;
        fs::write(self.directory.join(MANIFEST_FILE), text).map_err(failed)
    }

    fn load(root: &Path, directory: PathBuf) -> Result<Self, io::Error> {
        let manifest: Manifest = serde_json::from_str(&read_text(&directory, MANIFEST_FILE)?)?;
        let tree = TreeSnapshot::read(&mut io::BufReader::new(open(&directory, TREE_FILE)?))?;
        let (rules, root) = (Rules::default(), root.to_owned());
        let (index, read_only) = (KeptIndex::default(), Vec::new());
        let mut before = Self { root, directory, manifest, tree, rules, read_only, index };
        // Not from the links as they are now: the agent may have changed them.
        for (link, copied) in &before.manifest.copies {
            if let Copied::Link { target } = copied {
                let target = Path::new(OsStr::from_bytes(target));
                let target = inside(&before.root, Path::new(link), target);
                let target = target.and_then(|target| target.into_os_string().into_string().ok());
                before.rules.led_to.extend(target.filter(|target| !target.is_empty()));
            }
        }
        Ok(before)
    }

    fn copied_version(&self, copied: &Copied) -> Result<FileVersion, GovernanceError> {
        let path = self.directory.join(COPIES_FILE);
        let failed = |source| GovernanceError::Io { path: path.clone(), source };
        Ok(match copied {
            Copied::Absent => FileVersion::Absent,
            Copied::Link { target } => FileVersion::Link { target: target.clone() },
            Copied::File { mode, at, length } => {
                let mut file = open(&self.directory, COPIES_FILE).map_err(failed)?;
                file.seek(SeekFrom::Start(*at)).map_err(failed)?;
                let mut content = Vec::new();
                file.take(*length).read_to_end(&mut content).map_err(failed)?;
                if u64::try_from(content.len()).ok() != Some(*length) {
                    return Err(failed(io::ErrorKind::UnexpectedEof.into()));
                }
                FileVersion::File { mode: *mode, content }
            }
        })
    }
}

/// A file that another turn, or the person, has put into a state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Settled {
    path: String,
    copied: Copied,
}

/// Tells every other turn that a file is now in this state. The caller holds the lock.
pub(crate) fn settle(
    root: &Path,
    own: Option<&BeforeTurn>,
    path: &str,
    version: &FileVersion,
) -> Result<(), GovernanceError> {
    for directory in states(root) {
        if own.is_some_and(|own| own.directory == directory) {
            continue;
        }
        note_settled(&directory, path, version)
            .map_err(|source| GovernanceError::Io { path: directory, source })?;
    }
    Ok(())
}

fn note_settled(directory: &Path, path: &str, version: &FileVersion) -> Result<(), io::Error> {
    let append = |name| OpenOptions::new().create(true).append(true).open(directory.join(name));
    let copied = match version {
        FileVersion::Absent => Copied::Absent,
        FileVersion::Link { target } => Copied::Link { target: target.clone() },
        FileVersion::File { mode, content } => {
            let mut copies = append(COPIES_FILE)?;
            let at = copies.seek(SeekFrom::End(0))?;
            copies.write_all(content)?;
            let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
            Copied::File { mode: *mode, at, length }
        }
    };
    let mut line = serde_json::to_string(&Settled { path: path.to_owned(), copied })?;
    line.push('\n');
    append(SETTLED_FILE)?.write_all(line.as_bytes())
}

/// The states of turns whose host is not alive any more, and those that cannot be read.
pub(crate) fn left_behind(
    root: &Path,
    is_alive: impl Fn(&str) -> bool,
) -> (Vec<BeforeTurn>, Vec<GovernanceError>) {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for directory in states(root) {
        match BeforeTurn::load(root, directory.clone()) {
            Ok(before) if !is_alive(&before.turn().owner) => found.push(before),
            Ok(_) => {}
            // It is being written, or its host died before the agent started.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => faults.push(GovernanceError::Io { path: directory, source }),
        }
    }
    (found, faults)
}

fn states(root: &Path) -> Vec<PathBuf> {
    let directory = root.join(PRIVATE_DIR).join(BEFORE_DIR);
    let listed = Tree::open(&directory).and_then(|tree| tree.list("", MAX_STATES));
    let listed = listed.ok().flatten().unwrap_or_default().into_iter();
    let states = listed.filter(|entry| entry.kind == TreeEntryKind::Directory && entry.is_unicode);
    states.map(|entry| directory.join(entry.name)).collect()
}

/// Lets one turn or decision at a time put files back.
pub(crate) fn lock(root: &Path) -> Result<File, GovernanceError> {
    let directory = root.join(PRIVATE_DIR).join(BEFORE_DIR);
    let path = directory.join(LOCK_FILE);
    let locked = fs::create_dir_all(&directory).and_then(|()| {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    });
    locked.map_err(|source| GovernanceError::Io { path, source })
}

fn read_text(directory: &Path, name: &str) -> Result<String, io::Error> {
    let mut text = String::new();
    open(directory, name)?.take(MAX_STATE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a file of a state.
fn open(directory: &Path, name: &str) -> Result<File, io::Error> {
    let fault = |error| match error {
        WorkspaceError::NoRoot { .. } => io::ErrorKind::NotFound.into(),
        WorkspaceError::Io { source, .. } => source,
        error => io::Error::other(error),
    };
    let found = Tree::open(directory).and_then(|tree| tree.file(name)).map_err(fault)?;
    Ok(found.ok_or(io::ErrorKind::NotFound)?.0)
}

/// Which files run: by their names, or because a link with such a name leads to them.
#[derive(Debug, Default)]
struct Rules {
    led_to: BTreeSet<String>,
}

/// The rule for what a link of a name that runs on its own leads to.
const LED_TO: AutorunRule = AutorunRule {
    pattern: "target of a link",
    runs: Runs::OnItsOwn,
    by: "the program that follows a link to it",
};

impl Rules {
    fn rule(&self, path: &OsStr, entry: &SnapshotEntry) -> Option<&'static AutorunRule> {
        if entry.kind == SnapshotKind::Directory {
            return None;
        }
        let path = path.to_string_lossy();
        let named = autorun_rule(&path, entry.is_executable());
        let is_own = |rule: &&AutorunRule| rule.runs == Runs::OnItsOwn;
        if named.as_ref().is_some_and(is_own) {
            return named;
        }
        let directory =
            || autorun_directory_rule(&path).filter(|_| entry.kind == SnapshotKind::Link);
        let led_to = || self.is_led_to(&path).then_some(&LED_TO);
        directory().or_else(led_to).or(named)
    }

    fn is_led_to(&self, path: &str) -> bool {
        if self.led_to.is_empty() {
            return false;
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).any(|outer| self.led_to.contains(outer))
    }
}

/// Where a link leads inside the workspace, `..` resolved by name.
fn inside(root: &Path, link: &Path, target: &Path) -> Option<PathBuf> {
    let mut path = link.parent().unwrap_or(Path::new("")).to_owned();
    let target = match target.is_absolute() {
        true => {
            path = PathBuf::new();
            target.strip_prefix(root).ok()?
        }
        false => target,
    };
    for component in target.components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if !path.pop() => return None,
            _ => {}
        }
    }
    Some(path)
}
