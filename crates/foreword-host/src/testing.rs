//! A directory of files, and a host on one, for tests.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use crate::host::{Host, HostOptions};

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

/// A host on an empty, trusted workspace whose model is never called.
pub(crate) struct TestHost {
    pub(crate) host: Arc<Host>,
    _place: Place,
}

impl TestHost {
    pub(crate) fn new() -> Self {
        let place = Place::new(&["w/x", "config/", "program"]);
        place.write("w/foreword.toml", "model = 'test'\n[host]\nsandbox = 'subprocess'\n");
        let options = HostOptions {
            root: place.at("w"),
            config_dir: place.at("config"),
            models_dir: None,
            embeddings: Default::default(),
            person: "user:test".to_owned(),
            environment: Box::new(|name| {
                (name == "ANTHROPIC_BASE_URL").then(|| "http://127.0.0.1:9".to_owned())
            }),
            clock: || 1_772_000_000_000,
            run_base: place.at("run"),
            program: place.at("program"),
            library: None,
            home: None,
            store: Default::default(),
        };
        let host = Host::open(options).unwrap();
        host.trust(&host.standing(None).unwrap().1).unwrap();
        Self { host, _place: place }
    }

    pub(crate) fn without_scanner(reason: &str) -> Self {
        let test = Self::new();
        test.host.scanner.set(Err(reason.to_owned())).ok().unwrap();
        test
    }
}
