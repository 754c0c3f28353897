//! A workspace, a home and a host to run sandboxes against.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use foreword_sandbox::{Bwrap, Launcher, Limits, Sandbox, SandboxSpec};
use foreword_workspace::{Workspace, run_by_host};
use tempfile::TempDir;

/// A program for perl that says hello on the socket it is given.
pub(crate) const CONNECT: &str = "socket(S, AF_UNIX, SOCK_STREAM, 0); \
    connect(S, sockaddr_un($ARGV[0])) or die $!; syswrite(S, 'hello')";

/// A workspace with something of every kind, beside a home with secrets.
pub(crate) struct Scene {
    pub(crate) directory: Option<TempDir>,
    pub(crate) workspace: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) run_dir: PathBuf,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::at(&std::env::temp_dir())
    }

    pub(crate) fn at(base: &Path) -> Self {
        let directory = tempfile::Builder::new().prefix("fw sandbox").tempdir_in(base).unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let (home, run_dir) = (root.join("home"), root.join("run"));
        let workspace = home.join("my work");
        let scene = Self { directory: Some(directory), workspace, home, run_dir };
        for (path, text) in [
            ("foreword.toml", "blueprint = 'plans/mine.toml'\n"),
            ("plans/mine.toml", "name = 'mine'\nextends = 'standard'\n"),
            ("tools.toml", "# tools\n"),
            ("SOUL.md", "soul\n"),
            ("AGENTS.md", "agents\n"),
            ("skills/deploy/SKILL.md", "skill\n"),
            ("prompts/base.md", "base\n"),
            ("agents/cosmo/AGENT.md", "You are Cosmo.\n"),
            ("sub/AGENTS.md", "nested\n"),
            ("sub/code.txt", "code\n"),
            ("src/main.txt", "main\n"),
            ("notes.txt", "notes\n"),
            (".git/config", "[core]\n"),
            (".git/hooks/pre-commit", "#!/bin/sh\n"),
            (".foreword/foreword.db", "DATABASE"),
        ] {
            scene.write(path, text);
        }
        fs::create_dir_all(scene.home.join(".ssh")).unwrap();
        fs::write(scene.home.join(".ssh/id_ed25519"), "PRIVATE KEY").unwrap();
        fs::create_dir_all(scene.home.join(".config/foreword")).unwrap();
        fs::write(scene.home.join(".config/foreword/audit.key"), "AUDIT KEY").unwrap();
        fs::create_dir_all(&scene.run_dir).unwrap();
        fs::write(scene.run_dir.join("session.txt"), "session").unwrap();
        scene
    }

    /// The scene of another process, which owns it.
    pub(crate) fn again(workspace: &Path) -> Self {
        let home = workspace.parent().unwrap().to_path_buf();
        let run_dir = home.parent().unwrap().join("run");
        Self { directory: None, workspace: workspace.to_path_buf(), home, run_dir }
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.workspace.join(path)).unwrap()
    }

    pub(crate) fn open(&self) -> Workspace {
        Workspace::open(&self.workspace).unwrap()
    }

    /// A shell that runs a script with everything protected that has to be.
    pub(crate) fn shell(&self, script: &str) -> SandboxSpec {
        let governed = self.open().governed_at(Some(Path::new("sub"))).unwrap();
        let mut read_only = governed.read_only();
        read_only.extend(run_by_host(&self.workspace));
        SandboxSpec {
            workspace: self.workspace.clone(),
            cwd: self.workspace.clone(),
            writable: true,
            governed: read_only,
            private: vec![governed.private(), self.home.join(".config/foreword")],
            home: Some(self.home.clone()),
            program: fs::canonicalize("/bin/bash").unwrap(),
            args: vec!["-c".into(), script.into()],
            read_only: Vec::new(),
            run_dir: self.run_dir.clone(),
            bridge_ports: None,
            limits: Limits::default(),
            env: BTreeMap::from([("GIVEN".into(), "by the host".into())]),
        }
    }

    /// Runs a script; gives what it wrote.
    pub(crate) fn run(&self, sandbox: &dyn Sandbox, script: &str) -> Output {
        run(sandbox, &self.shell(script))
    }

    /// Runs a script and gives its standard output, which has to be text.
    pub(crate) fn says(&self, sandbox: &dyn Sandbox, script: &str) -> String {
        let output = self.run(sandbox, script);
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) fn run(sandbox: &dyn Sandbox, spec: &SandboxSpec) -> Output {
    let mut command = sandbox.command(spec).unwrap();
    command.stdin(Stdio::null()).output().unwrap()
}

/// Bubblewrap; skips the test without one that works.
pub(crate) fn bwrap() -> Option<Bwrap> {
    let found = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].map(PathBuf::from);
    let bwrap = found
        .into_iter()
        .find(|path| path.exists())
        .map(|path| Bwrap::new(path).checked_by(launcher()));
    let works = bwrap.as_ref().is_some_and(|bwrap| bwrap.trial().is_ok());
    if !works {
        foreword_testing::skip(
            "bwrap",
            "bubblewrap is not installed or cannot create a sandbox here",
        );
    }
    bwrap.filter(|_| works)
}

pub(crate) fn launcher() -> Launcher {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_foreword-sandbox-launch"));
    Launcher { program: fs::canonicalize(program).unwrap(), library: None, command: Vec::new() }
}

/// Waits until something holds, for at most five seconds.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("not within five seconds: {what}");
}

/// Whether a process of this command line part runs anywhere on the machine.
pub(crate) fn runs(marker: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).collect();
        words.contains(&marker.as_bytes())
    })
}
