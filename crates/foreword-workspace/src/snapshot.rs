//! Which paths were read and what was there, so that a cached result can be checked cheaply.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::config::CONFIG_FILE;
use crate::found_file::FileStamp;
use crate::governed::contents::Digest;

/// A file that changed this shortly before it was read may change again without a new stamp: file
/// systems count time in ticks.
const TICK: Duration = Duration::from_millis(25);

/// Every path that was read, with the stamp of what was there.
#[derive(Debug, Default)]
pub(crate) struct SeenPaths {
    paths: Mutex<Vec<(PathBuf, Option<FileStamp>)>>,
    used: Mutex<BTreeSet<UsedFile>>,
}

/// A file of the workspace that was read, and the bytes it had then.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsedFile {
    /// Its path in the workspace, links resolved.
    pub path: String,
    /// The blake3 digest of the bytes that were read.
    pub digest: Digest,
    /// The text of `foreword.toml`, which is compared by what it says.
    pub text: Option<String>,
}

impl SeenPaths {
    pub(crate) fn note(&self, path: PathBuf, found: Option<FileStamp>) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).push((path, found));
    }

    /// Notes the bytes of a file that reached somebody.
    pub(crate) fn used(&self, path: &str, bytes: &[u8]) {
        let text = (path == CONFIG_FILE)
            .then(|| String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned());
        let used = UsedFile { path: path.to_owned(), digest: blake3::hash(bytes).into(), text };
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(used);
    }

    pub(crate) fn used_files(&self) -> BTreeSet<UsedFile> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn paths(&self) -> Vec<(PathBuf, Option<FileStamp>)> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The stamps of all files at the time a workspace was read.
#[derive(Debug, Clone)]
pub struct Snapshot {
    paths: Vec<(PathBuf, Option<FileStamp>)>,
    /// Would every change from now on show in a stamp?
    settled: bool,
}

impl Snapshot {
    pub(crate) fn of(seen: &SeenPaths) -> Self {
        let mut snapshot = Self { paths: seen.paths(), settled: true };
        snapshot.settle();
        snapshot
    }

    /// Adds a path that was read by other means.
    pub fn and(&mut self, path: PathBuf) {
        let stamp = stamp(&path);
        self.paths.push((path, stamp));
        self.settle();
    }

    fn settle(&mut self) {
        self.paths.sort();
        self.paths.dedup();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let horizon = i64::try_from(now.saturating_sub(TICK).as_nanos()).unwrap_or(i64::MAX);
        let stamps = self.paths.iter().filter_map(|(_, stamp)| stamp.as_ref());
        self.settled = stamps.map(|stamp| stamp.changed.max(stamp.modified)).all(|at| at < horizon);
    }

    /// Is everything unchanged? Costs one `stat` per path and opens no file.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.settled && self.paths.iter().all(|(path, found)| stamp(path) == *found)
    }
}

/// Follows links: a link to another file gives another stamp.
fn stamp(path: &PathBuf) -> Option<FileStamp> {
    fs::metadata(path).ok().map(|meta| FileStamp::of(&meta))
}

#[cfg(test)]
mod tests {
    use crate::testing::Scratch;
    use std::time::Duration;

    #[test]
    fn a_snapshot_holds_until_something_that_was_looked_at_changes() {
        let scratch = Scratch::new(&[("SOUL.md", "a"), ("skills/one.md", "# One"), ("other", "x")]);
        std::thread::sleep(Duration::from_millis(60));
        let look = || {
            let workspace = scratch.open();
            let _ = (workspace.file("SOUL.md"), workspace.file("USER.md"), workspace.skills());
            workspace.snapshot()
        };
        let snapshot = look();
        assert!(snapshot.holds());
        std::fs::write(scratch.path().join("other"), "y").unwrap();
        assert!(snapshot.holds(), "that file was not read");
        for (path, text) in [("SOUL.md", "b"), ("USER.md", "new"), ("skills/two.md", "# Two")] {
            std::thread::sleep(Duration::from_millis(60));
            let snapshot = look();
            assert!(snapshot.holds(), "{path}");
            std::fs::write(scratch.path().join(path), text).unwrap();
            assert!(!snapshot.holds(), "{path}");
        }
        assert!(!look().holds(), "a file that changed just now may change again unseen");
    }
}
