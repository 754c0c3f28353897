//! A directory for one turn that nobody else can look into.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Those there are, for an end that drops nothing.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct PrivateDir {
    path: PathBuf,
}

impl PrivateDir {
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        let path = parent.join(format!("foreword-{}", random_name()?));
        DirBuilder::new().mode(0o700).create(&path)?;
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Ok(Self { path })
    }

    /// Makes a directory in it.
    pub(crate) fn directory(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        DirBuilder::new().mode(0o700).recursive(true).create(&path)?;
        Ok(path)
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: &str, content: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(content.as_bytes())?;
        Ok(path)
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// Removes all there are, before the process ends without dropping anything.
pub(crate) fn remove_all() {
    for path in LIVE.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = fs::remove_dir_all(path);
    }
}

/// A name that cannot be guessed, of hexadecimal digits.
pub(crate) fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
