//! What the tests of the store share: a workspace in a scratch directory, and git as a witness.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use std::path::{Path, PathBuf};
use std::process::Command;

use foreword_skills::{
    Act, GitStore, GitStoreOptions, ProposalRequest, ProposalResult, Screeners, SkillError,
    SkillStore,
};
use foreword_store::{AuditKey, Heads, Reader, Verification};
use foreword_workspace::Workspace;
use tempfile::TempDir;

pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(scratch.root()).unwrap();
        scratch
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("ws")
    }

    pub(crate) fn config_dir(&self) -> PathBuf {
        self.0.path().join("config")
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Lets the person's own settings allow a root outside the workspace.
    pub(crate) fn allow_root(&self, path: &str) {
        let root = self.outside(path);
        self.write("config/settings.toml", &format!("[skills]\nroots = [{root:?}]\n"));
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.0.path().join(path).exists()
    }

    pub(crate) fn store(&self) -> GitStore {
        open(&self.root(), &self.config_dir())
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    /// The commits, oldest first, each as its subject.
    pub(crate) fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--reverse", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    pub(crate) fn verify(&self) -> Verification {
        let reader = Reader::open(&self.root().join(".foreword/foreword.db")).unwrap();
        let key = AuditKey::load(&self.config_dir()).unwrap();
        let anchors = self.store().anchors().unwrap();
        reader.verify(&key, &Heads::new(&self.config_dir()), &anchors).unwrap()
    }

    /// The audit log, oldest first: action, subject, outcome.
    pub(crate) fn audit(&self) -> Vec<String> {
        let reader = Reader::open(&self.root().join(".foreword/foreword.db")).unwrap();
        let mut entries = reader.entries(&foreword_store::LogFilter::default()).unwrap();
        entries.reverse();
        entries.iter().map(|e| format!("{} {} {}", e.action, e.subject, e.outcome)).collect()
    }

    pub(crate) fn check_consistent(&self) {
        assert_eq!(self.git(&["fsck", "--strict", "--no-dangling"]), "");
        let verification = self.verify();
        assert!(verification.is_clean(), "{verification:?}");
    }
}

pub(crate) fn open(root: &Path, config_dir: &Path) -> GitStore {
    GitStore::new(
        Workspace::open_for(root, Some(config_dir)).unwrap(),
        GitStoreOptions { config_dir: config_dir.to_owned(), screeners: Screeners::default() },
    )
}

pub(crate) fn git(root: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .arg("--git-dir")
        .arg(root.join(".foreword/skills.git"))
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

pub(crate) fn ada() -> Act {
    Act { at: 1_772_000_000_000, by: "user:ada".into() }
}

pub(crate) fn agent() -> Act {
    Act { at: 1_772_000_001_000, by: "agent:cosmo".into() }
}

pub(crate) fn request(name: &str, content: &str) -> ProposalRequest {
    ProposalRequest {
        name: Some(name.to_owned()),
        content: content.to_owned(),
        reason: Some("asked for".to_owned()),
        ..ProposalRequest::default()
    }
}

pub(crate) fn propose(
    store: &mut GitStore,
    name: &str,
    content: &str,
) -> Result<ProposalResult, SkillError> {
    store.propose(request(name, content), &agent())
}

/// A text that needs review under the policy for agents.
pub(crate) const CAPABLE: &str =
    "# Env\n\nReads the setting.\n\n```js\nconst home = process.env.HOME;\n```\n";
/// A text that is refused.
pub(crate) const EVIL: &str = "# Run\n\nRuns code.\n\n```js\neval(input)\n```\n";
/// A text that nobody has to look at.
pub(crate) const PLAIN: &str = "# Deploy\n\n1. Run the tests.\n2. Build.\n";
