//! The branch of the surrounding repository, read from its files: no git, no hooks, no pager.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The most a file of git's may have to be looked at.
const MOST_BYTES: u64 = 4096;

/// The branch, or the start of the commit when none is checked out.
pub(crate) fn branch(start: &Path) -> Option<String> {
    let head = read_start(&git_dir(start)?.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(reference) => {
            let reference = reference.trim();
            Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned())
        }
        None => Some(head.chars().take(12).collect()),
    }
    .filter(|branch: &String| !branch.is_empty())
}

/// The `.git` directory of the nearest repository, also of a linked work tree.
fn git_dir(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    start.ancestors().find_map(|directory| {
        let dot_git = directory.join(".git");
        if dot_git.is_dir() {
            return Some(dot_git);
        }
        let link = read_start(&dot_git)?;
        let target = PathBuf::from(link.trim().strip_prefix("gitdir:")?.trim());
        Some(if target.is_absolute() { target } else { directory.join(target) })
    })
}

fn read_start(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_from_head() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        let nested = dir.path().join("a/b");
        std::fs::create_dir_all(&nested).unwrap();
        std::fs::create_dir(&git).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(branch(&nested).as_deref(), Some("feature/x"));
        std::fs::write(git.join("HEAD"), "0123456789abcdef0123456789abcdef01234567\n").unwrap();
        assert_eq!(branch(dir.path()).as_deref(), Some("0123456789ab"));
    }
}
