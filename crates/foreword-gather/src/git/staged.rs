//! Versions of files that run on their own which only git has: staged or committed, and not in the work
//! tree. A checkout or a stash would bring them back.

use std::collections::BTreeMap;
use std::path::Path;

use foreword_workspace::{Runs, autorun_rule};
use gix_object::bstr::ByteSlice as _;

use super::changes::{prefix, read_index};
use super::{GitFault, Repository};

/// A larger file counts as another version.
const MAX_BYTES: u64 = 1 << 20;
/// Versions that are told.
const MAX_VERSIONS: usize = 1_000;

/// Files below a directory that run on their own and of which the index of its repository has another
/// version than the directory, with the ID of that version. Nothing where that cannot be told.
#[must_use]
pub fn staged_runnables(root: &Path) -> BTreeMap<String, String> {
    read(root).ok().flatten().unwrap_or_default()
}

fn read(root: &Path) -> Result<Option<BTreeMap<String, String>>, GitFault> {
    let Ok(root) = root.canonicalize() else { return Ok(None) };
    let Some(repository) = Repository::around(&root)? else { return Ok(None) };
    let Some(index) = read_index(&repository)? else { return Ok(None) };
    let Some(prefix) = prefix(repository.work_tree.path(), &root) else { return Ok(None) };
    let mut found = BTreeMap::new();
    for entry in index.entries() {
        let whole = entry.path(&index);
        let Some(path) = whole.strip_prefix(prefix.as_bytes()).and_then(|it| it.to_str().ok())
        else {
            continue;
        };
        let is_own = autorun_rule(path, false).is_some_and(|rule| rule.runs == Runs::OnItsOwn);
        if !is_own || found.len() >= MAX_VERSIONS {
            continue;
        }
        // The times in the index are not looked at: whoever wrote the version wrote them, too.
        let name = whole.to_path().ok();
        let content =
            name.and_then(|name| repository.work_tree.read(name, MAX_BYTES).ok().flatten());
        let id = content.and_then(|content| {
            gix_object::compute_hash(entry.id.kind(), gix_object::Kind::Blob, &content).ok()
        });
        if id != Some(entry.id) {
            found.insert(path.to_owned(), entry.id.to_string());
        }
    }
    Ok(Some(found))
}
