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

    /// Opens the workspace `ws` for a person whose settings allow some directories of this one.
    pub(crate) fn open_allowing(&self, roots: &[&str]) -> Workspace {
        let roots: Vec<_> = roots.iter().map(|root| self.path().join(root)).collect();
        self.write("config/settings.toml", format!("[skills]\nroots = {roots:?}\n"));
        Workspace::open_for(&self.path().join("ws"), Some(&self.path().join("config"))).unwrap()
    }
}
