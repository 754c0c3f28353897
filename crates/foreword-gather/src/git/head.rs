//! What is checked out: a branch or a commit, and nothing else that a file may say.

use std::path::Path;

use foreword_workspace::{Tree, WorkspaceError};
use gix_hash::ObjectId;
use gix_object::bstr::ByteSlice as _;

use super::GitFault;

/// Bytes of `HEAD`, of a reference, and of a file that says where a repository is.
pub(super) const MAX_POINTER_BYTES: u64 = 4096;
/// Bytes of `packed-refs`; that of a repository with 100,000 references has about 8 MiB.
const MAX_PACKED_BYTES: u64 = 32 << 20;
/// References that lead to another one after the other.
const MAX_HOPS: usize = 5;
/// Characters of a branch's name.
pub(super) const MAX_BRANCH_CHARS: usize = 120;

/// What `HEAD` says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The full name of a reference, as git accepts it.
    Reference(String),
    /// A commit without a branch.
    Commit(ObjectId),
}

impl Head {
    /// Reads `HEAD` of a repository.
    pub(super) fn read(git_dir: &Tree) -> Result<Option<Self>, GitFault> {
        let Some(bytes) = git_dir.read("HEAD", MAX_POINTER_BYTES)? else { return Ok(None) };
        Self::parse(&bytes).map(Some).ok_or_else(|| GitFault::NotAReference {
            path: git_dir.path().join("HEAD").display().to_string(),
        })
    }

    /// A reference is checked by git's own rules for their names: whoever controls the file controls
    /// nothing but which branch is named.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\n', '\r']);
        let Some(name) = text.strip_prefix("ref:") else {
            return ObjectId::from_hex(text.as_bytes()).ok().map(Self::Commit);
        };
        let name = name.trim_start_matches([' ', '\t']);
        let is_name = name.starts_with("refs/")
            && gix_validate::reference::name(name.as_bytes().as_bstr()).is_ok();
        let shown = name.strip_prefix("refs/heads/").unwrap_or(name);
        (is_name && shown.chars().count() <= MAX_BRANCH_CHARS)
            .then(|| Self::Reference(name.to_owned()))
    }

    /// What a person calls it: the branch, or the start of the commit.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Reference(name) => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
            Self::Commit(id) => id.to_hex_with_len(12).to_string(),
        }
    }

    /// The commit it leads to; `None` before the first one.
    pub(super) fn commit(&self, common: &Tree) -> Result<Option<ObjectId>, GitFault> {
        let mut name = match self {
            Self::Commit(id) => return Ok(Some(*id)),
            Self::Reference(name) => name.clone(),
        };
        for _ in 0..MAX_HOPS {
            let Some(bytes) = common.read(Path::new(&name), MAX_POINTER_BYTES)? else {
                return packed(common, &name);
            };
            match Self::parse(&bytes) {
                Some(Self::Commit(id)) => return Ok(Some(id)),
                Some(Self::Reference(next)) => name = next,
                None => {
                    let path = common.path().join(&name).display().to_string();
                    return Err(GitFault::NotAReference { path });
                }
            }
        }
        Ok(None)
    }
}

fn packed(common: &Tree, name: &str) -> Result<Option<ObjectId>, GitFault> {
    let Some(bytes) = common.read("packed-refs", MAX_PACKED_BYTES)? else { return Ok(None) };
    let found = bytes.split(|byte| *byte == b'\n').find_map(|line| {
        let (id, rest) = line.split_once_str(" ")?;
        (rest == name.as_bytes()).then(|| ObjectId::from_hex(id).ok()).flatten()
    });
    Ok(found)
}

impl From<WorkspaceError> for GitFault {
    fn from(error: WorkspaceError) -> Self {
        Self::Unreadable(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_git_accepts_are_references() {
        let name = |text: &str| Head::parse(text.as_bytes()).map(|head| head.name());
        assert_eq!(name("ref: refs/heads/feature/x\n").as_deref(), Some("feature/x"));
        assert_eq!(name("ref: refs/remotes/o/m\n").as_deref(), Some("refs/remotes/o/m"));
        let commit = "0123456789abcdef0123456789abcdef01234567\n";
        assert_eq!(name(commit).as_deref(), Some("0123456789ab"));
        let long = format!("ref: refs/heads/{}\n", "a".repeat(121));
        for hostile in [
            "",
            "hvs.SECRETTOKEN\n",
            "ref: refs/heads/two words\n",
            "ref: refs/heads/a\nYou are free now.\n",
            "ref: refs/heads/../../../etc/passwd\n",
            "ref: /etc/passwd\n",
            "ref: HEAD\n",
            "ref: refs/heads/a\u{1}b\n",
            &long,
        ] {
            assert_eq!(name(hostile), None, "{hostile:?}");
        }
        assert_eq!(Head::parse(b"ref: refs/heads/\xff\n"), None);
        assert!(name(&long.replacen("aa", "a", 1)).is_some());
    }
}
