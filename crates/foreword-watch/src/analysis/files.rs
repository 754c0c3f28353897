//! The files that text may come from: those of the project, and the person's own instructions.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use foreword_workspace::{Tree, TreeEntryKind};
use serde_json::Value;

/// Files that are read.
const MAX_FILES: usize = 4_000;
/// Bytes of one file.
const MAX_FILE_BYTES: u64 = 512 << 10;
/// Bytes of all files.
const MAX_BYTES: usize = 24 << 20;
/// Names in one directory.
const MAX_ENTRIES: usize = 5_000;
const MAX_DEPTH: usize = 12;
/// Places that are kept for a line or a word. What is in more places tells nothing.
const MAX_PLACES: usize = 48;

/// Directories that hold what other programs wrote.
const SKIPPED: [&str; 16] = [
    ".git",
    ".hg",
    ".svn",
    ".foreword",
    "node_modules",
    "target",
    "dist",
    "build",
    ".venv",
    "venv",
    "__pycache__",
    ".next",
    ".cache",
    ".mypy_cache",
    ".pytest_cache",
    "coverage",
];

/// Files of the person, below their home directory, that agents read as instructions.
const PERSONAL_FILES: [&str; 7] = [
    ".claude/CLAUDE.md",
    ".codex/AGENTS.md",
    ".codex/instructions.md",
    ".config/opencode/AGENTS.md",
    ".gemini/GEMINI.md",
    ".pi/agent/AGENTS.md",
    ".pi/agent/SYSTEM.md",
];
const PERSONAL_FOLDERS: [&str; 5] =
    [".claude/agents", ".claude/commands", ".claude/rules", ".claude/skills", ".codex/prompts"];

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) file: u32,
    /// From 0.
    pub(super) line: u32,
}

/// Files with an index of their lines and words.
#[derive(Debug, Default)]
pub struct ProjectFiles {
    pub(super) files: Vec<ProjectFile>,
    pub(super) lines: HashMap<u64, Vec<Place>>,
    pub(super) words: HashMap<u64, Vec<Place>>,
    bytes: usize,
    is_complete: bool,
}

#[derive(Debug)]
pub(super) struct ProjectFile {
    pub(super) path: String,
    pub(super) lines: Vec<String>,
    /// Later than the start of a capture if it was changed since.
    modified: i64,
}

impl ProjectFiles {
    /// Reads the files of a directory, and the person's own instructions. What cannot be read is left out.
    /// `None` if there is no such directory.
    #[must_use]
    pub fn read(directory: &Path, home: Option<&Path>) -> Option<Self> {
        let tree = Tree::open(directory).ok()?;
        let mut all = Self { is_complete: true, ..Self::default() };
        all.walk(&tree, "", PathBuf::new());
        let home = home.filter(|home| *home != directory);
        if let Some(tree) = home.and_then(|home| Tree::open(home).ok()) {
            for path in PERSONAL_FILES {
                all.read_file(&tree, "~/", Path::new(path));
            }
            for path in PERSONAL_FOLDERS {
                if matches!(tree.stat(path), Ok(Some((TreeEntryKind::Directory, _)))) {
                    all.walk(&tree, "~/", PathBuf::from(path));
                }
            }
        }
        Some(all)
    }

    /// Whether no limit was reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Breadth first, so that the files nearest to the top are read if not all are.
    fn walk(&mut self, tree: &Tree, prefix: &str, from: PathBuf) {
        let mut level = vec![from];
        for _ in 0..MAX_DEPTH {
            let mut below = Vec::new();
            for directory in std::mem::take(&mut level) {
                let Ok(Some(entries)) = tree.list(&directory, MAX_ENTRIES) else {
                    self.is_complete = false;
                    continue;
                };
                for entry in entries.into_iter().filter(|entry| entry.is_unicode) {
                    let path = directory.join(&entry.name);
                    match entry.kind {
                        TreeEntryKind::Directory if SKIPPED.contains(&entry.name.as_str()) => {}
                        TreeEntryKind::Directory => below.push(path),
                        TreeEntryKind::File => self.read_file(tree, prefix, &path),
                        TreeEntryKind::Link | TreeEntryKind::Special => {}
                    }
                }
            }
            if below.is_empty() {
                return;
            }
            level = below;
        }
        self.is_complete = false;
    }

    fn read_file(&mut self, tree: &Tree, prefix: &str, path: &Path) {
        if self.files.len() >= MAX_FILES || self.bytes >= MAX_BYTES {
            self.is_complete = false;
            return;
        }
        // Binary files and those that are too long are no prompts.
        let Ok(Some(text)) = tree.read_text(path, MAX_FILE_BYTES) else { return };
        if is_our_output(&text) || is_request_body(&text) {
            return;
        }
        let modified = tree
            .stat(path)
            .ok()
            .flatten()
            .map_or(0, |(_, stamp)| stamp.modified.div_euclid(1_000_000_000));
        self.add_at(&format!("{prefix}{}", path.display()), &text, modified);
    }

    /// Adds a file.
    pub fn add(&mut self, path: &str, text: &str) {
        self.add_at(path, text, 0);
    }

    fn add_at(&mut self, path: &str, text: &str, modified: i64) {
        let Ok(file) = u32::try_from(self.files.len()) else { return };
        self.bytes += text.len();
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        for (at, line) in lines.iter().enumerate() {
            let Ok(at) = u32::try_from(at) else { break };
            let place = Place { file, line: at };
            if line.is_empty() {
                continue;
            }
            push(&mut self.lines, hash(line), place);
            for word in words(line) {
                push(&mut self.words, word, place);
            }
        }
        self.files.push(ProjectFile { path: path.to_owned(), lines, modified });
    }

    /// The files among these that were changed after a time.
    pub(super) fn changed_since(&self, seconds: i64, paths: &BTreeMap<String, u64>) -> Vec<String> {
        let changed = self.files.iter().filter(|file| file.modified > seconds);
        changed
            .filter(|file| paths.contains_key(&file.path))
            .map(|file| file.path.clone())
            .collect()
    }
}

/// Whether Foreword wrote a file: a page, or the JSON of a prompt or of a report. It repeats the texts of
/// other files, so it would be named as their source.
fn is_our_output(text: &str) -> bool {
    foreword_page::is_page(text) || is_our_json(text)
}

fn is_our_json(text: &str) -> bool {
    if !text.starts_with('{') || !text.contains("\"schemaVersion\"") {
        return false;
    }
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return false };
    let has = |keys: [&str; 3]| keys.iter().all(|key| object.contains_key(*key));
    has(["schemaVersion", "stablePrefixBytes", "sections"])
        || has(["schemaVersion", "conversations", "sources"])
}

/// Whether a file is the body of a request to a model, which programs log. It repeats the texts of other
/// files as well.
fn is_request_body(text: &str) -> bool {
    let keys = ["\"messages\"", "\"contents\"", "\"input\""];
    let text = text.trim_start();
    if !text.starts_with('{') || !keys.iter().any(|key| text.contains(key)) {
        return false;
    }
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return false };
    let first_has = |list: &str, key: &str| {
        let list = object.get(list).and_then(Value::as_array);
        list.is_some_and(|list| list.first().is_some_and(|first| first.get(key).is_some()))
    };
    first_has("messages", "role")
        || first_has("contents", "parts")
        || (object.contains_key("input") && object.contains_key("model"))
}

fn push(index: &mut HashMap<u64, Vec<Place>>, key: u64, place: Place) {
    let places = index.entry(key).or_default();
    if places.len() < MAX_PLACES && places.last() != Some(&place) {
        places.push(place);
    }
}

/// A short digest, the same in every run.
pub(crate) fn hash(text: &str) -> u64 {
    // FNV-1a: short texts, no adversary that gains anything from a collision.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The words of a line, without numbers and without the letters of escapes such as `\n`.
pub(super) fn words(line: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut after_backslash = false;
    for c in line.chars().chain([' ']) {
        if c.is_alphanumeric() && !std::mem::take(&mut after_backslash) {
            word.extend(c.to_lowercase());
            continue;
        }
        after_backslash = c == '\\';
        let is_word = word.chars().count() >= 2 && !word.chars().any(|c| c.is_ascii_digit());
        if is_word {
            found.push(hash(&word));
        }
        word.clear();
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logged_request_is_not_the_source_of_what_it_repeats() {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in [
            (
                "chat.json",
                r#"{"model": "m", "messages": [{"role": "system", "content": "Rules."}]}"#,
            ),
            ("logs/responses.json", r#" {"model": "m", "input": "Hi", "instructions": "Rules."}"#),
            ("gemini.json", r#"{"contents": [{"parts": [{"text": "Rules."}]}]}"#),
            ("rules.md", "Rules.\n"),
            ("lang.json", r#"{"messages": {"hello": "Rules."}, "input": "x"}"#),
            ("cut.json", r#"{"model": "m", "messages": [{"role""#),
        ] {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = ProjectFiles::read(directory.path(), None).unwrap();
        let mut read: Vec<&str> = files.files.iter().map(|file| file.path.as_str()).collect();
        read.sort_unstable();
        assert_eq!(read, ["cut.json", "lang.json", "rules.md"]);
    }
}
