//! `bwrap`: separate namespaces through bubblewrap, as root and as an ordinary user.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backends::subprocess::Launcher;
use crate::error::SandboxError;
use crate::launcher::{expect, refuses_user_namespaces};
use crate::limits::Limits;
use crate::mounts::{self, Mount, Shown};
use crate::sandbox::{DEFAULT_PATH, Guarantees, HOME_INSIDE, RUN_DIR_INSIDE, Sandbox};
use crate::spec::SandboxSpec;
use crate::system::{self, Part};
use crate::trial;
use foreword::SandboxKind;

/// How to get it, for a person.
pub(crate) const REMEDY: &str = "install the package `bubblewrap`, 0.7 or later, and allow user namespaces \
    (`sysctl kernel.unprivileged_userns_clone=1`, or an AppArmor profile for bwrap)";

/// Bubblewrap at a known path.
///
/// Its own user, process, IPC, host name, control group and network namespaces (loopback only), no
/// capabilities, a root made of a few read-only parts of the system, and nothing else of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bwrap {
    program: PathBuf,
    launcher: Option<Launcher>,
}

impl Bwrap {
    /// Takes the program for one that works; [`Bwrap::trial`] says whether it does.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program, launcher: None }
    }

    /// Lets the launcher be the first program inside, which makes sure that what was mounted from the
    /// workspace is what was looked at. Without it an agent that already runs in the same workspace
    /// could exchange a directory in between. It has to be a program that may be seen inside.
    #[must_use]
    pub fn checked_by(self, launcher: Launcher) -> Self {
        Self { launcher: Some(launcher), ..self }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Runs `true` in a sandbox as narrow as those for agents.
    pub fn trial(&self) -> Result<(), SandboxError> {
        let mut command = self.start(Limits::default());
        command.args(["--setenv", "PATH", DEFAULT_PATH, "--remount-ro", "/", "--", "true"]);
        trial::run(command, SandboxKind::Bwrap, REMEDY)
    }

    /// The arguments that are the same for every program.
    fn start(&self, limits: Limits) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear();
        command.args(["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
        command.args(["--unshare-net", "--unshare-cgroup-try", "--cap-drop", "ALL"]);
        command.args([
            "--die-with-parent",
            "--new-session",
            // Otherwise bubblewrap's own process stays inside, with the agent's pipes open.
            "--as-pid-1",
            "--hostname",
            "foreword",
            "--clearenv",
        ]);
        for part in system::parts() {
            match part {
                Part::Tree(path) => bind(&mut command, "--ro-bind", &path, &path),
                Part::Link { at, to } => bind(&mut command, "--symlink", &to, &at),
            }
        }
        // The root of the host is the owner of /proc/sys, also without capabilities: so read-only.
        command.args(["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]);
        // What is in memory has a size, and /dev itself, which has none, is read-only.
        for (path, bytes) in
            [("/dev/shm", limits.shared_memory_bytes()), ("/tmp", limits.temporary_bytes)]
        {
            let bytes = bytes.to_string();
            command.args(["--perms", "1777", "--size", &bytes, "--tmpfs", path]);
        }
        command.args(["--remount-ro", "/dev"]);
        command.args(["--symlink", "../tmp", "/var/tmp"]);
        command
    }
}

impl Sandbox for Bwrap {
    fn kind(&self) -> SandboxKind {
        SandboxKind::Bwrap
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            network: true,
            governed_read_only: true,
            private_hidden: true,
            home_hidden: true,
            dies_with_host: true,
            limits: self.launcher.is_some(),
            kernel_calls: self.launcher.is_some() && refuses_user_namespaces(),
        }
    }

    fn command(&self, spec: &SandboxSpec) -> Result<Command, SandboxError> {
        spec.check()?;
        let mut command = self.start(spec.limits);
        let launcher = self.launcher.as_ref();
        let mounts = mounts::plan(spec, launcher, &system::trees())?;
        for mount in &mounts {
            show(&mut command, mount);
        }
        bind(&mut command, "--ro-bind", &spec.run_dir, Path::new(RUN_DIR_INSIDE));
        for (name, value) in spec.environment(Path::new(HOME_INSIDE)) {
            command.arg("--setenv").arg(name).arg(value);
        }
        command.args(["--perms", "0700", "--dir", HOME_INSIDE]);
        command.args(["--remount-ro", "/", "--chdir"]).arg(&spec.cwd);
        command.arg("--");
        match launcher {
            Some(launcher) => command.args(expect::checked(launcher, &mounts, spec)?),
            None => command.arg(&spec.program).args(&spec.args),
        };
        Ok(command)
    }
}

fn show(command: &mut Command, Mount { path, shown }: &Mount) {
    match shown {
        Shown::Writable => bind(command, "--bind", path, path),
        Shown::ReadOnly => bind(command, "--ro-bind", path, path),
        Shown::EmptyDirectory => {
            command.args(["--perms", "0555", "--tmpfs"]).arg(path);
            command.arg("--remount-ro").arg(path);
        }
        Shown::EmptyFile => bind(command, "--ro-bind", Path::new("/dev/null"), path),
    }
}

fn bind(command: &mut Command, how: &str, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) {
    command.arg(how).arg(from).arg(to);
}

#[cfg(test)]
#[path = "bwrap_tests.rs"]
mod tests;
