//! Facts of the surrounding repository, read from its files through the one hardened reader: no git, no
//! hooks, no filters, no pager, and no library that opens files by their names.

mod changes;
mod head;
mod objects;
mod staged;

use std::path::{Path, PathBuf};

use foreword_workspace::{Tree, WorkspaceError};

use head::{Head, MAX_POINTER_BYTES};
pub use staged::KeptIndex;

/// Why something about a repository is not told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitFault {
    /// A link, a pipe, a device, or a file without end.
    #[error(transparent)]
    Unreadable(WorkspaceError),
    /// A file that has to name a branch or a commit says something else.
    #[error("{path}: points to neither a branch nor a commit")]
    NotAReference {
        /// The file.
        path: String,
    },
}

/// What a prompt says about the repository around a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitFacts {
    /// The branch, or the start of the commit if no branch is checked out.
    pub(crate) branch: Option<String>,
    /// What has changed below the directory since the last commit, on one line; empty if nothing did.
    pub(crate) changes: String,
    /// What could not be read.
    pub(crate) problem: Option<String>,
}

impl GitFacts {
    /// Reads the facts of the nearest repository.
    pub(crate) fn around(start: &Path) -> Self {
        Self::read(start)
            .unwrap_or_else(|fault| Self { problem: Some(fault.to_string()), ..Self::default() })
    }

    fn read(start: &Path) -> Result<Self, GitFault> {
        let Ok(start) = start.canonicalize() else { return Ok(Self::default()) };
        let Some(repository) = Repository::around(&start)? else { return Ok(Self::default()) };
        let Some(head) = Head::read(&repository.git_dir)? else { return Ok(Self::default()) };
        let (changes, problem) = match changes::summary(&repository, &head, &start) {
            Ok(changes) => (changes.unwrap_or_default(), None),
            Err(fault) => (String::new(), Some(fault.to_string())),
        };
        Ok(Self { branch: Some(head.name()), changes, problem })
    }
}

/// A repository, opened: nothing below these handles leads out of them.
struct Repository {
    git_dir: Tree,
    /// What linked work trees share: objects and branches.
    common: Tree,
    work_tree: Tree,
}

impl Repository {
    /// The nearest repository around a directory, also of a linked work tree.
    fn around(start: &Path) -> Result<Option<Self>, GitFault> {
        for directory in start.ancestors() {
            let mark = directory.join(".git");
            let Ok(meta) = mark.symlink_metadata() else { continue };
            let work_tree = Tree::open(directory)?;
            let git_dir = if meta.is_dir() {
                let Some(git_dir) = work_tree.subtree(".git")? else { continue };
                git_dir
            } else {
                let Some(text) = pointer(&work_tree, ".git")? else { continue };
                let Some(target) = text.strip_prefix("gitdir:") else { continue };
                Tree::open(&directory.join(target.trim()))?
            };
            let common = match pointer(&git_dir, "commondir")? {
                Some(path) => Tree::open(&git_dir.path().join(PathBuf::from(path.trim())))?,
                None => git_dir.clone(),
            };
            return Ok(Some(Self { git_dir, common, work_tree }));
        }
        Ok(None)
    }
}

/// The text of a small file that says where something is.
fn pointer(tree: &Tree, name: &str) -> Result<Option<String>, GitFault> {
    let bytes = tree.read(name, MAX_POINTER_BYTES)?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
