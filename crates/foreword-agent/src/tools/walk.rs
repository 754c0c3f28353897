//! The files below a directory, in order, within limits. Links are not followed, and what
//! `.gitignore` excludes is left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::hidden::Hidden;

/// Directories that are named and not entered: tools write what is in them.
const NOT_ENTERED: [&str; 3] = [".git", "node_modules", "target"];
/// Files and directories that one walk looks at.
const MAX_ENTRIES: usize = 200_000;
/// The deepest directory that is entered.
const MAX_DEPTH: usize = 64;
/// Larger `.gitignore` files are not read.
const MAX_GITIGNORE_BYTES: u64 = 256 << 10;

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
    pub(super) ignored: usize,
    /// By permission rules.
    pub(super) hidden: usize,
    pub(super) unreadable: usize,
    pub(super) stopped: bool,
}

impl Unseen {
    /// The notes that end a tool's answer; empty if the walk saw everything.
    pub(super) fn note(&self) -> String {
        let mut note = String::new();
        if !self.directories.is_empty() {
            let shown: Vec<&str> = self.directories.iter().take(5).map(String::as_str).collect();
            let more = self.directories.len().saturating_sub(5);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            note += &format!("[Not entered: {}{more}.]\n", shown.join(", "));
        }
        if self.ignored > 0 {
            note += &format!("[Left out by .gitignore: {}.]\n", self.ignored);
        }
        if self.hidden > 0 {
            note += &format!("[Left out by permission rules: {}.]\n", self.hidden);
        }
        if self.unreadable > 0 {
            note += &format!("[{} could not be read.]\n", self.unreadable);
        }
        if self.stopped {
            note += "[Stopped: too many files; choose a subdirectory.]\n";
        }
        note
    }
}

/// The `.gitignore` files that apply to a directory, outermost first.
#[derive(Clone, Default)]
struct Ignores(Vec<Arc<Gitignore>>);

impl Ignores {
    /// Those of the directories above `start`, up to the root of its repository.
    fn above(start: &Path) -> Self {
        let root = start.ancestors().position(|directory| directory.join(".git").exists());
        let mut above: Vec<&Path> =
            start.ancestors().take(root.map_or(0, |root| root + 1)).collect();
        above.reverse();
        above.pop();
        above.into_iter().fold(Self::default(), |ignores, directory| ignores.with(directory))
    }

    /// These, and the one in this directory.
    fn with(&self, directory: &Path) -> Self {
        let mut ignores = self.clone();
        let file = directory.join(".gitignore");
        let readable = fs::symlink_metadata(&file)
            .is_ok_and(|about| about.is_file() && about.len() <= MAX_GITIGNORE_BYTES);
        if readable {
            let mut builder = GitignoreBuilder::new(directory);
            // Lines that git would not understand either are passed over.
            let _ = builder.add(&file);
            ignores.0.extend(builder.build().ok().filter(|found| !found.is_empty()).map(Arc::new));
        }
        ignores
    }

    /// The innermost file that mentions a path decides.
    fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        let mut files = self.0.iter().rev().map(|file| file.matched(path, is_directory));
        matches!(files.find(|found| !found.is_none()), Some(Match::Ignore(_)))
    }
}

/// Walks; `each` says whether to go on.
pub(super) fn walk(
    start: &Path,
    recursive: bool,
    deadline: Instant,
    hidden: &Hidden,
    each: &mut dyn FnMut(Entry) -> bool,
) -> std::io::Result<Unseen> {
    let mut unseen = Unseen::default();
    let mut seen = 0;
    let start = fs::canonicalize(start)?;
    let above = Ignores::above(&start);
    // The next directory to enter is the last of the list.
    let mut waiting = vec![(start, String::new(), 0, above)];
    while let Some((directory, prefix, depth, above)) = waiting.pop() {
        let read = match fs::read_dir(&directory) {
            Ok(read) => read,
            Err(error) if depth == 0 => return Err(error),
            Err(_) => {
                unseen.unreadable += 1;
                continue;
            }
        };
        let ignores = above.with(&directory);
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
            if hidden.has(&entry.path()) {
                unseen.hidden += 1;
                continue;
            }
            if ignores.ignores(&entry.path(), kind == Kind::Directory) {
                unseen.ignored += 1;
                continue;
            }
            if kind == Kind::Directory && recursive {
                if NOT_ENTERED.contains(&file_name.as_str()) || depth >= MAX_DEPTH {
                    unseen.directories.push(name.clone());
                } else {
                    below.push((entry.path(), format!("{name}/"), depth + 1, ignores.clone()));
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
