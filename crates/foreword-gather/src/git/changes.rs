//! What has changed in a work tree since its last commit: the index, the files and the last tree are
//! compared, each read through the hardened reader.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foreword_workspace::{FileStamp, Tree, TreeEntryKind};
use gix_hash::ObjectId;
use gix_index::entry::{Flags, Mode, Stage};
use gix_index::{State, decode, extension};
use gix_object::bstr::{BStr, ByteSlice as _};

use super::head::Head;
use super::objects::{Objects, items};
use super::{GitFault, Repository};

/// A work tree with more files below the workspace is not looked at: it would take longer than the rest
/// of a build together.
const MAX_FILES: usize = 10_000;
/// Bytes of an index; that of 100,000 files has about 12 MiB.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// A file that is larger counts as changed when its time did.
const MAX_BYTES: u64 = 4 << 20;
/// Changed names in the summary, and characters of each.
const MAX_NAMES: usize = 5;
const MAX_NAME_CHARS: usize = 80;
/// Trees of the last commit that are read.
const MAX_TREES: usize = 20_000;
/// Folders in each other.
const MAX_DEPTH: usize = 200;

/// One line on the files below `below` that differ from the last commit, new ones only if they were
/// added; empty where nothing did, nothing where that cannot be told.
pub(super) fn summary(
    repository: &Repository,
    head: &Head,
    below: &Path,
) -> Result<Option<String>, GitFault> {
    let Some(bytes) = repository.git_dir.read("index", MAX_INDEX_BYTES)? else {
        // Nothing was ever added.
        return Ok(Some(String::new()));
    };
    let Some(index) = decoded(&bytes) else { return Ok(None) };
    let Some(prefix) = prefix(repository.work_tree.path(), below) else { return Ok(None) };
    let entries =
        || index.entries().iter().filter(|entry| entry.path(&index).starts_with(prefix.as_bytes()));
    if entries().count() > MAX_FILES {
        return Ok(Some(format!("not counted: more than {MAX_FILES} files")));
    }
    let mut changed: BTreeSet<String> = BTreeSet::new();
    let name =
        |path: &BStr| path.to_str_lossy().strip_prefix(&prefix).unwrap_or_default().to_owned();
    let mut files = Files { work_tree: &repository.work_tree, folder: None };
    for entry in entries() {
        let path = entry.path(&index);
        if entry.stage() != Stage::Unconflicted || files.differs(path, entry)? {
            changed.insert(name(path));
        }
    }
    for path in staged(repository, head, &index)? {
        if path.starts_with(prefix.as_bytes()) {
            changed.insert(name(path.as_bstr()));
        }
    }
    Ok(Some(told(&changed)))
}

/// The bytes of the index; none if there is no index.
pub(super) fn index_bytes(repository: &Repository) -> Result<Vec<u8>, GitFault> {
    Ok(repository.git_dir.read("index", MAX_INDEX_BYTES)?.unwrap_or_default())
}

/// An index; nothing if it cannot be read.
pub(super) fn decoded(bytes: &[u8]) -> Option<State> {
    let hash = gix_hash::Kind::Sha1;
    let options = decode::Options {
        thread_limit: Some(1),
        alloc_limit_bytes: usize::try_from(MAX_INDEX_BYTES).ok(),
        ..decode::Options::default()
    };
    let now = State::new(hash).timestamp();
    let (index, _) = State::from_bytes(bytes, now, hash, options).ok()?;
    // An index in two parts: the other part is in another file.
    index.link().is_none().then_some(index)
}

/// The path of a directory below the work tree as it stands in the index, with a slash at its end.
pub(super) fn prefix(work_tree: &Path, below: &Path) -> Option<String> {
    let below = below.strip_prefix(work_tree).ok()?;
    let mut prefix = String::new();
    for part in below.components() {
        prefix.push_str(part.as_os_str().to_str()?);
        prefix.push('/');
    }
    Some(prefix)
}

fn told(changed: &BTreeSet<String>) -> String {
    let short = |name: &String| match name.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.clone(),
    };
    let names: Vec<String> = changed.iter().take(MAX_NAMES).map(short).collect();
    let more = changed.len() - names.len();
    match changed.len() {
        0 => String::new(),
        1 => format!("1 file changed: {}", names.join(", ")),
        count if more == 0 => format!("{count} files changed: {}", names.join(", ")),
        count => format!("{count} files changed: {} and {more} more", names.join(", ")),
    }
}

/// The files of a work tree. An index is sorted, so the folder of the last file is kept open.
struct Files<'a> {
    work_tree: &'a Tree,
    folder: Option<(Vec<u8>, Option<Tree>)>,
}

impl Files<'_> {
    /// Whether a file of the work tree is another than the index says.
    fn differs(&mut self, path: &BStr, entry: &gix_index::Entry) -> Result<bool, GitFault> {
        let unchecked = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE;
        if entry.flags.intersects(unchecked) || entry.mode == Mode::COMMIT || entry.mode.is_sparse()
        {
            return Ok(false);
        }
        let (folder, name) = match path.rfind_byte(b'/') {
            Some(at) => (path.get(..at), path.get(at + 1..)),
            None => (Some(b"".as_slice()), path.get(..)),
        };
        let (Some(folder), Some(name)) = (folder, name) else { return Ok(false) };
        let Ok(name) = name.to_path() else { return Ok(false) };
        if self.folder.as_ref().is_none_or(|(known, _)| known != folder) {
            let Ok(at) = folder.to_path() else { return Ok(false) };
            // A link where a folder was is a change, and is not followed.
            let opened = self.work_tree.subtree(at).ok().flatten();
            self.folder = Some((folder.to_vec(), opened));
        }
        let Some((_, Some(tree))) = &self.folder else { return Ok(true) };
        let Ok(Some((kind, stamp))) = tree.stat(name) else { return Ok(true) };
        let is_link = entry.mode == Mode::SYMLINK;
        let expected = if is_link { TreeEntryKind::Link } else { TreeEntryKind::File };
        if kind != expected || stamp.size != u64::from(entry.stat.size) {
            return Ok(true);
        }
        if same_time(&stamp, entry) {
            return Ok(false);
        }
        if stamp.size > MAX_BYTES {
            return Ok(true);
        }
        let content = if is_link {
            tree.link(name).map(|to| to.map(|to| to.into_os_string().into_encoded_bytes()))
        } else {
            tree.read(name, MAX_BYTES)
        };
        let Ok(Some(content)) = content else { return Ok(true) };
        let id = gix_object::compute_hash(entry.id.kind(), gix_object::Kind::Blob, &content);
        Ok(id.is_ok_and(|id| id != entry.id))
    }
}

/// Whether the time of a file is the one in the index.
fn same_time(stamp: &FileStamp, entry: &gix_index::Entry) -> bool {
    let time = entry.stat.mtime;
    let (seconds, rest) =
        (stamp.modified.div_euclid(1_000_000_000), stamp.modified.rem_euclid(1_000_000_000));
    seconds == i64::from(time.secs) && (time.nsecs == 0 || rest == i64::from(time.nsecs))
}

/// The paths in which the index differs from the last commit; none where that cannot be told.
fn staged(repository: &Repository, head: &Head, index: &State) -> Result<Vec<Vec<u8>>, GitFault> {
    let mut now: BTreeMap<&[u8], (ObjectId, u32)> = BTreeMap::new();
    let Some(commit) = head.commit(&repository.common)? else {
        // Before the first commit everything is new.
        return Ok(index.entries().iter().map(|entry| entry.path(index).to_vec()).collect());
    };
    let Some(mut objects) = Objects::of(&repository.common)? else { return Ok(Vec::new()) };
    let Some(tree) = objects.tree_of(commit)? else { return Ok(Vec::new()) };
    if index.tree().is_some_and(|cached| is_same(cached, tree))
        || index.entries().len() > 4 * MAX_FILES
    {
        return Ok(Vec::new());
    }
    for entry in index.entries() {
        now.insert(entry.path(index), (entry.id, entry.mode.bits()));
    }
    let mut comparing = Comparing { objects, now, changed: Vec::new(), trees: 0 };
    if !comparing.tree(tree, index.tree(), &mut Vec::new(), 0)? {
        return Ok(Vec::new());
    }
    let Comparing { now, mut changed, .. } = comparing;
    changed.extend(now.into_keys().map(<[u8]>::to_vec));
    Ok(changed)
}

/// Whether the index says that a folder is as in this tree.
fn is_same(cached: &extension::Tree, tree: ObjectId) -> bool {
    cached.num_entries.is_some() && cached.id == tree
}

struct Comparing<'a> {
    objects: Objects,
    /// What the index has and no tree has had so far.
    now: BTreeMap<&'a [u8], (ObjectId, u32)>,
    changed: Vec<Vec<u8>>,
    trees: usize,
}

impl Comparing<'_> {
    /// Compares a folder with the index; no if the tree cannot be read.
    fn tree(
        &mut self,
        id: ObjectId,
        cached: Option<&extension::Tree>,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<bool, GitFault> {
        if cached.is_some_and(|cached| is_same(cached, id)) {
            self.forget(path);
            return Ok(true);
        }
        self.trees += 1;
        if self.trees > MAX_TREES || depth > MAX_DEPTH {
            return Ok(false);
        }
        let Some(bytes) = self.objects.tree(id)? else { return Ok(false) };
        for item in items(&bytes) {
            let length = path.len();
            path.extend_from_slice(item.name);
            if item.mode & 0o170_000 == 0o040_000 {
                let inner = cached.and_then(|cached| {
                    cached.children.iter().find(|child| child.name.as_slice() == item.name)
                });
                path.push(b'/');
                if !self.tree(item.id, inner, path, depth + 1)? {
                    return Ok(false);
                }
            } else if self.now.remove(path.as_slice()) != Some((item.id, item.mode)) {
                self.changed.push(path.clone());
            }
            path.truncate(length);
        }
        Ok(true)
    }

    /// Everything below a folder is as it was.
    fn forget(&mut self, folder: &[u8]) {
        let below = self.now.range(folder..).map(|(path, _)| *path);
        let same: Vec<&[u8]> = below.take_while(|path| path.starts_with(folder)).collect();
        for path in same {
            self.now.remove(path);
        }
    }
}
