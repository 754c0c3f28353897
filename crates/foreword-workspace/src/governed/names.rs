//! Following a path name by name below a root. Links are read, never followed by the system.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::WorkspaceError;

/// Links followed from one path, as the kernel does.
const MAX_LINK_HOPS: usize = 40;

/// Where a path leads. Paths are relative to the root, with forward slashes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LeadsTo {
    /// Something that is there and is no link; empty for the root itself.
    There(String),
    /// A name at which there is nothing.
    Nothing(String),
    /// Out of the root, or in circles.
    Elsewhere,
}

/// Follows a path; every link on the way is told, with what it says.
pub(crate) fn follow(
    root: &Path,
    path: &str,
    mut on_link: impl FnMut(String, PathBuf),
) -> Result<LeadsTo, WorkspaceError> {
    let mut rest: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut walked = String::new();
    let mut hops = 0;
    while let Some(name) = rest.pop_front() {
        let at = join(&walked, &name);
        let meta = match fs::symlink_metadata(root.join(&at)) {
            Ok(meta) => meta,
            Err(error) if is_absence(&error) => {
                return Ok(LeadsTo::Nothing(rest.iter().fold(at, |path, name| join(&path, name))));
            }
            Err(source) => return Err(WorkspaceError::Io { path: at, source }),
        };
        if !meta.is_symlink() {
            walked = at;
            continue;
        }
        let target = fs::read_link(root.join(&at))
            .map_err(|source| WorkspaceError::Io { path: at.clone(), source })?;
        let leads_to = inside(root, &root.join(&walked).join(&target));
        on_link(at, target);
        hops += 1;
        let Some(leads_to) = leads_to.filter(|_| hops <= MAX_LINK_HOPS) else {
            return Ok(LeadsTo::Elsewhere);
        };
        for name in leads_to.rsplit('/').filter(|name| !name.is_empty()) {
            rest.push_front(name.to_owned());
        }
        walked.clear();
    }
    Ok(LeadsTo::There(walked))
}

/// What lies below a root of an absolute path, `..` taken away; links are not looked at.
pub(crate) fn inside(root: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let below = plain.strip_prefix(root).ok()?;
    let names: Option<Vec<&str>> = below.components().map(|c| c.as_os_str().to_str()).collect();
    Some(names?.join("/"))
}

/// A path below a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Nothing there, or a file where a directory would have to be.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
