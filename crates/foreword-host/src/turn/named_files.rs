//! Which files of the workspace a tool call names, and lines as tools show them.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use foreword_workspace::{Tree, TreeEntryKind};
use serde_json::Value;

/// The largest file whose content is compared.
pub(crate) const MAX_FILE_BYTES: u64 = 8 << 20;
/// Words of a call, and file names in a result, that are looked up.
pub(crate) const MAX_NAMES: usize = 256;

/// A path of the agent's as one relative to the workspace.
pub(crate) fn relative(root: &Path, cwd: &Path, word: &str) -> Option<String> {
    let path = cwd.join(word);
    let mut names: Vec<&str> = Vec::new();
    for part in path.strip_prefix(root).ok()?.components() {
        match part {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir => drop(names.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names.join("/")).filter(|path| !path.is_empty())
}

/// Every string in the arguments of a call, whole and in the words of a command.
pub(crate) fn words_of(input: &Value, words: &mut BTreeSet<String>) {
    if words.len() >= MAX_NAMES {
        return;
    }
    match input {
        Value::String(text) => {
            if text.len() <= 4096 {
                words.insert(text.clone());
            }
            let is_separator = |c: char| c.is_whitespace() || "'\"`;|&<>()=,{}:".contains(c);
            let parts = text.split(is_separator).filter(|word| !word.is_empty());
            words.extend(parts.take(MAX_NAMES).map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| words_of(item, words)),
        Value::Object(fields) => fields.values().for_each(|field| words_of(field, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The file that a line of a search quotes: `notes.md:3: text`.
pub(crate) fn quoted_file(line: &str) -> Option<&str> {
    let (path, rest) = line.split_once(':')?;
    let is_numbered = rest.split_once(':').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    (is_numbered && !path.is_empty() && path.len() <= 4096).then_some(path)
}

/// A line without the number that tools put in front of it.
pub(crate) fn unnumbered(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return line;
    }
    rest.strip_prefix(['\t', '→', ':', '|']).map_or(line, str::trim)
}

/// The content of a regular file of a fitting size; whatever else is there has none.
pub(crate) fn read(root: &Path, path: &str, fits: impl Fn(u64) -> bool) -> Option<Vec<u8>> {
    let tree = Tree::open(root).ok()?;
    let (kind, stamp) = tree.stat(path).ok()??;
    if kind != TreeEntryKind::File || !fits(stamp.size) {
        return None;
    }
    tree.read(path, MAX_FILE_BYTES).ok()?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_and_results_name_files() {
        for (word, path) in [
            ("a.rs", Some("src/a.rs")),
            ("./../notes.md", Some("notes.md")),
            ("/w/notes.md", Some("notes.md")),
            ("../../etc/passwd", None),
            ("/etc/passwd", None),
            ("..", None),
        ] {
            assert_eq!(
                relative(Path::new("/w"), Path::new("/w/src"), word).as_deref(),
                path,
                "{word}"
            );
        }
        let mut words = BTreeSet::new();
        words_of(&json!({"command": "cat 'my notes.md' <../x.md|head"}), &mut words);
        assert!(words.contains("../x.md") && words.contains("notes.md"), "{words:?}");
        assert_eq!(quoted_file("src/a.rs:12: let x"), Some("src/a.rs"));
        assert_eq!(quoted_file("12:30: noon"), Some("12"));
        assert_eq!(quoted_file("note: this is fine"), None);
    }
}
