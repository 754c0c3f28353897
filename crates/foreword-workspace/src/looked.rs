//! What was looked at while a workspace was read, so that whoever keeps the result can ask cheaply
//! whether it still holds.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::found_file::FileStamp;

/// A file that changed this shortly before it was read may change again without a new stamp: file
/// systems count time in ticks.
const TICK: Duration = Duration::from_millis(25);

/// Every path that was looked at, with what was there.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    paths: Mutex<Vec<(PathBuf, Option<FileStamp>)>>,
}

impl Looked {
    pub(crate) fn note(&self, path: PathBuf, found: Option<FileStamp>) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).push((path, found));
    }

    fn paths(&self) -> Vec<(PathBuf, Option<FileStamp>)> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What lay where when a workspace was read.
#[derive(Debug, Clone)]
pub struct Snapshot {
    paths: Vec<(PathBuf, Option<FileStamp>)>,
    /// Whether every change from then on would show.
    settled: bool,
}

impl Snapshot {
    pub(crate) fn of(looked: &Looked) -> Self {
        let mut snapshot = Self { paths: looked.paths(), settled: true };
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

    /// Whether everything is as it was. Costs one look at each path, and opens none.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.settled && self.paths.iter().all(|(path, found)| stamp(path) == *found)
    }
}

/// Links are followed: a link that leads elsewhere gives another file.
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
        assert!(snapshot.holds(), "nobody looked at that");
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
