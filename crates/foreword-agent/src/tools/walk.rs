//! The files below a directory, in order, within limits. Links are not followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Directories that are named and not entered: nobody wrote by hand what is in them.
const NOT_ENTERED: [&str; 3] = [".git", "node_modules", "target"];
/// The most files and directories that are looked at.
const MAX_ENTRIES: usize = 200_000;
/// The deepest directory that is entered.
const MAX_DEPTH: usize = 64;

/// What was found.
pub(super) struct Entry {
    /// Relative to where the walk began.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    /// With its size.
    File(u64),
    Link,
    Other,
}

/// What a walk did not see.
#[derive(Default)]
pub(super) struct Unseen {
    pub(super) directories: Vec<String>,
    pub(super) unreadable: usize,
    pub(super) stopped: bool,
}

impl Unseen {
    /// In words, or nothing.
    pub(super) fn note(&self) -> String {
        let mut note = String::new();
        if !self.directories.is_empty() {
            let shown: Vec<&str> = self.directories.iter().take(5).map(String::as_str).collect();
            let more = self.directories.len().saturating_sub(5);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            note += &format!("[Not entered: {}{more}.]\n", shown.join(", "));
        }
        if self.unreadable > 0 {
            note += &format!("[{} could not be read.]\n", self.unreadable);
        }
        if self.stopped {
            note += "[Stopped: too many files; choose a directory below.]\n";
        }
        note
    }
}

/// Walks; `each` says whether to go on.
pub(super) fn walk(
    start: &Path,
    recursive: bool,
    deadline: Instant,
    each: &mut dyn FnMut(Entry) -> bool,
) -> std::io::Result<Unseen> {
    let mut unseen = Unseen::default();
    let mut seen = 0;
    // The next directory to enter is the last of the list.
    let mut waiting = vec![(start.to_owned(), String::new(), 0)];
    while let Some((directory, prefix, depth)) = waiting.pop() {
        let read = match fs::read_dir(&directory) {
            Ok(read) => read,
            Err(error) if depth == 0 => return Err(error),
            Err(_) => {
                unseen.unreadable += 1;
                continue;
            }
        };
        let mut entries: Vec<_> = read.take(MAX_ENTRIES).filter_map(Result::ok).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            seen += 1;
            if seen > MAX_ENTRIES || Instant::now() > deadline {
                unseen.stopped = true;
                return Ok(unseen);
            }
            let file_name = entry.file_name().to_string_lossy().into_owned();
            let name = format!("{prefix}{file_name}");
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Kind::Directory,
                Ok(kind) if kind.is_file() => {
                    Kind::File(entry.metadata().map_or(0, |metadata| metadata.len()))
                }
                Ok(kind) if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            if kind == Kind::Directory && recursive {
                if NOT_ENTERED.contains(&file_name.as_str()) || depth >= MAX_DEPTH {
                    unseen.directories.push(name.clone());
                } else {
                    below.push((entry.path(), format!("{name}/"), depth + 1));
                }
            }
            if !each(Entry { name, path: entry.path(), kind }) {
                return Ok(unseen);
            }
        }
        waiting.extend(below.into_iter().rev());
    }
    Ok(unseen)
}
