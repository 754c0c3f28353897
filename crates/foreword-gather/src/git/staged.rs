//! Versions of files that run on their own which only git has: staged or committed, and not in the work
//! tree. A checkout or a stash would bring them back.

use std::path::{Path, PathBuf};

use foreword_workspace::{Runs, autorun_rule};
use gix_index::entry::Stage;
use gix_object::bstr::ByteSlice as _;

use super::changes::{decoded, index_bytes, prefix};
use super::{GitFault, Repository};

/// A larger file counts as another version.
const MAX_BYTES: u64 = 1 << 20;
/// Versions that are told.
const MAX_VERSIONS: usize = 1_000;

/// The index of the repository around a directory, kept to be compared with a later one. It is read only
/// if it changed, because most turns change nothing in git.
#[derive(Debug, Default)]
pub struct KeptIndex {
    /// Empty without an index; nothing where that is not known.
    bytes: Option<Vec<u8>>,
}

impl KeptIndex {
    /// Keeps the index of the repository around a directory.
    #[must_use]
    pub fn around(root: &Path) -> Self {
        let bytes = repository(root).and_then(|found| match found {
            Some((_, repository)) => index_bytes(&repository),
            None => Ok(Vec::new()),
        });
        Self { bytes: bytes.ok() }
    }

    /// Files below the directory that run on their own and of which the index has another version than
    /// before, and another one than the directory. Nothing where that cannot be told.
    #[must_use]
    pub fn newly_staged(&self, root: &Path) -> Vec<String> {
        self.compared(root).ok().flatten().unwrap_or_default()
    }

    fn compared(&self, root: &Path) -> Result<Option<Vec<String>>, GitFault> {
        let Some(before) = &self.bytes else { return Ok(None) };
        let Some((root, repository)) = repository(root)? else { return Ok(None) };
        let bytes = index_bytes(&repository)?;
        if bytes == *before {
            return Ok(None);
        }
        let (Some(index), earlier) = (decoded(&bytes), decoded(before)) else { return Ok(None) };
        let Some(prefix) = prefix(repository.work_tree.path(), &root) else { return Ok(None) };
        let mut found = Vec::new();
        for entry in index.entries() {
            let whole = entry.path(&index);
            let path = whole.strip_prefix(prefix.as_bytes()).and_then(|it| it.to_str().ok());
            let Some(path) = path else { continue };
            let is_own = autorun_rule(path, false).is_some_and(|rule| rule.runs == Runs::OnItsOwn);
            let known = earlier.as_ref().and_then(|earlier| {
                earlier.entry_by_path_and_stage(whole, Stage::Unconflicted).map(|known| known.id)
            });
            if !is_own || known == Some(entry.id) || found.len() >= MAX_VERSIONS {
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
                found.push(path.to_owned());
            }
        }
        Ok(Some(found))
    }
}

fn repository(root: &Path) -> Result<Option<(PathBuf, Repository)>, GitFault> {
    let Ok(root) = root.canonicalize() else { return Ok(None) };
    Ok(Repository::around(&root)?.map(|repository| (root, repository)))
}
