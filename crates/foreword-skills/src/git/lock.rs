//! One writer at a time: a lock on a file that ends with its holder, however the holder ends.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::error::SkillError;

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long to sleep between two attempts, at first and at most.
const NAPS: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(20));

/// Held while the skills change. The operating system lets go of it when its holder is killed.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn acquire(path: &Path) -> Result<Self, SkillError> {
        Self::acquire_within(path, PATIENCE)
    }

    fn acquire_within(path: &Path, patience: Duration) -> Result<Self, SkillError> {
        let io = |source| SkillError::io(path, source);
        // Through the directory: a link in the place of the file leads nowhere outside.
        let directory = path.parent().unwrap_or(Path::new("."));
        let directory = Dir::open_ambient_dir(directory, ambient_authority()).map_err(io)?;
        let mut options = OpenOptions::new();
        options.create(true).read(true).write(true).truncate(false);
        let name = path.file_name().unwrap_or_default();
        let file = directory.open_with(name, &options).map_err(io)?.into_std();
        let start = Instant::now();
        let (mut nap, longest) = NAPS;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(source)) => return Err(io(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if start.elapsed() >= patience {
                let seconds = patience.as_secs();
                return Err(SkillError::Locked { path: path.display().to_string(), seconds });
            }
            std::thread::sleep(nap);
            nap = (nap * 2).min(longest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_waits_for_the_first_and_gives_up_in_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let first = Lock::acquire(&path).unwrap();
        let refused = Lock::acquire_within(&path, Duration::from_millis(20)).unwrap_err();
        assert!(matches!(refused, SkillError::Locked { .. }), "{refused}");
        drop(first);
        Lock::acquire_within(&path, Duration::from_millis(20)).unwrap();
    }
}
