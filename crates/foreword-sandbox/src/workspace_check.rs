//! Which directories must not be a workspace: those of the system, and those with secrets of the person.

use std::path::Path;

use foreword_workspace::PRIVATE_DIR;

use crate::error::SandboxError;

/// Directories that hold what belongs to many: too wide, though not what lies in them.
const WIDE: [&str; 10] = [
    "/Users",
    "/Volumes",
    "/home",
    "/private",
    "/private/tmp",
    "/private/var",
    "/root",
    "/run",
    "/tmp",
    "/var",
];
/// Directories of the system, with everything in them.
const SYSTEM: [&str; 16] = [
    "/Applications",
    "/Library",
    "/System",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/private/etc",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
];

/// Whether a directory, with all links resolved, can be a workspace of a person with this home. Ask
/// before anything is written there.
///
/// Refuses a system directory or anything inside one, the home directory or a parent of it, and the
/// private directory of another workspace.
pub fn check_workspace(root: &Path, home: Option<&Path>) -> Result<(), SandboxError> {
    let refuse = |reason| Err(SandboxError::NoWorkspace { path: root.to_path_buf(), reason });
    if root.parent().is_none() {
        return refuse("it is the root of the file system");
    }
    if root.components().any(|part| part.as_os_str() == PRIVATE_DIR) {
        return refuse("it is the private directory of another workspace");
    }
    if home.is_some_and(|home| home.starts_with(root)) {
        return refuse("it is your home directory or contains it");
    }
    let system = |path: &Path| SYSTEM.iter().any(|tree| path.starts_with(tree));
    // Some systems have homes in a directory of theirs.
    let at_home = home.is_some_and(|home| home.components().count() > 2 && root.starts_with(home));
    if WIDE.iter().any(|wide| root == Path::new(wide)) || system(root) && !at_home {
        return refuse("it is a system directory");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_the_system_are_no_workspaces() {
        let home = Some(Path::new("/home/ada"));
        let bad = [
            "/",
            "/etc",
            "/etc/cron.d",
            "/usr/share",
            "/dev/shm",
            "/dev/shm/x",
            "/proc/self",
            "/sys",
            "/boot/x",
            "/bin",
            "/lib64",
            "/home",
            "/home/ada",
            "/root",
            "/tmp",
            "/var",
            "/run",
            "/home/ada/x/.foreword",
            "/home/ada/x/.foreword/quarantine",
        ];
        for path in bad {
            assert!(check_workspace(Path::new(path), home).is_err(), "{path}");
        }
        let good =
            ["/home/ada/x", "/root/x", "/tmp/x", "/var/www/x", "/srv/x", "/etcetera", "/work"];
        for path in good {
            assert!(check_workspace(Path::new(path), home).is_ok(), "{path}");
        }
        assert!(
            check_workspace(Path::new("/usr/home/ada/x"), Some(Path::new("/usr/home/ada"))).is_ok()
        );
        assert!(check_workspace(Path::new("/usr/x"), Some(Path::new("/"))).is_err());
    }
}
