//! Finding the workspace that a directory belongs to, as git finds its repository.
//!
//! The search climbs from the directory to the nearest `foreword.toml` or `.foreword`. It stops where the
//! owner changes, so that nobody can put a workspace above the directories of somebody else.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::config::CONFIG_FILE;
use crate::error::WorkspaceError;
use crate::governed::find::AT_THE_ROOT;
use crate::private::PRIVATE_DIR;

/// The workspace that `start` belongs to.
///
/// A directory without either mark is a workspace of its own if it has a file that Foreword reads, such as
/// AGENTS.md. Where one workspace is inside another, the person has to say which one they mean.
pub fn discover(start: &Path) -> Result<PathBuf, WorkspaceError> {
    let shown = || start.display().to_string();
    let start =
        start.canonicalize().map_err(|source| WorkspaceError::Io { path: shown(), source })?;
    let owner = fs::symlink_metadata(&start).ok().as_ref().map(owner);
    let is_own = |path: &Path| {
        fs::symlink_metadata(path).ok().filter(|found| Some(self::owner(found)) == owner)
    };
    let is_marked = |directory: &Path| {
        is_own(&directory.join(CONFIG_FILE)).is_some_and(|found| !found.is_dir())
            || is_own(&directory.join(PRIVATE_DIR)).is_some_and(|found| found.is_dir())
    };
    let mut marked = start
        .ancestors()
        .take_while(|directory| is_own(directory).is_some())
        .filter(|directory| is_marked(directory));
    match (marked.next(), marked.next()) {
        (Some(inner), Some(outer)) => Err(WorkspaceError::Nested {
            inner: inner.display().to_string(),
            outer: outer.display().to_string(),
        }),
        (Some(found), None) => Ok(found.to_owned()),
        _ if has_sources(&start) => Ok(start),
        _ => Err(WorkspaceError::NotFound { path: start.display().to_string() }),
    }
}

/// Whether a directory has anything that a prompt is made of.
fn has_sources(directory: &Path) -> bool {
    let names = AT_THE_ROOT.iter().map(|(name, _)| *name).chain(["skills"]);
    names.into_iter().any(|name| fs::symlink_metadata(directory.join(name)).is_ok())
}

#[cfg(unix)]
fn owner(of: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(of)
}

#[cfg(not(unix))]
fn owner(_: &Metadata) -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    fn found(scratch: &Scratch, from: &str) -> Result<String, String> {
        let root = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(from)).unwrap();
        let found = discover(&root.join(from)).map_err(|error| error.to_string())?;
        Ok(found.strip_prefix(&root).unwrap().display().to_string())
    }

    #[test]
    fn the_nearest_mark_above_is_the_workspace() {
        let scratch = Scratch::new(&[("w/foreword.toml", ""), ("w/a/AGENTS.md", "Nested.")]);
        assert_eq!(found(&scratch, "w"), Ok("w".into()));
        assert_eq!(found(&scratch, "w/a/b"), Ok("w".into()));
        assert_eq!(found(&scratch, "w/a"), Ok("w".into()), "instructions for a folder");
        let error = found(&scratch, "other").unwrap_err();
        assert!(error.starts_with("no workspace found in ") && error.contains("other"), "{error}");
        let state = Scratch::new(&[("w/.foreword/README.md", ""), ("plain/AGENTS.md", "Be kind.")]);
        assert_eq!(found(&state, "w/deep/er"), Ok("w".into()));
        assert_eq!(found(&state, "plain"), Ok("plain".into()));
        assert!(found(&state, "plain/below").is_err(), "without a mark it is not looked for");
    }

    #[test]
    fn one_inside_another_is_not_guessed() {
        let scratch = Scratch::new(&[("w/foreword.toml", ""), ("w/in/foreword.toml", "")]);
        let error = discover(&scratch.path().join("w/in")).unwrap_err();
        assert!(error.to_string().contains("is inside another workspace"), "{error}");
        assert!(error.hint().contains("-w "), "{}", error.hint());
        assert_eq!(found(&scratch, "w"), Ok("w".into()));
    }

    #[test]
    fn a_change_of_owner_ends_the_search() {
        let scratch = Scratch::new(&[("w/foreword.toml", ""), ("w/theirs/x", "")]);
        let theirs = scratch.path().join("w/theirs");
        let changed = std::os::unix::fs::chown(&theirs, Some(12_345), None);
        if changed.is_err() {
            // Only root can give files away.
            return;
        }
        assert!(found(&scratch, "w/theirs").is_err());
        fs::create_dir(theirs.join("own")).unwrap();
        assert!(found(&scratch, "w/theirs/own").is_err(), "past somebody else's directory");
        let mark = scratch.path().join("w/foreword.toml");
        std::os::unix::fs::chown(&mark, Some(12_345), None).unwrap();
        assert!(found(&scratch, "w").is_ok_and(|found| found == "w"), "its own files speak");
        assert!(found(&scratch, "w/sub").is_err(), "somebody else's mark");
    }
}
