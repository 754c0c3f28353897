//! The repositories in a workspace: the person's own git runs what their settings and hooks say, so an
//! agent that can write those is out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::PRIVATE_DIR;

/// What in a repository decides what git runs, or where it looks for that.
const RUN_BY_GIT: [&str; 7] =
    ["config", "config.worktree", "commondir", "hooks", "info", "modules", "worktrees"];
/// Entries of a workspace that are looked at, the outermost first.
pub const MAX_ENTRIES: usize = 200_000;
/// Of so many repositories the parts are protected one by one, of further ones everything.
const MAX_COMPONENTS: usize = 100;

/// The settings and hooks of the repositories in a workspace, as far as they exist: git runs them when
/// the person works there. Add them to [`SandboxSpec::governed`](crate::SandboxSpec::governed).
#[must_use]
pub fn run_by_host(workspace: &Path) -> Vec<PathBuf> {
    Repositories::find(workspace).read_only()
}

/// What makes a directory a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    Directory,
    File,
    Link(PathBuf),
}

/// The repositories in a workspace. Paths are relative to it; links are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repositories {
    root: PathBuf,
    /// Every `.git`, and the `HEAD` of directories that are repositories without that name.
    marks: BTreeMap<PathBuf, Mark>,
    /// Where their settings are.
    directories: Vec<PathBuf>,
    /// Links where settings would be.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Directories that could not be listed.
    closed: BTreeSet<PathBuf>,
    /// Everything less deep than this was looked at; nothing if everything was.
    searched: Option<usize>,
}

impl Repositories {
    pub fn find(root: &Path) -> Self {
        Self::search(root, |path| fs::read_dir(path), MAX_ENTRIES)
    }

    /// Finds them again. Directories that have been closed since are opened, for nothing may hide there.
    pub fn find_again(&self) -> Self {
        let list = |path: &Path| match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let known = path.strip_prefix(&self.root).is_ok_and(|at| self.closed.contains(at));
                if known {
                    return Err(error);
                }
                fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
                fs::read_dir(path)
            }
            listed => listed,
        };
        Self::search(&self.root, list, MAX_ENTRIES)
    }

    fn search(root: &Path, list: impl Fn(&Path) -> io::Result<fs::ReadDir>, most: usize) -> Self {
        let mut found = Self {
            root: root.to_path_buf(),
            marks: BTreeMap::new(),
            directories: Vec::new(),
            links: BTreeMap::new(),
            closed: BTreeSet::new(),
            searched: None,
        };
        let (mut level, mut depth, mut entries) = (vec![PathBuf::new()], 0, 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            for directory in level {
                let Ok(listed) = list(&root.join(&directory)) else {
                    found.closed.insert(directory);
                    continue;
                };
                let mut parts =
                    [("HEAD", false), ("objects", false), ("refs", false), ("commondir", false)];
                for entry in listed.flatten() {
                    entries += 1;
                    if entries > most {
                        found.searched = Some(depth);
                        found.note_links();
                        return found;
                    }
                    let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
                    let path = directory.join(&name);
                    if name.eq_ignore_ascii_case(".git") {
                        found.take(path, kind);
                        continue;
                    }
                    for (part, there) in &mut parts {
                        *there |= name == *part;
                    }
                    if kind.is_dir() && path != Path::new(PRIVATE_DIR) {
                        next.push(path);
                    }
                }
                let [(_, head), (_, objects), (_, refs), (_, elsewhere)] = parts;
                if head && (objects && refs || elsewhere) {
                    found.marks.insert(directory.join("HEAD"), Mark::File);
                    found.directories.push(directory);
                }
            }
            level = next;
            depth += 1;
        }
        found.note_links();
        found
    }

    fn take(&mut self, path: PathBuf, kind: fs::FileType) {
        let mark = if kind.is_symlink() {
            Mark::Link(fs::read_link(self.root.join(&path)).unwrap_or_default())
        } else if kind.is_dir() {
            self.directories.push(path.clone());
            Mark::Directory
        } else {
            Mark::File
        };
        self.marks.insert(path, mark);
    }

    fn note_links(&mut self) {
        for path in self.parts() {
            if let Ok(target) = fs::read_link(self.root.join(&path)) {
                self.links.insert(path, target);
            }
        }
    }

    fn parts(&self) -> Vec<PathBuf> {
        let parts = |directory: &PathBuf| RUN_BY_GIT.map(|name| directory.join(name));
        self.directories.iter().flat_map(parts).collect()
    }

    /// What there is of settings and hooks, as absolute paths, that of links included.
    pub fn read_only(&self) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        for (count, directory) in self.directories.iter().enumerate() {
            if count >= MAX_COMPONENTS && !directory.as_os_str().is_empty() {
                found.insert(self.root.join(directory));
                continue;
            }
            for name in RUN_BY_GIT {
                found.extend(fs::canonicalize(self.root.join(directory).join(name)));
            }
        }
        let files = self.marks.iter().filter(|(path, mark)| {
            **mark == Mark::File && path.file_name().is_some_and(|name| name != "HEAD")
        });
        found.extend(files.map(|(path, _)| self.root.join(path)));
        found.retain(|path| path.starts_with(&self.root) && *path != self.root);
        found.into_iter().collect()
    }

    /// Settings and hooks that are not there.
    pub fn absent(&self) -> Vec<PathBuf> {
        let nothing = |path: &PathBuf| fs::symlink_metadata(self.root.join(path)).is_err();
        self.parts().into_iter().filter(nothing).collect()
    }

    /// Links where settings are, or repositories.
    pub fn links(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let marks = self.marks.iter().filter_map(|(path, mark)| match mark {
            Mark::Link(target) => Some((path, target)),
            _ => None,
        });
        self.links.iter().chain(marks).map(|(path, target)| (path.as_path(), target.as_path()))
    }

    /// What of another search was not there in this one. Where this one did not get, nobody can tell.
    pub fn appeared_in(&self, now: &Self) -> Vec<PathBuf> {
        let looked_at = |path: &Path| {
            let depth = path.components().count().saturating_sub(1);
            self.searched.is_none_or(|searched| depth < searched)
        };
        let new = now.marks.iter().filter(|(path, mark)| {
            self.marks.get(*path) != Some(*mark) && looked_at(path.as_path())
        });
        new.map(|(path, _)| path.clone()).collect()
    }

    pub fn is_complete(&self) -> bool {
        self.searched.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn repositories_of_every_kind_are_found() {
        let scratch = Scratch::new(
            &[
                ".git/config",
                ".git/hooks/x",
                ".git/modules/sub/config",
                "sub/.git",
                "bare/HEAD",
                "bare/config",
                "half/HEAD",
                "half/config",
                ".foreword/skills.git/HEAD",
            ]
            .map(|path| (path, "")),
        );
        for directory in ["bare/objects", "bare/refs"] {
            fs::create_dir_all(scratch.path().join(directory)).unwrap();
        }
        std::os::unix::fs::symlink("../other", scratch.path().join(".git/info")).unwrap();
        scratch.write("other/exclude", "");
        let found = Repositories::find(scratch.path());
        let shown = found.read_only();
        let names: Vec<_> =
            shown.iter().map(|path| path.strip_prefix(scratch.path()).unwrap()).collect();
        let expected =
            [".git/config", ".git/hooks", ".git/modules", "bare/config", "other", "sub/.git"];
        assert_eq!(names, expected.map(Path::new));
        assert!(found.absent().contains(&PathBuf::from(".git/commondir")));
        assert!(!found.absent().contains(&PathBuf::from(".git/info")), "a link is something");
        assert_eq!(found.links().count(), 1);
    }

    #[test]
    fn what_was_never_looked_at_did_not_appear() {
        let scratch = Scratch::new(&[("a/b/c/.git/config", ""), ("x", ""), ("y", "")]);
        let before = Repositories::search(scratch.path(), |path| fs::read_dir(path), 4);
        assert!(!before.is_complete());
        scratch.write(".git/config", "");
        let now = Repositories::find(scratch.path());
        assert_eq!(before.appeared_in(&now), [Path::new(".git")]);
    }
}
