//! What the tracked files must not say: where this machine keeps them.

use std::process::Command;

use memchr::memmem;

use crate::error::TaskError;
use crate::steps::{root, target};

/// Files that name a directory of this machine, as `file: directory`.
pub(crate) fn machine_paths() -> Result<Vec<String>, TaskError> {
    naming(&directories())
}

/// Tracked files that name one of these directories.
fn naming(directories: &[String]) -> Result<Vec<String>, TaskError> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let listed = listed.map_err(TaskError::io("git ls-files"))?;
    if !listed.status.success() {
        return Err(TaskError::Failed { steps: vec!["git ls-files".to_owned()] });
    }
    let mut found = Vec::new();
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name);
        // A link to a directory has no text of its own.
        let Ok(text) = std::fs::read(root().join(&*name)) else { continue };
        let named = directories.iter().filter(|path| names(&text, path));
        found.extend(named.map(|path| format!("{name}: {path}")));
    }
    Ok(found)
}

/// The directories of this checkout, its builds and the person. Those that documents use as examples are too short
/// to count: `/root` and `/tmp`.
fn directories() -> Vec<String> {
    let root = root();
    let mut found: Vec<String> =
        [Some(root.as_path()), root.parent(), root.parent().and_then(std::path::Path::parent)]
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect();
    found.push(target().display().to_string());
    found.extend(["HOME", "CARGO_HOME"].iter().filter_map(|name| std::env::var(name).ok()));
    found.retain(|path| path.len() > 1 && !["/root", "/tmp", "/home"].contains(&path.as_str()));
    found.sort();
    found.dedup();
    found
}

/// Whether a text names something in a directory. A relative path that ends the same way does not.
fn names(text: &[u8], directory: &str) -> bool {
    let path = format!("{}/", directory.trim_end_matches('/'));
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"~./-_$}".contains(byte);
    memmem::find_iter(text, path.as_bytes()).any(|place| {
        place.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|byte| !is_word(byte))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The directories above a checkout may be anything, also one of an example, so only `release` looks for them.
    #[test]
    fn no_file_names_this_checkout() {
        assert_eq!(naming(&[root().display().to_string()]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn only_whole_paths_count() {
        assert!(names(b"see /srv/foreword/x", "/srv/foreword"));
        assert!(names(b"/srv/x", "/srv"));
        assert!(!names(b"-w ~/srv/tideline", "/srv"));
        assert!(!names(b"src/srv/x", "/srv"));
        assert!(!names(b"/srvs/x", "/srv"));
    }
}
