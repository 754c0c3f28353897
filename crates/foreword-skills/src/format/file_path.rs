//! The files that a proposal brings beside `SKILL.md`: where they may lie, and how many there may be.

use std::collections::{BTreeMap, BTreeSet};

use foreword_workspace::file_name_fault;

use crate::error::SkillError;
use crate::git::work_tree::{DEEPEST, LARGEST_SKILL, MAX_FILE_BYTES, MOST_FILES};

/// Whether files can be written below a skill's folder and read back on every platform.
pub(crate) fn check_files(files: &BTreeMap<String, Vec<u8>>) -> Result<(), SkillError> {
    let mut taken = BTreeSet::from(["skill.md".to_owned()]);
    let mut folders = BTreeSet::new();
    let mut bytes = 0_u64;
    for (path, content) in files {
        let fault = |reason: String| SkillError::FilePath { path: path.clone(), reason };
        if let Some(reason) = path_fault(path) {
            return Err(fault(reason));
        }
        // On some file systems names that differ only in case are one file.
        let lower = path.to_lowercase();
        let parents = lower.match_indices('/').filter_map(|(at, _)| lower.get(..at));
        folders.extend(parents.map(str::to_owned));
        if !taken.insert(lower) || !taken.is_disjoint(&folders) {
            return Err(fault("another file has this place".into()));
        }
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        bytes = bytes.saturating_add(size);
        for (size, limit) in [(size, MAX_FILE_BYTES), (bytes, LARGEST_SKILL)] {
            if size > limit {
                return Err(SkillError::TooLarge { path: path.clone(), limit });
            }
        }
        if taken.len() > MOST_FILES {
            return Err(SkillError::TooManyFiles { path: path.clone(), limit: MOST_FILES });
        }
    }
    Ok(())
}

fn path_fault(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').collect();
    if names.len() > DEEPEST {
        return Some("it is nested too deeply".into());
    }
    names.iter().find_map(|name| match file_name_fault(name) {
        Some(fault) => Some(fault.to_string()),
        // Hidden files are neither imported nor screened later.
        None => name.starts_with('.').then(|| "it is hidden".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str]) -> Result<(), String> {
        let files = paths.iter().map(|path| ((*path).to_owned(), b"x".to_vec())).collect();
        check_files(&files).map_err(|error| error.to_string())
    }

    #[test]
    fn files_stay_below_the_folder_and_beside_each_other() {
        assert_eq!(check(&["scripts/a.py", "scripts/b.py", "references/a.md"]), Ok(()));
        for path in [
            "../x",
            "/etc/passwd",
            "a/../../x",
            "",
            "a//b",
            "SKILL.md",
            "skill.MD",
            ".env",
            "a/.git/hooks/x",
            "c:/x",
            "nul",
            "a\\b",
            "a/b/c/d/e/f/g/h/i",
            "a.",
            "x\0",
        ] {
            assert!(check(&[path]).is_err(), "{path:?}");
        }
        assert!(check(&["a.py", "A.py"]).is_err());
        assert!(check(&["a", "a/b"]).is_err() && check(&["B/c", "b"]).is_err());
        let many: Vec<String> = (0..300).map(|n| format!("f{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(check(&many).unwrap_err().contains("more than 200 files"));
        let large = BTreeMap::from([("a".to_owned(), vec![0; (1 << 20) + 1])]);
        assert!(matches!(check_files(&large), Err(SkillError::TooLarge { .. })));
    }
}
