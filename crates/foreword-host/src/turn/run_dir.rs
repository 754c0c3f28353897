//! The directory of a session's socket during a turn, and cleaning up after hosts that died.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use foreword_workspace::{Tree, read_state};

use crate::error::HostError;
use crate::turn::process_identity;

/// The socket's file name.
pub(crate) const SOCKET: &str = "ipc.sock";
/// The file that names the process the directory belongs to.
const OWNER: &str = "owner";
const MAX_OWNER_BYTES: u64 = 4096;
/// Directories that are looked at.
const MAX_DIRECTORIES: usize = 10_000;

/// A directory for one turn, removed when dropped.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Creates a directory that only its owner can enter.
    pub(crate) fn create(base: &Path, name: &str, owner: &str) -> Result<Self, HostError> {
        private(base)?;
        let path = base.join(format!("{}-{name}", std::process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .and_then(|()| fs::write(path.join(OWNER), owner))
            .map_err(|error| HostError::io(format!("create {}", path.display()), error))?;
        // The sandbox mounts only this inner directory, which holds nothing but the socket.
        let inner = path.join("s");
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&inner)
            .map_err(|error| HostError::io(format!("create {}", inner.display()), error))?;
        Ok(Self { path })
    }

    /// The directory that the sandbox sees.
    pub(crate) fn shared(&self) -> PathBuf {
        self.path.join("s")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.shared().join(SOCKET)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A process that ends may still remove a file of its own at the same time. If it fails again, the next
        // host sweeps it.
        if fs::remove_dir_all(&self.path).is_err() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Creates the base directory. Refuses one that other users could have prepared.
fn private(base: &Path) -> Result<(), HostError> {
    let failed = |error| HostError::io(format!("create {}", base.display()), error);
    match fs::DirBuilder::new().mode(0o700).recursive(true).create(base) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(failed(error));
        }
        _ => {}
    }
    let about = fs::symlink_metadata(base).map_err(failed)?;
    if !about.is_dir()
        || about.uid() != rustix::process::geteuid().as_raw()
        || about.mode() & 0o077 != 0
    {
        let message = "other users can access it; remove it, or set XDG_RUNTIME_DIR";
        return Err(failed(std::io::Error::other(message)));
    }
    Ok(())
}

/// Removes the directories of hosts that died.
pub(crate) fn sweep(base: &Path) {
    let listed = Tree::open(base).and_then(|tree| tree.list("", MAX_DIRECTORIES));
    for entry in listed.ok().flatten().unwrap_or_default() {
        let path = base.join(&entry.name);
        let dead = match read_state(&path.join(OWNER), MAX_OWNER_BYTES) {
            Ok(Some(owner)) if !owner.is_empty() => {
                !process_identity::is_alive(&String::from_utf8_lossy(&owner))
            }
            // A directory exists for a moment before its owner file does, and that before its content.
            Ok(_) | Err(_) => !may_be_alive(&path),
        };
        if dead {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether the process that a directory is named after could still write its owner file.
fn may_be_alive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let process = name.split('-').next().and_then(|pid| pid.parse::<u32>().ok());
    let changed = fs::symlink_metadata(path).and_then(|about| about.modified()).ok();
    let is_new = changed.and_then(|at| at.elapsed().ok()).is_none_or(|age| age.as_secs() <= 60);
    process.is_some_and(process_identity::may_be_alive) && is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_swept_away() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().join("run");
        let living = RunDir::create(&base, "a", &process_identity::this()).unwrap();
        let dead = RunDir::create(&base, "b", "1:0:another-boot").unwrap();
        sweep(&base);
        assert!(living.shared().is_dir());
        assert!(!dead.shared().exists());
        fs::create_dir(base.join(format!("{}-x", u32::MAX))).unwrap();
        fs::create_dir(base.join(format!("{}-y", u32::MAX))).unwrap();
        fs::write(base.join(format!("{}-y", u32::MAX)).join(OWNER), "").unwrap();
        let begun = base.join(format!("{}-x", std::process::id()));
        fs::create_dir(&begun).unwrap();
        sweep(&base);
        assert_eq!(
            fs::read_dir(&base).unwrap().count(),
            2,
            "one was never signed, one signed with nothing"
        );
        assert!(begun.exists(), "one may be signed in a moment");
        let place = living.shared();
        drop(living);
        assert!(!place.exists());
    }

    #[test]
    fn a_base_that_others_can_enter_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let base = tempfile::tempdir().unwrap();
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let error = RunDir::create(base.path(), "a", "x").unwrap_err();
        assert!(error.to_string().contains("other users can access it"), "{error}");
    }
}
