//! A workspace on disk and a spec for it, for tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::limits::Limits;
use crate::spec::SandboxSpec;

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

    /// A spec for the workspace `w`, with what is governed in it.
    pub(crate) fn spec(&self, governed: &[&str]) -> SandboxSpec {
        for needed in ["w/.foreword/", "run/", "bin/agent", "home/.config/foreword/"] {
            self.write(needed, "");
        }
        SandboxSpec {
            workspace: self.at("w"),
            cwd: self.at("w"),
            writable: true,
            governed: governed.iter().map(|path| self.at("w").join(path)).collect(),
            private: vec![self.at("w/.foreword"), self.at("home/.config/foreword")],
            home: Some(self.at("home")),
            program: self.at("bin/agent"),
            args: vec!["agent".into(), "--flag=a b".into()],
            read_only: Vec::new(),
            run_dir: self.at("run"),
            bridge_ports: None,
            limits: Limits::default(),
            env: BTreeMap::from([("LANG".into(), "C.UTF-8".into())]),
        }
    }

    /// A path or argument as it is shown in a test, without the part that differs each time.
    pub(crate) fn shown(&self, text: impl AsRef<std::ffi::OsStr>) -> String {
        let text = text.as_ref().to_string_lossy().into_owned();
        text.replace(&self.root.display().to_string(), "")
    }

    /// The arguments of a command, one on a line with its values; what is the system's is left out.
    pub(crate) fn lines(&self, command: &std::process::Command) -> String {
        let mut lines = vec![self.shown(command.get_program())];
        for arg in command.get_args() {
            let arg = self.shown(arg);
            match lines.last_mut() {
                Some(line) if !arg.starts_with("--") && line.starts_with("--") => {
                    line.push(' ');
                    line.push_str(&format!("{arg:?}"));
                }
                _ => lines.push(arg),
            }
        }
        lines.retain(|line| !is_system(line));
        lines.join("\n")
    }
}

fn is_system(line: &str) -> bool {
    let system = ["/usr", "/etc", "/lib", "/bin\"", "/sbin", "/nix", "/bin:"];
    let mounts = ["--ro-bind", "--symlink", "--bindmount_ro"];
    mounts.iter().any(|mount| line.starts_with(mount))
        && !line.contains("agent")
        && system
            .iter()
            .any(|path| line.contains(&format!("\"{path}")) || line.contains(&format!(":{path}")))
}

#[test]
fn a_place_is_a_workspace() {
    let place = Place::new(&["w/SOUL.md"]);
    assert!(place.spec(&["SOUL.md"]).check().is_ok());
    assert_eq!(place.shown(Path::new(&place.at("x"))), "/x");
}
