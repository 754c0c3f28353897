//! Walks through the files of a person, and what is deleted on the way.
//!
//! The name of what is deleted is seldom known: it is whatever the walk finds. So a program that walks
//! through a person's files and deletes something unknown is told, whichever way the one leads to the
//! other.

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::is_personal;
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

/// Functions that go through a directory and all below.
const WALKS: [&str; 21] = [
    "walk",
    "rglob",
    "glob",
    "iglob",
    "find",
    "finddepth",
    "File.Find.find",
    "WalkDir",
    "Walk",
    "readdirSync",
    "readdir",
    "globSync",
    "RecursiveDirectoryIterator",
    "scandir",
    "walkSync",
    "glob_recursive",
    "read_dir",
    "ReadDir",
    "walkFileTree",
    "children",
    "listdir",
];
/// Functions that delete one file, or empty it.
const DELETIONS: [&str; 16] = [
    "unlink",
    "unlinkSync",
    "remove",
    "Remove",
    "rmSync",
    "rm",
    "remove_file",
    "rm_f",
    "rmtree",
    "truncate",
    "truncateSync",
    "RemoveAll",
    "delete",
    "rimraf",
    "removeSync",
    "deleteIfExists",
];

impl Machine<'_> {
    /// Remembers a walk through a person's files, and tells of a deletion on one.
    pub(super) fn note_walk(&mut self, last: &str, parts: &Parts<'_>) {
        if WALKS.contains(&last) {
            let places = parts.args.iter().chain(parts.receiver).flat_map(Value::alternatives);
            let place = places.filter_map(Value::as_text).find(|text| is_home(text));
            if let Some(place) = place.map(str::to_owned) {
                self.walked.insert(self.file, place);
            }
        }
        if !DELETIONS.contains(&last) {
            return;
        }
        let target = parts.args.first().or(parts.receiver);
        self.note_deletion(target.unwrap_or(&Value::NOTHING), parts.line);
    }

    /// Tells of a file with an unknown name that random bytes replace.
    pub(super) fn note_overwriting(&mut self, target: &Value, content: &Value, line: u32) {
        let random = content.path.as_deref() == Some(RANDOM_BYTES);
        if random && target.constant().is_none() {
            self.add(Act::Delete, "find (overwritten with random bytes)", Marks::default(), line);
        }
    }

    /// Tells of the deletion of something that a walk may have found.
    pub(in crate::screen::code) fn note_deletion(&mut self, target: &Value, line: u32) {
        // A name that is known, or that starts with one, is no find.
        let known = target.as_text().is_some_and(|t| !t.starts_with(HOLE));
        let found = |v: &Value| {
            v.all_marks().iter().any(|m| m.origin == Origin::Files && is_home(&m.detail))
        };
        let below = target
            .alternatives()
            .filter_map(Value::as_text)
            .any(|text| text.contains(HOLE) && text.strip_suffix(HOLE).is_some_and(is_home));
        let walked = self.walked.get(&self.file).filter(|_| !known).cloned();
        if below || found(target) {
            self.add(Act::Delete, "find ~ (files of the user)", Marks::default(), line);
        } else if let Some(place) = walked {
            self.add(Act::Delete, &format!("find {place}"), Marks::default(), line);
        }
    }
}

/// As many random bytes as something is long. A key or a salt has a known length.
pub(super) const RANDOM_BYTES: &str = "random-bytes";

/// Whether a path is a person's home or one of the directories for documents in it.
fn is_home(path: &str) -> bool {
    let path = path.trim_end_matches(['/', '*', HOLE]);
    is_personal(path) && !path.contains("Downloads")
}
