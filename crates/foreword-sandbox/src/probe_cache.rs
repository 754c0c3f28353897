//! Caches that a sandbox works, so that it is not probed at every start.
//!
//! An entry is valid for one program, one kernel with its settings, and one user. Settings that cannot
//! be read, such as those of a system without `/proc`, count as empty. A failure is never cached. A file
//! of another version, or without one, is probed again and rewritten.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use foreword::SandboxKind;

/// The version of the file's format.
const VERSION: u32 = 1;
/// A longer file is not an entry.
const MAX_BYTES: u64 = 200;

/// Settings that decide whether user namespaces can be created.
const SETTINGS: [&str; 4] = [
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
];

/// The entry of one sandbox: a small file in the configuration directory of the user.
pub(crate) struct ProbeCache {
    file: PathBuf,
    text: String,
}

impl ProbeCache {
    /// The entry for a program; `None` if there is no such program.
    pub(crate) fn of(directory: &Path, kind: SandboxKind, program: &Path) -> Option<Self> {
        let meta = fs::metadata(program).ok()?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(program.as_os_str().as_encoded_bytes());
        let numbers = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(&meta.len().to_le_bytes());
        hasher.update(&rustix::process::geteuid().as_raw().to_le_bytes());
        for setting in SETTINGS {
            hasher.update(&fs::read(setting).unwrap_or_default()).update(b"\0");
        }
        let text = format!("version = {VERSION}\nkey = \"{}\"\n", hasher.finalize().to_hex());
        Some(Self { file: directory.join(format!("sandbox-{kind}-works")), text })
    }

    pub(crate) fn holds(&self) -> bool {
        let small = fs::metadata(&self.file).is_ok_and(|meta| meta.len() <= MAX_BYTES);
        small && fs::read_to_string(&self.file).is_ok_and(|text| text == self.text)
    }

    /// Writes the entry. If that fails, the next start probes again.
    pub(crate) fn keep(&self) {
        if let Some(directory) = self.file.parent() {
            let _ = fs::create_dir_all(directory);
        }
        let _ = fs::write(&self.file, &self.text);
    }
}
