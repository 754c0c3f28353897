//! A scratch workspace for tests.

use std::fs;
use std::path::Path;
use tempfile::TempDir;

use crate::Workspace;

pub(crate) struct Scratch(TempDir);

impl Scratch {
    /// A workspace of the given files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn open(&self) -> Workspace {
        Workspace::open(self.path()).unwrap()
    }
}
