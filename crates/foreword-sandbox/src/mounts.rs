//! The plan of a file system: what is mounted where, the same for every sandbox that has mounts.
//!
//! A mount protects a name only as long as the directories above it stay where they are: a directory
//! that holds a mount can be renamed, and a new one put in its place. So every directory between the
//! workspace and a protected path is mounted on itself, which nails it down. The price is that files
//! cannot be renamed or hard-linked across such a directory, only copied.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::backends::subprocess::Launcher;
use crate::error::SandboxError;
use crate::spec::SandboxSpec;

/// Mounts of one sandbox; bubblewrap takes 9,000 arguments, five of them a mount and its check.
const MAX_MOUNTS: usize = 1500;

/// What a path inside shows. If two are requested for one path, the later variant wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shown {
    /// The host's content, writable.
    Writable,
    /// The host's content, read-only.
    ReadOnly,
    /// An empty directory that stays empty.
    EmptyDirectory,
    /// A file that cannot be opened.
    EmptyFile,
}

/// One mount; the source is the same path of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) path: PathBuf,
    pub(crate) shown: Shown,
}

/// The mounts of a spec besides the system and the directory of the session, outer ones first.
/// `launcher` is to be seen besides the program; `system` are the trees of the host's system that are
/// shown anyway.
pub(crate) fn plan(
    spec: &SandboxSpec,
    launcher: Option<&Launcher>,
    system: &[PathBuf],
) -> Result<Vec<Mount>, SandboxError> {
    let workspace = spec.workspace.as_path();
    let mut at: BTreeMap<PathBuf, Shown> = BTreeMap::new();
    let mut links = Vec::new();
    let mut show = |path: &Path, shown: Shown| {
        let known = at.entry(path.to_path_buf()).or_insert(shown);
        *known = shown.max(*known);
    };
    show(workspace, if spec.writable { Shown::Writable } else { Shown::ReadOnly });
    let programs = launcher.into_iter().flat_map(Launcher::files).chain([&spec.program]);
    for path in spec.read_only.iter().chain(programs) {
        let found = fs::canonicalize(path)
            .map_err(|source| SandboxError::Io { path: path.clone(), source })?;
        if !system.iter().any(|tree| found.starts_with(tree)) {
            show(&found, Shown::ReadOnly);
        }
        if found != *path {
            links.push(path);
        }
    }
    for path in &spec.governed {
        show(path, Shown::ReadOnly);
    }
    for path in spec.private.iter().filter(|path| path.starts_with(workspace)) {
        show(path, if path.is_dir() { Shown::EmptyDirectory } else { Shown::EmptyFile });
    }
    // A link is shown as its target, unless the link itself is visible.
    for link in links {
        let seen = link.ancestors().any(|outer| at.contains_key(outer));
        if !seen && !system.iter().any(|tree| link.starts_with(tree)) {
            at.insert(link.clone(), Shown::ReadOnly);
        }
    }
    nail_down(&mut at, workspace);
    drop_covered(&mut at, workspace);
    if at.len() > MAX_MOUNTS {
        return Err(SandboxError::TooMany { what: "mounts", most: MAX_MOUNTS });
    }
    Ok(at.into_iter().map(|(path, shown)| Mount { path, shown }).collect())
}

/// Bind-mounts the directories between the workspace and protected paths onto themselves.
fn nail_down(at: &mut BTreeMap<PathBuf, Shown>, workspace: &Path) {
    let protected = at.keys().filter(|path| path.starts_with(workspace) && *path != workspace);
    let between: Vec<PathBuf> = protected
        .flat_map(|path| path.ancestors().skip(1).take_while(|outer| *outer != workspace))
        .map(Path::to_path_buf)
        .collect();
    for path in between {
        at.entry(path).or_insert(Shown::Writable);
    }
}

/// Never mount inside a read-only or empty mount: that could only open a hole.
fn drop_covered(at: &mut BTreeMap<PathBuf, Shown>, workspace: &Path) {
    let closed: BTreeMap<PathBuf, Shown> = at
        .iter()
        .filter(|(path, shown)| path.starts_with(workspace) && **shown > Shown::Writable)
        .map(|(path, shown)| (path.clone(), *shown))
        .collect();
    at.retain(|path, shown| {
        let outer = path.ancestors().skip(1).filter_map(|outer| closed.get(outer)).max();
        path == workspace || outer.is_none_or(|outer| *shown > *outer)
    });
}

#[cfg(test)]
#[path = "mounts_tests.rs"]
mod tests;
