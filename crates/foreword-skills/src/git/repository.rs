//! The one module that speaks git: commits of skills, in pure Rust.
//!
//! The repository lies at `.foreword/skills.git` and has the directory of skills as its work tree, so
//! that a repository around the workspace is never disturbed. No git configuration is read, not even
//! its own, and no hook is ever run. History is one line: every commit has
//! at most one parent.
//!
//! Objects are on disk before the branch moves to them, and the branch moves only if it still
//! points where its mover believed.

mod create;
mod index;

pub(crate) use index::IndexChange;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foreword_store::FileChange;
use foreword_workspace::Tree;
use gix_hash::ObjectId;
use gix_lock::acquire::Fail;
use gix_object::tree::{Entry, EntryKind};
use gix_object::{CommitRef, Find as _, Kind, TreeRef, Write as _, WriteTo};
use gix_odb::Handle;
use gix_ref::store::WriteReflog;
use gix_ref::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix_ref::{Target, file};

use crate::error::SkillError;

/// The hash that names objects.
const HASH: gix_hash::Kind = gix_hash::Kind::Sha1;

/// The branch all commits are on.
pub(crate) const BRANCH: &str = "refs/heads/main";

/// How long a git that is not ours may hold a lock.
const FOREIGN_LOCK: Duration = Duration::from_secs(1);

/// What a file holds in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) id: ObjectId,
    pub(crate) executable: bool,
}

/// Who writes a commit, and when.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) seconds: i64,
}

/// What a commit says of itself.
#[derive(Debug, Clone)]
pub(crate) struct CommitInfo {
    pub(crate) id: ObjectId,
    pub(crate) parent: Option<ObjectId>,
    pub(crate) tree: ObjectId,
    pub(crate) author: String,
    pub(crate) seconds: i64,
    pub(crate) message: String,
}

/// A path that a commit changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) before: Option<Blob>,
    pub(crate) after: Option<Blob>,
}

/// Files and folders of the repository that are looked at.
const MAX_ENTRIES: usize = 1_000_000;

pub(crate) struct Repository {
    objects: Handle,
    refs: file::Store,
    directory: PathBuf,
}

/// Refuses a repository that holds a link, pipe or device: its files are opened by their names, and a
/// workspace from elsewhere may bring any.
fn check_plain(directory: &Path) -> Result<(), SkillError> {
    let (Some(outer), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Ok(());
    };
    Ok(Tree::open(outer)?.check_plain(name, MAX_ENTRIES)?)
}

impl Repository {
    /// Opens a repository; `None` if there is none.
    pub(crate) fn open(directory: &Path) -> Result<Option<Self>, SkillError> {
        match fs::symlink_metadata(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SkillError::io(directory, source)),
            Ok(_) => {}
        }
        check_plain(directory)?;
        if !directory.join("HEAD").is_file() {
            return Err(SkillError::damaged(directory, &"it has no HEAD"));
        }
        let objects = gix_odb::at(directory.join("objects"), HASH)
            .map_err(|error| SkillError::damaged(directory, &error))?;
        let options = gix_ref::store::init::Options {
            write_reflog: WriteReflog::Disable,
            ..Default::default()
        };
        let refs = file::Store::at_opts(directory.to_owned(), HASH, options);
        Ok(Some(Self { objects, refs, directory: directory.to_owned() }))
    }

    /// Opens a repository, or makes one whose work tree is `work_tree`, a path from `directory`.
    pub(crate) fn open_or_create(directory: &Path, work_tree: &str) -> Result<Self, SkillError> {
        if let Some(found) = Self::open(directory)? {
            return Ok(found);
        }
        create::create(directory, work_tree)?;
        Self::open(directory)?
            .ok_or_else(|| SkillError::io(directory, io::Error::from(io::ErrorKind::NotFound)))
    }

    /// Takes away lock files that a killed process left behind.
    ///
    /// Whoever calls this holds our own lock, so a file of this kind is either left over or that of
    /// somebody's git, which holds it for a moment only.
    pub(crate) fn clear_stale_locks(&self) -> Result<(), SkillError> {
        for name in [format!("{BRANCH}.lock"), "index.lock".into(), "HEAD.lock".into()] {
            let path = self.directory.join(name);
            let start = Instant::now();
            while path.exists() {
                if start.elapsed() >= FOREIGN_LOCK {
                    match fs::remove_file(&path) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            return Err(SkillError::io(&path, error));
                        }
                        _ => break,
                    }
                }
                std::thread::sleep(FOREIGN_LOCK / 20);
            }
        }
        Ok(())
    }

    /// The commit that the branch points to; `None` before the first.
    pub(crate) fn head(&self) -> Result<Option<ObjectId>, SkillError> {
        let found = self.refs.try_find(BRANCH).map_err(|e| self.damaged(&e))?;
        match found.map(|found| found.target) {
            None => Ok(None),
            Some(Target::Object(id)) => Ok(Some(id)),
            Some(Target::Symbolic(_)) => {
                Err(self.damaged_because(format!("{BRANCH} points to another branch")))
            }
        }
    }

    /// Every file at a commit.
    pub(crate) fn files(
        &self,
        commit: Option<ObjectId>,
    ) -> Result<BTreeMap<String, Blob>, SkillError> {
        let mut files = BTreeMap::new();
        if let Some(commit) = commit {
            self.walk(self.commit(commit)?.tree, "", &mut |path, blob| {
                files.insert(path, blob);
            })?;
        }
        Ok(files)
    }

    /// What a commit holds at a path.
    pub(crate) fn blob_at(
        &self,
        commit: Option<ObjectId>,
        path: &str,
    ) -> Result<Option<Blob>, SkillError> {
        let Some(commit) = commit else { return Ok(None) };
        let mut tree = self.commit(commit)?.tree;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let entries = self.entries(tree)?;
            let Some(entry) = entries.iter().find(|entry| entry.filename == name) else {
                return Ok(None);
            };
            if names.peek().is_none() {
                let blob = Blob { id: entry.oid, executable: entry.mode.is_executable() };
                return Ok(entry.mode.is_blob().then_some(blob));
            }
            if !entry.mode.is_tree() {
                return Ok(None);
            }
            tree = entry.oid;
        }
        Ok(None)
    }

    /// The bytes of a file.
    pub(crate) fn read(&self, blob: Blob) -> Result<Vec<u8>, SkillError> {
        self.object(blob.id, Kind::Blob)
    }

    /// The same, by the id as text.
    pub(crate) fn read_by_id(&self, id: &str) -> Result<Vec<u8>, SkillError> {
        let id = ObjectId::from_hex(id.as_bytes()).map_err(|e| self.damaged(&e))?;
        self.read(Blob { id, executable: false })
    }

    /// What a file of these bytes would be named.
    pub(crate) fn blob_id(&self, content: &[u8]) -> Result<ObjectId, SkillError> {
        gix_object::compute_hash(HASH, Kind::Blob, content).map_err(|e| self.damaged(&e))
    }

    /// What a commit says of itself.
    pub(crate) fn commit(&self, id: ObjectId) -> Result<CommitInfo, SkillError> {
        let commit = self.object(id, Kind::Commit)?;
        let decoded = CommitRef::from_bytes(&commit, HASH).map_err(|e| self.damaged(&e))?;
        let author = decoded.author().map_err(|e| self.damaged(&e))?;
        let committer = decoded.committer().map_err(|e| self.damaged(&e))?;
        Ok(CommitInfo {
            id,
            parent: decoded.parents().next(),
            tree: decoded.tree(),
            author: author.name.to_string(),
            seconds: committer.seconds(),
            message: decoded.message.to_string(),
        })
    }

    /// All commits, newest first.
    pub(crate) fn history(&self) -> impl Iterator<Item = Result<CommitInfo, SkillError>> + '_ {
        let mut next = self.head().transpose();
        std::iter::from_fn(move || {
            let commit = match next.take()? {
                Ok(id) => self.commit(id),
                Err(error) => return Some(Err(error)),
            };
            if let Ok(commit) = &commit {
                next = commit.parent.map(Ok);
            }
            Some(commit)
        })
    }

    /// What a commit changed against its parent, by path.
    pub(crate) fn changes(&self, commit: &CommitInfo) -> Result<Vec<Changed>, SkillError> {
        let before = commit.parent.map(|id| self.commit(id)).transpose()?.map(|c| c.tree);
        let mut changed = BTreeMap::new();
        self.compare(before, Some(commit.tree), "", &mut changed)?;
        Ok(changed.into_values().collect())
    }

    /// Writes one commit on top of `parent` and moves the branch to it; the message may speak of the
    /// tree.
    pub(crate) fn record(
        &self,
        parent: Option<ObjectId>,
        changes: &[FileChange],
        author: &Signature,
        message: impl FnOnce(ObjectId) -> String,
    ) -> Result<ObjectId, SkillError> {
        let mut written = Vec::new();
        let mut edits: Vec<(Vec<&str>, Option<Entry>)> = Vec::new();
        for change in changes {
            let names: Vec<&str> = change.path.split('/').collect();
            let entry = match &change.content {
                None => None,
                Some(content) => {
                    let oid = self
                        .objects
                        .write_buf(Kind::Blob, content)
                        .map_err(|e| self.damaged(&e))?;
                    written.push(oid);
                    let kind =
                        if change.executable { EntryKind::BlobExecutable } else { EntryKind::Blob };
                    Some(Entry {
                        mode: kind.into(),
                        filename: names.last().copied().unwrap_or_default().into(),
                        oid,
                    })
                }
            };
            edits.push((names, entry));
        }
        let base = parent.map(|id| self.commit(id)).transpose()?.map(|commit| commit.tree);
        let edits: Vec<Edit<'_>> = edits.iter().map(|(n, e)| (n.as_slice(), e.as_ref())).collect();
        let tree = match self.write_tree(base, &edits, &mut written)? {
            Some(tree) => tree,
            None => self.write(&gix_object::Tree::empty(), &mut written)?,
        };
        let signature = gix_actor::Signature {
            name: clean(&author.name).into(),
            email: clean(&author.email).into(),
            time: gix_date::Time { seconds: author.seconds, offset: 0 },
        };
        let commit = gix_object::Commit {
            tree,
            parents: parent.into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: message(tree).into(),
            extra_headers: Vec::new(),
        };
        let id = self.write(&commit, &mut written)?;
        self.sync(&written)?;
        self.move_branch(parent, id)?;
        Ok(id)
    }

    fn move_branch(&self, from: Option<ObjectId>, to: ObjectId) -> Result<(), SkillError> {
        let expected = match from {
            Some(id) => PreviousValue::MustExistAndMatch(Target::Object(id)),
            None => PreviousValue::MustNotExist,
        };
        let name = BRANCH.try_into().map_err(|_| self.damaged_because("bad branch name"))?;
        let edit = RefEdit {
            change: Change::Update {
                log: LogChange {
                    mode: RefLog::AndReference,
                    force_create_reflog: false,
                    message: "".into(),
                },
                expected,
                new: Target::Object(to),
            },
            name,
            deref: false,
        };
        let lock = Fail::AfterDurationWithBackoff(FOREIGN_LOCK);
        let moved = self.refs.transaction().prepare(Some(edit), lock, lock);
        if let Err(error) = moved.and_then(|prepared| prepared.commit(None)) {
            return Err(if self.head()? == from {
                self.damaged(&error)
            } else {
                SkillError::Moved
            });
        }
        let branch = self.directory.join(BRANCH);
        sync_file(&branch)?;
        sync_file(branch.parent().unwrap_or(&self.directory))
    }

    /// The tree that `base` becomes; `None` if nothing is left in it.
    fn write_tree(
        &self,
        base: Option<ObjectId>,
        edits: &[Edit<'_>],
        written: &mut Vec<ObjectId>,
    ) -> Result<Option<ObjectId>, SkillError> {
        let mut entries = match base {
            Some(tree) => self.entries(tree)?,
            None => Vec::new(),
        };
        let mut below: BTreeMap<&str, Vec<Edit<'_>>> = BTreeMap::new();
        for (names, entry) in edits {
            match names {
                [] => {}
                [name] => {
                    entries.retain(|known| known.filename != *name);
                    entries.extend(entry.cloned());
                }
                [folder, rest @ ..] => below.entry(folder).or_default().push((rest, *entry)),
            }
        }
        for (folder, edits) in below {
            let known = entries.iter().find(|e| e.filename == folder && e.mode.is_tree());
            let tree = self.write_tree(known.map(|entry| entry.oid), &edits, written)?;
            entries.retain(|known| known.filename != folder);
            entries.extend(tree.map(|oid| Entry {
                mode: EntryKind::Tree.into(),
                filename: folder.into(),
                oid,
            }));
        }
        if entries.is_empty() {
            return Ok(None);
        }
        entries.sort();
        self.write(&gix_object::Tree { entries }, written).map(Some)
    }

    fn write(
        &self,
        object: &impl WriteTo,
        written: &mut Vec<ObjectId>,
    ) -> Result<ObjectId, SkillError> {
        let id = self.objects.write(object).map_err(|e| self.damaged(&e))?;
        written.push(id);
        Ok(id)
    }

    /// Puts objects on the disk itself. One that lies in a pack is there already.
    fn sync(&self, objects: &[ObjectId]) -> Result<(), SkillError> {
        for id in objects {
            let hex = id.to_string();
            let (folder, file) = hex.split_at_checked(2).unwrap_or_default();
            let folder = self.directory.join("objects").join(folder);
            let file = folder.join(file);
            if file.exists() {
                sync_file(&file)?;
                sync_file(&folder)?;
            }
        }
        Ok(())
    }

    /// The bytes of an object, if they are what its name says. Git does not look when it reads, and a
    /// seal is over names: whoever puts other bytes under one of them would have them approved.
    fn object(&self, id: ObjectId, kind: Kind) -> Result<Vec<u8>, SkillError> {
        let mut bytes = Vec::new();
        let found = self.objects.try_find(&id, &mut bytes).map_err(|e| self.damaged(&e))?;
        match found.map(|found| found.kind) {
            None => return Err(self.damaged_because(format!("the object {id} is missing"))),
            Some(found) if found != kind => {
                let why = format!("the object {id} is a {found}, not a {kind}");
                return Err(self.damaged_because(why));
            }
            Some(_) => {}
        }
        let real = gix_object::compute_hash(HASH, kind, &bytes).map_err(|e| self.damaged(&e))?;
        if real != id {
            let why = format!("the object {id} does not hold what its name says");
            return Err(self.damaged_because(why));
        }
        Ok(bytes)
    }

    fn entries(&self, id: ObjectId) -> Result<Vec<Entry>, SkillError> {
        let tree = self.object(id, Kind::Tree)?;
        let decoded = TreeRef::from_bytes(&tree, HASH).map_err(|e| self.damaged(&e))?;
        Ok(decoded.entries.iter().map(|entry| Entry::from(*entry)).collect())
    }

    fn walk(
        &self,
        tree: ObjectId,
        prefix: &str,
        found: &mut dyn FnMut(String, Blob),
    ) -> Result<(), SkillError> {
        for entry in self.entries(tree)? {
            self.visit(&entry, prefix, found)?;
        }
        Ok(())
    }

    fn visit(
        &self,
        entry: &Entry,
        prefix: &str,
        found: &mut dyn FnMut(String, Blob),
    ) -> Result<(), SkillError> {
        let path = format!("{prefix}{}", entry.filename);
        if entry.mode.is_tree() {
            return self.walk(entry.oid, &format!("{path}/"), found);
        }
        if entry.mode.is_blob() {
            found(path, Blob { id: entry.oid, executable: entry.mode.is_executable() });
        }
        Ok(())
    }

    /// Gathers the files in which two trees differ; equal subtrees are not looked into.
    fn compare(
        &self,
        before: Option<ObjectId>,
        after: Option<ObjectId>,
        prefix: &str,
        changed: &mut BTreeMap<String, Changed>,
    ) -> Result<(), SkillError> {
        let mut pairs: BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
        for entry in before.map(|tree| self.entries(tree)).transpose()?.unwrap_or_default() {
            let pair = pairs.entry(entry.filename.to_vec()).or_default();
            pair.0 = Some(entry);
        }
        for entry in after.map(|tree| self.entries(tree)).transpose()?.unwrap_or_default() {
            let pair = pairs.entry(entry.filename.to_vec()).or_default();
            pair.1 = Some(entry);
        }
        for (name, (old, new)) in pairs {
            if old == new {
                continue;
            }
            let path = format!("{prefix}{}", String::from_utf8_lossy(&name));
            let tree =
                |entry: &Option<Entry>| entry.as_ref().filter(|e| e.mode.is_tree()).map(|e| e.oid);
            let blob = |entry: &Option<Entry>| {
                entry
                    .as_ref()
                    .filter(|e| e.mode.is_blob())
                    .map(|e| Blob { id: e.oid, executable: e.mode.is_executable() })
            };
            let (old_tree, new_tree) = (tree(&old), tree(&new));
            if old_tree.is_some() || new_tree.is_some() {
                self.compare(old_tree, new_tree, &format!("{path}/"), changed)?;
            }
            let (before, after) = (blob(&old), blob(&new));
            if before.is_some() || after.is_some() {
                changed.insert(path.clone(), Changed { path, before, after });
            }
        }
        Ok(())
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> SkillError {
        SkillError::damaged(&self.directory, error)
    }

    fn damaged_because(&self, why: impl Into<String>) -> SkillError {
        SkillError::damaged(&self.directory, &why.into())
    }
}

/// Names on the way, and what is to stand at their end.
type Edit<'a> = (&'a [&'a str], Option<&'a Entry>);

/// Puts a file or directory on the disk itself.
#[expect(clippy::disallowed_methods, reason = "opened to flush it, not to read it")]
fn sync_file(path: &Path) -> Result<(), SkillError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|source| SkillError::io(path, source))
}

/// A name or address that cannot break out of a commit's header.
fn clean(text: &str) -> String {
    let kept: String =
        text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    let kept = kept.trim();
    if kept.is_empty() { "foreword".to_owned() } else { kept.to_owned() }
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
