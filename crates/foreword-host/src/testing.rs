//! A directory of files, for tests.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

pub(crate) struct Place {
    _directory: TempDir,
    pub(crate) root: PathBuf,
}

impl Place {
    /// A directory of files; a path that ends in a slash is a directory.
    pub(crate) fn new(files: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let place = Self { _directory: directory, root };
        files.iter().for_each(|file| place.write(file, file));
        place
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let at = self.root.join(path);
        if path.ends_with('/') {
            fs::create_dir_all(at).unwrap();
        } else {
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, text).unwrap();
        }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}
