//! What has changed in a work tree since its last commit, read from its files: no git, no hooks, no
//! filters, no pager.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::path::Path;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::index::entry::{Flags, Mode, Stage};
use gix::index::{File, State};

/// A work tree with more files below the workspace is not looked at: it would take longer than the rest
/// of a build together.
const MAX_FILES: usize = 10_000;
/// A file that is larger counts as changed when its time did.
const MAX_BYTES: u64 = 4 << 20;
/// So many names are told.
const MAX_NAMES: usize = 5;

/// One line on the files below `below` that differ from the last commit, new ones only if they were
/// added; empty where nothing did, nothing where that cannot be told.
pub(super) fn summary(git_dir: &Path, work_tree: &Path, below: &Path) -> Option<String> {
    let repository =
        gix::open::Options::isolated().open_path_as_is(true).open(git_dir).ok()?.to_thread_local();
    if !repository.index_path().exists() {
        // Nothing was ever added.
        return Some(String::new());
    }
    let index = repository.open_index().ok()?;
    let prefix = prefix(work_tree, below)?;
    let entries =
        || index.entries().iter().filter(|entry| entry.path(&index).starts_with(prefix.as_bytes()));
    if entries().count() > MAX_FILES {
        return Some(format!("not counted: more than {MAX_FILES} files"));
    }
    let mut changed: BTreeSet<String> = BTreeSet::new();
    let name = |path: &gix::bstr::BStr| {
        path.to_str_lossy().strip_prefix(&prefix).unwrap_or_default().to_owned()
    };
    for entry in entries() {
        let path = entry.path(&index);
        if entry.stage() != Stage::Unconflicted || differs(work_tree, path, entry) {
            changed.insert(name(path));
        }
    }
    for path in staged(&repository, &index)? {
        if path.starts_with(prefix.as_bytes()) {
            changed.insert(name(path.as_bstr()));
        }
    }
    Some(told(&changed))
}

/// The path of a directory below the work tree as it stands in the index, with a slash at its end.
fn prefix(work_tree: &Path, below: &Path) -> Option<String> {
    let below = below.strip_prefix(work_tree).ok()?;
    let mut prefix = String::new();
    for part in below.components() {
        prefix.push_str(part.as_os_str().to_str()?);
        prefix.push('/');
    }
    Some(prefix)
}

fn told(changed: &BTreeSet<String>) -> String {
    let names: Vec<&str> = changed.iter().take(MAX_NAMES).map(String::as_str).collect();
    let more = changed.len() - names.len();
    match changed.len() {
        0 => String::new(),
        1 => format!("1 file changed: {}", names.join(", ")),
        count if more == 0 => format!("{count} files changed: {}", names.join(", ")),
        count => format!("{count} files changed: {} and {more} more", names.join(", ")),
    }
}

/// Whether a file of the work tree is another than the index says.
fn differs(work_tree: &Path, path: &gix::bstr::BStr, entry: &gix::index::Entry) -> bool {
    let unchecked = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE;
    if entry.flags.intersects(unchecked) || entry.mode == Mode::COMMIT || entry.mode.is_sparse() {
        return false;
    }
    let Ok(path) = path.to_path() else { return false };
    let path = work_tree.join(path);
    let Ok(meta) = fs::symlink_metadata(&path) else { return true };
    let is_link = entry.mode == Mode::SYMLINK;
    if meta.is_dir() || meta.is_symlink() != is_link {
        return true;
    }
    if meta.len() != u64::from(entry.stat.size) {
        return true;
    }
    if same_time(&meta, entry) {
        return false;
    }
    if meta.len() > MAX_BYTES {
        return true;
    }
    let content = if is_link {
        fs::read_link(&path).map(|target| target.into_os_string().into_encoded_bytes())
    } else {
        fs::read(&path)
    };
    content.is_ok_and(|content| {
        gix::objs::compute_hash(entry.id.kind(), gix::objs::Kind::Blob, &content)
            .is_ok_and(|id| id != entry.id)
    })
}

/// Whether the time of a file is the one in the index.
fn same_time(meta: &Metadata, entry: &gix::index::Entry) -> bool {
    let since = meta.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let time = entry.stat.mtime;
    since.is_some_and(|since| {
        since.as_secs() == u64::from(time.secs)
            && (time.nsecs == 0 || since.subsec_nanos() == time.nsecs)
    })
}

/// The paths in which the index differs from the last commit.
fn staged(repository: &gix::Repository, index: &File) -> Option<Vec<Vec<u8>>> {
    let head = repository.head_tree_id().ok().map(gix::Id::detach);
    let cached = index.tree().filter(|tree| tree.num_entries.is_some()).map(|tree| tree.id);
    if head.is_some() && head == cached {
        return Some(Vec::new());
    }
    let before = match head {
        Some(head) => State::from_tree(
            &head,
            &repository.objects,
            gix::validate::path::component::Options::default(),
        )
        .ok()?,
        // Before the first commit everything is new.
        None => State::new(repository.object_hash()),
    };
    if before.entries().len() > 4 * MAX_FILES {
        return Some(Vec::new());
    }
    let list = |state: &State| -> BTreeSet<(Vec<u8>, ObjectId, u32)> {
        let entries = state.entries().iter();
        entries.map(|e| (e.path(state).to_vec(), e.id, e.mode.bits())).collect()
    };
    let (before, now) = (list(&before), list(index));
    let mut paths: Vec<Vec<u8>> =
        before.symmetric_difference(&now).map(|(path, ..)| path.clone()).collect();
    paths.dedup();
    Some(paths)
}
