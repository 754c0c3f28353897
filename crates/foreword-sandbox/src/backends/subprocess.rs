//! `subprocess`: a process of the host, confined by Landlock where the kernel has it.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::error::SandboxError;
use crate::launcher::{Confinement, refuses_user_namespaces};
use crate::sandbox::{Guarantees, Sandbox};
use crate::spec::SandboxSpec;
use foreword::SandboxKind;

/// How long the supervisor may take to end everything.
const MAX_WAIT: Duration = Duration::from_secs(6);

/// How to call the launcher: a program, and the name of its subcommand if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The program: `foreword` itself.
    pub program: PathBuf,
    /// The library with its code, if it is not all in one file.
    pub library: Option<PathBuf>,
    /// The arguments before the others: [`LAUNCHER_COMMAND`](crate::LAUNCHER_COMMAND).
    pub command: Vec<OsString>,
}

impl Launcher {
    /// What has to be readable wherever it is started.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> + Clone {
        std::iter::once(&self.program).chain(&self.library)
    }
}

/// A process of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subprocess {
    launcher: Launcher,
    landlock: u8,
}

impl Subprocess {
    /// With all Landlock features of the kernel.
    #[must_use]
    pub fn new(launcher: Launcher) -> Self {
        Self { launcher, landlock: landlock_level() }
    }

    /// Without Landlock, whatever the kernel has: governance is advisory.
    #[must_use]
    pub fn unconfined(launcher: Launcher) -> Self {
        Self { launcher, landlock: 0 }
    }

    /// The ABI of Landlock it uses; 0 for none.
    #[must_use]
    pub fn landlock(&self) -> u8 {
        self.landlock
    }

    fn launch(&self, args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let mut command = vec![self.launcher.program.clone().into_os_string()];
        command.extend(self.launcher.command.iter().cloned());
        command.extend(args);
        command
    }
}

/// The newest ABI of Landlock that is of use here and that the kernel has; 0 for none.
#[must_use]
pub fn landlock_level() -> u8 {
    #[cfg(target_os = "linux")]
    return crate::launcher::confine::landlock_level();
    #[cfg(not(target_os = "linux"))]
    return 0;
}

impl Sandbox for Subprocess {
    fn kind(&self) -> SandboxKind {
        SandboxKind::Subprocess
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            // Landlock knows TCP alone, and sockets with a path only since its ABI 9.
            network: false,
            // Before ABI 3 a file could be cut to nothing.
            governed_read_only: self.landlock >= 3,
            private_hidden: self.landlock >= 1,
            home_hidden: self.landlock >= 1,
            dies_with_host: cfg!(target_os = "linux"),
            // Without Landlock the machine's own /dev/shm can be filled.
            limits: self.landlock >= 1,
            kernel_calls: refuses_user_namespaces(),
        }
    }

    fn command(&self, spec: &SandboxSpec) -> Result<Command, SandboxError> {
        spec.check()?;
        let temporary = spec.run_dir.join("tmp");
        let inside = |path: &&PathBuf| path.starts_with(&spec.workspace);
        let shown = spec.read_only.iter().chain([&spec.program]).chain(self.launcher.files());
        let confinement = Confinement {
            landlock: self.landlock,
            workspace: spec.workspace.clone(),
            writable: spec.writable,
            governed: spec.governed.iter().chain(shown.clone().filter(inside)).cloned().collect(),
            private: spec.private.iter().filter(inside).cloned().collect(),
            read_only: shown.cloned().collect(),
            run_dir: spec.run_dir.clone(),
            temporary: temporary.clone(),
            ports: spec.bridge_ports.clone().into_iter().flatten().collect(),
            limits: Some(spec.limits.shared_user()),
        };
        let parent = std::process::id().to_string();
        let supervise = ["--supervise", "--parent", &parent, "--"].map(OsString::from);
        let line = self.launch(supervise.into_iter().chain(self.launch(confinement.to_args())));
        let mut command = Command::new(&self.launcher.program);
        command.args(line.into_iter().skip(1));
        command.arg("--").arg(&spec.program).args(&spec.args).current_dir(&spec.cwd).env_clear();
        command.env("TMPDIR", &temporary).envs(spec.environment(&temporary.join("home")));
        Ok(command)
    }

    fn run_dir_inside(&self, spec: &SandboxSpec) -> PathBuf {
        spec.run_dir.clone()
    }

    /// Ends the program and lets the supervisor clear up; ends that too if it takes too long.
    fn end(&self, child: &mut Child) -> io::Result<()> {
        let deadline = Instant::now() + MAX_WAIT;
        while child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                child.kill()?;
            }
            #[cfg(target_os = "linux")]
            crate::launcher::process_tree::below(child.id())
                .into_iter()
                .for_each(crate::launcher::process_tree::kill);
            #[cfg(not(target_os = "linux"))]
            child.kill()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}
