//! Noting what a turn wrote: with external content in the session, every file that it changed is tainted.
//!
//! A turn without taint that changes a tainted file leaves it tainted: only a person clears it. What a
//! person wrote anew before the turn is clean, and stays so.

use std::collections::BTreeSet;

use foreword_store::{
    Event, MAX_TAINTED_FILES, Outcome, SessionId, StoreError, TaintedFile, TurnNumber,
};
use foreword_workspace::{SnapshotKind, Tree, TreeSnapshot};
use serde_json::json;

use crate::error::HostError;
use crate::governance::before::BeforeTurn;
use crate::host::Host;
use crate::turn::named_files::MAX_FILE_BYTES;

/// Changed files of one turn that are noted by name; of more, their directories are.
const MAX_NOTED: usize = 1000;
/// Files that the audit log names.
const MAX_LOGGED: usize = 20;
/// The whole workspace.
const EVERYTHING: &str = "./";

impl Host {
    /// Notes the files that a turn changed. They must not have been put back yet: a change that is
    /// approved later stays tainted.
    pub(crate) fn note_written_files(
        &self,
        before: &BeforeTurn,
        after: &TreeSnapshot,
        is_tainted: bool,
    ) -> Result<(), HostError> {
        if !self.reader.tainted_files_are_sealed(&self.key)? {
            self.report_unsealed("list of tainted files", std::iter::once(EVERYTHING));
            self.writer.write(self.now(), |write| write.files_check())?;
        }
        let known = self.reader.tainted_files(&self.key)?;
        let mut written = Written::between(before.tree(), after);
        if !is_tainted {
            written = written.among(&known, before.tree());
        }
        let turn = before.turn();
        let (session, number) = (SessionId::parse(&turn.session)?, TurnNumber(turn.turn));
        let now = self.now();
        let note = |path: String, digest, size, changed_at| TaintedFile {
            path,
            digest,
            size,
            changed_at,
            session: session.clone(),
            turn: Some(number),
            at: now,
        };
        let mut noted = Vec::new();
        let is_many = written.files.len() + written.directories.len() > MAX_NOTED
            || known.len() + written.files.len() + written.directories.len() > MAX_TAINTED_FILES;
        if is_many {
            let outermost = written.outermost().into_iter();
            noted.extend(outermost.map(|directory| note(directory, None, 0, 0)));
        } else {
            let tree = Tree::open(&self.root)?;
            for path in written.files {
                let Some(entry) = after.get(path.as_ref()) else { continue };
                // One that is too large is tainted whatever it holds.
                let content = tree.read(&path, MAX_FILE_BYTES).ok().flatten();
                let digest = content.map(|content| *blake3::hash(&content).as_bytes());
                noted.push(note(path, digest, entry.stamp.size, entry.stamp.changed));
            }
            noted.extend(written.directories.into_iter().map(|path| note(path, None, 0, 0)));
        }
        if noted.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> =
            noted.iter().take(MAX_LOGGED).map(|file| file.path.as_str()).collect();
        let event = Event::new("host", "taint.files", session.as_str(), Outcome::Done)
            .with_detail(json!({ "turn": number.0, "count": noted.len(), "files": names }));
        self.writer.write(now, move |write| -> Result<(), StoreError> {
            write.files_taint(&noted)?;
            write.audit(&event).map(drop)
        })?;
        Ok(())
    }
}

/// What a turn wrote.
#[derive(Default)]
struct Written {
    /// Files with content.
    files: Vec<String>,
    /// Directories in which it may have written anything; they end with `/`.
    directories: BTreeSet<String>,
}

impl Written {
    fn between(before: &TreeSnapshot, after: &TreeSnapshot) -> Self {
        let mut written = Self::default();
        for (path, _) in after.changes_since(before) {
            let entry = after.get(path);
            if !entry.is_some_and(|at| at.kind == SnapshotKind::File && at.stamp.size > 0) {
                continue;
            }
            match path.to_str() {
                Some(path) => written.files.push(path.to_owned()),
                // The database keeps texts only.
                None => drop(written.directories.insert(outer(&path.to_string_lossy()))),
            }
        }
        for directory in after.unlisted() {
            let shown = directory.to_string_lossy();
            let is_text = directory.to_str().is_some();
            let named = if is_text { within(&shown) } else { outer(&shown) };
            written.directories.insert(named);
        }
        written
    }

    /// Those that are tainted already, and were before the turn as they were noted.
    fn among(mut self, known: &[TaintedFile], before: &TreeSnapshot) -> Self {
        let is_noted = |path: &str| {
            let noted = known.binary_search_by(|file| file.path.as_str().cmp(path)).ok();
            let noted = noted.and_then(|at| known.get(at));
            noted.zip(before.get(path.as_ref())).is_some_and(|(noted, was)| {
                was.stamp.changed == noted.changed_at || was.stamp.size == noted.size
            })
        };
        self.files.retain(|path| is_noted(path));
        self.directories.clear();
        self
    }

    /// The directories at the root that hold all of it; `./` for a file of the root itself.
    fn outermost(&self) -> BTreeSet<String> {
        let files = self.files.iter().map(|path| match path.split_once('/') {
            Some((first, _)) => format!("{first}/"),
            None => EVERYTHING.to_owned(),
        });
        files.chain(self.directories.iter().cloned()).collect()
    }
}

/// A directory as it is noted.
fn within(directory: &str) -> String {
    if directory.is_empty() { EVERYTHING.to_owned() } else { format!("{directory}/") }
}

/// The directory around a path whose name is not text, as far as that is one.
fn outer(path: &str) -> String {
    let text = path.split(char::REPLACEMENT_CHARACTER).next().unwrap_or_default();
    text.rsplit_once('/').map_or(EVERYTHING.to_owned(), |(outer, _)| within(outer))
}
