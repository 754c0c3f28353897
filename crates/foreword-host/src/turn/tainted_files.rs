//! Files that were written while their session held external content.
//!
//! At the end of a tainted turn, every file that the turn changed is noted with its path and the digest
//! of its content (`governance/written_files.rs`). In any later session, a tool result that shows such a
//! file counts as external ([`TaintedFiles::shown_in`]). The digest makes a person's rewrite clean again
//! and finds unchanged copies under other names.
//!
//! A result shows a file if the call names it, if the result quotes it in the form of grep, or if lines of
//! the result are lines of the file. What a command encodes, sorts or shortens is not recognised.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use foreword_store::TaintedFile;
use serde_json::Value;

use crate::error::HostError;
use crate::host::Host;
use crate::turn::named_files::{MAX_NAMES, quoted_file, read, relative, unnumbered, words_of};

/// How much of all tainted files is compared line by line.
const MAX_LINE_BYTES: u64 = 32 << 20;
/// A line this long counts; two of them, or one long one, are enough.
const MIN_LINE_CHARS: usize = 16;
const LONG_LINE_CHARS: usize = 60;

/// The tainted files of a workspace, read when a turn first needs them.
pub(crate) struct TaintedFiles {
    root: PathBuf,
    cwd: PathBuf,
    known: OnceLock<Known>,
}

#[derive(Default)]
struct Known {
    files: Vec<TaintedFile>,
    sizes: HashSet<u64>,
    digests: HashSet<[u8; 32]>,
    /// Paths that are tainted whatever they hold; directories end with `/`.
    whole: BTreeSet<String>,
    lines: OnceLock<HashSet<u64>>,
}

impl TaintedFiles {
    pub(crate) fn new(root: &Path, cwd: &Path) -> Self {
        Self { root: root.to_owned(), cwd: cwd.to_owned(), known: OnceLock::new() }
    }

    /// The tainted file that a tool result shows, if it shows one.
    pub(crate) fn shown_in(
        &self,
        host: &Host,
        input: &Value,
        result: &str,
    ) -> Result<Option<String>, HostError> {
        let known = self.known(host)?;
        if known.files.is_empty() {
            return Ok(None);
        }
        let mut words = BTreeSet::new();
        words_of(input, &mut words);
        words.extend(result.lines().filter_map(quoted_file).take(MAX_NAMES).map(str::to_owned));
        for word in words.iter().take(2 * MAX_NAMES) {
            if let Some(path) = relative(&self.root, &self.cwd, word)
                && known.is_tainted(&self.root, &path)
            {
                return Ok(Some(path));
            }
        }
        Ok(known.quoted_by(&self.root, result).then(|| "lines of a tainted file".to_owned()))
    }

    fn known(&self, host: &Host) -> Result<&Known, HostError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let read = Known::of(host.reader.tainted_files(&host.key)?);
        Ok(self.known.get_or_init(|| read))
    }
}

impl Known {
    fn of(files: Vec<TaintedFile>) -> Self {
        let mut known = Self::default();
        for file in &files {
            match file.digest {
                Some(digest) => {
                    known.sizes.insert(file.size);
                    known.digests.insert(digest);
                }
                None => drop(known.whole.insert(file.path.clone())),
            }
        }
        Self { files, ..known }
    }

    fn is_tainted(&self, root: &Path, path: &str) -> bool {
        if self.whole.contains("./") || self.whole.contains(path) {
            return true;
        }
        let mut outer = path.match_indices('/');
        if outer.any(|(at, _)| path.get(..=at).is_some_and(|outer| self.whole.contains(outer))) {
            return true;
        }
        let Some(content) = read(root, path, |size| self.sizes.contains(&size)) else {
            return false;
        };
        self.digests.contains(blake3::hash(&content).as_bytes())
    }

    /// Whether lines of a text are lines of tainted files.
    fn quoted_by(&self, root: &Path, text: &str) -> bool {
        let lines = self.lines.get_or_init(|| self.read_lines(root));
        let mut found = HashSet::new();
        for line in significant(text) {
            let hash = line_hash(line);
            if lines.contains(&hash) {
                found.insert(hash);
                if found.len() > 1 || line.chars().nth(LONG_LINE_CHARS).is_some() {
                    return true;
                }
            }
        }
        false
    }

    fn read_lines(&self, root: &Path) -> HashSet<u64> {
        let mut lines = HashSet::new();
        let mut left = MAX_LINE_BYTES;
        for file in self.files.iter().filter(|file| file.digest.is_some()) {
            let Some(rest) = left.checked_sub(file.size) else { continue };
            let Some(content) = read(root, &file.path, |size| size == file.size) else { continue };
            if Some(*blake3::hash(&content).as_bytes()) == file.digest {
                left = rest;
                lines.extend(significant(&String::from_utf8_lossy(&content)).map(line_hash));
            }
        }
        lines
    }
}

/// The lines that are long enough to be told by.
fn significant(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| unnumbered(line.trim()))
        .filter(|line| line.chars().nth(MIN_LINE_CHARS - 1).is_some())
}

fn line_hash(line: &str) -> u64 {
    let hash = blake3::hash(line.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use foreword_store::SessionId;

    use super::*;

    fn known(root: &Path, path: &str, content: &str) -> Known {
        std::fs::write(root.join(path), content).unwrap();
        Known::of(vec![TaintedFile {
            path: path.to_owned(),
            digest: Some(*blake3::hash(content.as_bytes()).as_bytes()),
            size: content.len() as u64,
            changed_at: 0,
            session: SessionId::parse("a").unwrap(),
            turn: None,
            at: 0,
        }])
    }

    #[test]
    fn a_copy_is_tainted_and_a_rewrite_is_not() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let text = "Bring the blue cart on Monday.\nAsk Bo for the key to the shed.\n";
        let known = known(root, "notes.md", text);
        assert!(known.is_tainted(root, "notes.md"));
        std::fs::write(root.join("copy.txt"), text).unwrap();
        assert!(known.is_tainted(root, "copy.txt"), "whatever it is called");
        std::os::unix::fs::symlink(root.join("notes.md"), root.join("link")).unwrap();
        assert!(!known.is_tainted(root, "link") && !known.is_tainted(root, "missing"));
        assert!(known.quoted_by(root, &format!("     1\t{text}")), "numbered or not");
        assert!(!known.quoted_by(root, "Bring the blue cart on Monday."), "one short line");
        std::fs::write(root.join("notes.md"), text.replace("blue", "grey")).unwrap();
        assert!(!known.is_tainted(root, "notes.md"), "a person wrote it anew");
    }

    #[test]
    fn directories_are_tainted_with_all_they_hold() {
        let mut known = Known::default();
        known.whole.insert("target/".to_owned());
        let root = Path::new("/nonexistent");
        assert!(known.is_tainted(root, "target/debug/x") && !known.is_tainted(root, "src/x"));
        known.whole.insert("./".to_owned());
        assert!(known.is_tainted(root, "src/x"));
    }
}
