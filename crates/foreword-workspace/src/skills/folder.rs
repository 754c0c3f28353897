//! The files that a skill brings along.
//!
//! A skill says "run scripts/x.sh", so a changed script is a changed skill: approvals and trust cover every
//! file of its folder. A folder that cannot be read as a whole is an error, and its skill counts as one that
//! nobody reviewed.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::error::WorkspaceError;
use crate::governed::contents::Digest;
use crate::read::Root;
use crate::rel_path::PathFault;
use crate::skills::Skill;
use crate::skills::scan::IN_FOLDER;
use crate::tree::{Tree, TreeEntryKind, fault};
use crate::workspace::Workspace;

/// Names in the folder of one skill, and how deep they may lie.
const MAX_ENTRIES: usize = 5_000;
const MAX_DEPTH: usize = 32;
/// Bytes of all files of one skill.
const MAX_BYTES: u64 = 64 << 20;

impl Workspace {
    /// The digests of the files beside a skill's SKILL.md, by path as the workspace shows them.
    ///
    /// `root` is the root of the skill as the settings name it, and `dir` its folder.
    pub fn skill_digests(
        &self,
        root: &str,
        dir: &str,
    ) -> Result<BTreeMap<String, Digest>, WorkspaceError> {
        let root = self.files.further(root)?;
        files_beside(&root, dir, |bytes| blake3::hash(&bytes).into())
    }

    /// The bytes of every file of a skill, by path as the workspace shows them. A link inside the folder is
    /// what it says.
    pub fn whole_skill(&self, skill: &Skill) -> Result<BTreeMap<String, Vec<u8>>, WorkspaceError> {
        let root = self.files.further(&skill.root)?;
        let path = &skill.body.path;
        let mut files = match &skill.dir {
            Some(dir) => files_beside(&root, dir, |bytes| bytes)?,
            None => BTreeMap::new(),
        };
        let below = root.below(path);
        // It was there a moment ago.
        if let Some(found) = root.find(below, false)? {
            let limit = self.config().limits.max_file_bytes;
            files.insert(path.clone(), root.bytes(below, &found, limit)?);
        }
        Ok(files)
    }
}

fn files_beside<T>(
    root: &Root,
    dir: &str,
    mut take: impl FnMut(Vec<u8>) -> T,
) -> Result<BTreeMap<String, T>, WorkspaceError> {
    let (tree, place) = root.folder(dir)?;
    let mut files = BTreeMap::new();
    let (mut entries_left, mut bytes_left) = (MAX_ENTRIES, MAX_BYTES);
    let mut folders = vec![(String::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let shown = join(dir, &folder);
        let opened =
            tree.try_open(Path::new(&folder)).map_err(|error| fault(shown.clone(), error))?;
        root.seen.note(place.join(&folder), Some(opened.stamp));
        let too_many = || WorkspaceError::TooManyEntries { path: dir.into(), limit: MAX_ENTRIES };
        let listed = opened.list(&shown, entries_left).map_err(|error| match error {
            WorkspaceError::TooManyEntries { .. } => too_many(),
            error => error,
        })?;
        entries_left = entries_left.saturating_sub(listed.len());
        for entry in listed {
            let below = join(&folder, &entry.name);
            let shown = join(dir, &below);
            if !entry.is_unicode {
                let (given, reason) = (shown, PathFault::Character);
                return Err(WorkspaceError::BadPath { given, reason, asked_by: None });
            }
            if is_left_out(&below, &entry.name) {
                continue;
            }
            let bytes = match entry.kind {
                TreeEntryKind::Directory if depth < MAX_DEPTH => {
                    folders.push((below, depth + 1));
                    continue;
                }
                TreeEntryKind::Directory => return Err(too_many()),
                TreeEntryKind::Special => {
                    return Err(WorkspaceError::NotRegular { path: shown });
                }
                TreeEntryKind::Link => link(&tree, dir, &below)?,
                TreeEntryKind::File => {
                    let opened = tree
                        .try_open(Path::new(&below))
                        .map_err(|error| fault(shown.clone(), error))?;
                    root.seen.note(place.join(&below), Some(opened.stamp));
                    if opened.stamp.size > bytes_left {
                        let size = (MAX_BYTES - bytes_left).saturating_add(opened.stamp.size);
                        let (path, limit) = (dir.to_owned(), MAX_BYTES);
                        return Err(WorkspaceError::TooLarge { path, size, limit });
                    }
                    opened.read(&shown, bytes_left)?
                }
            };
            bytes_left = bytes_left.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            files.insert(shown, take(bytes));
        }
    }
    Ok(files)
}

/// The skill's own file, what git keeps for itself, and what a file manager leaves behind.
fn is_left_out(below: &str, name: &str) -> bool {
    below == IN_FOLDER || below == ".git" || name == ".DS_Store"
}

/// What a link says. It has to stay inside the folder, where what it leads to is covered too.
fn link(tree: &Tree, dir: &str, below: &str) -> Result<Vec<u8>, WorkspaceError> {
    let target = tree.link(below)?.unwrap_or_default();
    let mut depth = below.matches('/').count();
    for part in target.components() {
        let inside = match part {
            Component::Normal(_) => Some(depth + 1),
            Component::CurDir => Some(depth),
            Component::ParentDir => depth.checked_sub(1),
            Component::RootDir | Component::Prefix(_) => None,
        };
        let Some(inside) = inside else {
            return Err(WorkspaceError::LinkOutside {
                link: join(dir, below),
                target: target.display().to_string(),
                boundary: dir.to_owned(),
            });
        };
        depth = inside;
    }
    Ok(format!("link to {}\n", target.display()).into_bytes())
}

fn join(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{name}"),
    }
}

impl Root {
    /// A folder that the workspace shows under this name, links resolved, and where it is.
    fn folder(&self, shown: &str) -> Result<(Tree, PathBuf), WorkspaceError> {
        let missing = || WorkspaceError::NoRoot { path: shown.to_owned() };
        let (opened, place) = self.open_below(self.below(shown))?.ok_or_else(missing)?;
        Ok((Tree::of(opened, &place, shown)?, place))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Scratch;

    const SKILL: &str = "---\nname: tea\n---\nRun scripts/boil.sh.\n";

    fn digests(scratch: &Scratch) -> Result<Vec<String>, String> {
        let digests = scratch.open().skill_digests("skills", "skills/tea");
        digests.map(|found| found.into_keys().collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_file_of_the_folder_is_covered() {
        let scratch = Scratch::new(&[
            ("skills/tea/SKILL.md", SKILL),
            ("skills/tea/scripts/boil.sh", "boil\n"),
            ("skills/tea/.env", "A=1\n"),
            ("skills/tea/.git/HEAD", "ref\n"),
            ("skills/pie.md", "# Pie\n"),
        ]);
        let place = scratch.path().join("skills/tea");
        std::fs::write(place.join("kettle.bin"), b"\0\xff").unwrap();
        std::os::unix::fs::symlink("scripts/boil.sh", place.join("run")).unwrap();
        let expected = [".env", "kettle.bin", "run", "scripts/boil.sh"];
        assert_eq!(digests(&scratch).unwrap(), expected.map(|name| format!("skills/tea/{name}")));
        let workspace = scratch.open();
        let skills = workspace.skills().unwrap().skills;
        let whole = workspace.whole_skill(&skills[1]).unwrap();
        assert_eq!(whole["skills/tea/SKILL.md"], SKILL.as_bytes());
        assert_eq!(whole["skills/tea/run"], b"link to scripts/boil.sh\n");
        let flat = workspace.whole_skill(&skills[0]).unwrap();
        assert_eq!(
            flat.into_iter().collect::<Vec<_>>(),
            [("skills/pie.md".into(), b"# Pie\n".to_vec())]
        );
        // A changed script is noticed by whoever keeps what was read.
        std::thread::sleep(std::time::Duration::from_millis(60));
        let workspace = scratch.open();
        workspace.skill_digests("skills", "skills/tea").unwrap();
        let snapshot = workspace.snapshot();
        assert!(snapshot.holds());
        std::fs::write(place.join("scripts/new.sh"), "x").unwrap();
        assert!(!snapshot.holds());
    }

    #[test]
    fn what_cannot_be_covered_is_an_error() {
        let scratch = Scratch::new(&[("skills/tea/SKILL.md", SKILL), ("outside.sh", "x")]);
        let place = scratch.path().join("skills/tea");
        for target in ["../../outside.sh", "/etc/hostname", "a/../../x"] {
            std::os::unix::fs::symlink(target, place.join("run")).unwrap();
            let error = digests(&scratch).unwrap_err();
            assert!(error.contains("skills/tea/run"), "{error}");
            std::fs::remove_file(place.join("run")).unwrap();
        }
        let large = std::fs::File::create(place.join("large.bin")).unwrap();
        large.set_len(super::MAX_BYTES + 1).unwrap();
        assert!(digests(&scratch).unwrap_err().starts_with("skills/tea: is "));
        large.set_len(1).unwrap();
        for number in 0..super::MAX_ENTRIES {
            std::fs::write(place.join(number.to_string()), "").unwrap();
        }
        assert_eq!(digests(&scratch).unwrap_err(), "skills/tea: contains more than 5000 entries");
    }
}
