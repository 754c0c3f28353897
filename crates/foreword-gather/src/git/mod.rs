//! Facts of the surrounding repository, read from its files: no git, no hooks, no pager.

mod changes;

use std::io::Read;
use std::path::{Path, PathBuf};

/// The most a file of git's may have to be looked at.
const MAX_BYTES: u64 = 4096;

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

/// What has changed below `start` since the last commit, on one line; empty where nothing did.
pub(crate) fn changes(start: &Path) -> Option<String> {
    let start = start.canonicalize().ok()?;
    let (git_dir, work_tree) = repository(&start)?;
    changes::summary(&git_dir, &work_tree, &start)
}

/// The `.git` directory of the nearest repository, also of a linked work tree.
fn git_dir(start: &Path) -> Option<PathBuf> {
    repository(&start.canonicalize().ok()?).map(|(git_dir, _)| git_dir)
}

/// The `.git` directory of the nearest repository, and its work tree.
fn repository(start: &Path) -> Option<(PathBuf, PathBuf)> {
    start.ancestors().find_map(|directory| {
        let dot_git = directory.join(".git");
        if dot_git.is_dir() {
            return Some((dot_git, directory.to_path_buf()));
        }
        let link = read_start(&dot_git)?;
        let target = PathBuf::from(link.trim().strip_prefix("gitdir:")?.trim());
        let target = if target.is_absolute() { target } else { directory.join(target) };
        Some((target, directory.to_path_buf()))
    })
}

fn read_start(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
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

    fn git(dir: &Path, args: &[&str]) {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn changes_are_those_that_git_would_name() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q", "-b", "main"]);
        assert_eq!(changes(root).as_deref(), Some(""), "before the first commit");
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for path in ["a.txt", "b.txt", "sub/c.txt", "sub/d.txt"] {
            write(path, "one\n");
        }
        git(root, &["add", "."]);
        assert_eq!(changes(root).unwrap(), "4 files changed: a.txt, b.txt, sub/c.txt, sub/d.txt");
        git(root, &["commit", "-qm", "one"]);
        assert_eq!(changes(root).as_deref(), Some(""));
        write("untracked", "x");
        assert_eq!(changes(root).as_deref(), Some(""), "what was never added is not told");
        write("a.txt", "two\n");
        std::fs::remove_file(root.join("sub/c.txt")).unwrap();
        assert_eq!(changes(root).unwrap(), "2 files changed: a.txt, sub/c.txt");
        git(root, &["add", "a.txt"]);
        assert_eq!(changes(root).unwrap(), "2 files changed: a.txt, sub/c.txt", "staged counts");
        assert_eq!(changes(&root.join("sub")).unwrap(), "1 file changed: c.txt", "below only");
        // Written again with the same bytes: nothing changed but the time.
        write("b.txt", "one\n");
        assert_eq!(changes(root).unwrap(), "2 files changed: a.txt, sub/c.txt");
    }

    #[test]
    fn a_repository_cannot_make_us_run_anything() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q", "-b", "main"]);
        let ran = root.join("ran");
        let script = format!("touch {}", ran.display());
        for (key, value) in [
            ("core.fsmonitor", script.as_str()),
            ("core.pager", &script),
            ("filter.x.clean", &script),
            ("diff.external", &script),
        ] {
            git(root, &["config", key, value]);
        }
        std::fs::write(root.join(".gitattributes"), "* filter=x\n").unwrap();
        std::fs::write(root.join("a"), "1").unwrap();
        assert_eq!(branch(root).as_deref(), Some("main"));
        let _ = changes(root);
        assert!(!ran.exists());
    }
}
