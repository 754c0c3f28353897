//! `nsjail`: separate namespaces, like bubblewrap's.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backends::subprocess::Launcher;
use crate::error::SandboxError;
use crate::launcher::{die_with_parent_args, expect, refuses_user_namespaces};
use crate::limits::Limits;
use crate::mounts::{self, Mount, Shown};
use crate::sandbox::{Guarantees, HOME_INSIDE, RUN_DIR_INSIDE, Sandbox};
use crate::spec::SandboxSpec;
use crate::system::{self, Part};
use crate::trial;
use foreword::SandboxKind;

/// How to get it, for a person.
pub(crate) const REMEDY: &str = "install nsjail, and allow user namespaces";

const DEVICES: [&str; 5] = ["full", "null", "random", "urandom", "zero"];

/// nsjail at a known path, started by the launcher so that it dies with the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nsjail {
    program: PathBuf,
    launcher: Launcher,
}

impl Nsjail {
    /// Takes the program for one that works; [`Nsjail::trial`] says whether it does.
    #[must_use]
    pub fn new(program: PathBuf, launcher: Launcher) -> Self {
        Self { program, launcher }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Runs `true` in a sandbox as narrow as those for agents.
    pub fn trial(&self) -> Result<(), SandboxError> {
        let mut command = self.start(Limits::default())?;
        command.args(["--", "/bin/true"]);
        trial::run(command, SandboxKind::Nsjail, REMEDY)
    }

    /// Everything that is the same for every program. New namespaces of every kind, an empty root that
    /// is read-only, a read-only `/proc`, no capabilities and no new privileges are its defaults.
    fn start(&self, limits: Limits) -> Result<Command, SandboxError> {
        let mut command = Command::new(&self.launcher.program);
        command.env_clear().args(&self.launcher.command);
        command.args(die_with_parent_args(self.program.as_os_str()));
        command.args(["--mode", "o", "--really_quiet", "--hostname", "foreword"]);
        command.args(["--time_limit", "0", "--disable_rlimits"]);
        for part in system::parts() {
            match part {
                Part::Tree(path) => {
                    command.arg("--bindmount_ro").arg(pair(&path, &path)?);
                }
                Part::Link { at, to } => {
                    command.arg("--symlink").arg(pair(&to, &at)?);
                }
            }
        }
        for path in DEVICES.map(|name| Path::new("/dev").join(name)) {
            command.arg("--bindmount").arg(pair(&path, &path)?);
        }
        for path in ["/tmp", "/var/tmp", HOME_INSIDE] {
            let options = format!("tmpfs:size={},mode=1777", limits.temporary_bytes);
            command.arg("--mount").arg(format!("none:{path}:{options}"));
        }
        Ok(command)
    }
}

impl Sandbox for Nsjail {
    fn kind(&self) -> SandboxKind {
        SandboxKind::Nsjail
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            network: true,
            governed_read_only: true,
            private_hidden: true,
            home_hidden: true,
            dies_with_host: true,
            limits: true,
            kernel_calls: refuses_user_namespaces(),
        }
    }

    fn command(&self, spec: &SandboxSpec) -> Result<Command, SandboxError> {
        spec.check()?;
        let mut command = self.start(spec.limits)?;
        let mounts = mounts::plan(spec, Some(&self.launcher), &system::trees())?;
        for mount in &mounts {
            show(&mut command, mount)?;
        }
        command.arg("--bindmount_ro").arg(pair(&spec.run_dir, Path::new(RUN_DIR_INSIDE))?);
        for (name, value) in spec.environment(Path::new(HOME_INSIDE)) {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg("--cwd").arg(&spec.cwd).arg("--");
        command.args(expect::checked(&self.launcher, &mounts, spec)?);
        Ok(command)
    }
}

fn show(command: &mut Command, Mount { path, shown }: &Mount) -> Result<(), SandboxError> {
    match shown {
        Shown::Writable => command.arg("--bindmount").arg(pair(path, path)?),
        Shown::ReadOnly => command.arg("--bindmount_ro").arg(pair(path, path)?),
        Shown::EmptyDirectory => {
            let mut mount = pair(Path::new("none"), path)?;
            mount.push(":tmpfs:size=4096,mode=0555");
            command.arg("--mount").arg(mount)
        }
        Shown::EmptyFile => command.arg("--bindmount_ro").arg(pair(Path::new("/dev/null"), path)?),
    };
    Ok(())
}

/// `from:to`, which cannot express a path with a colon.
fn pair(from: &Path, to: &Path) -> Result<OsString, SandboxError> {
    if let Some(path) =
        [from, to].into_iter().find(|path| path.as_os_str().as_bytes().contains(&b':'))
    {
        let (sandbox, path) = (SandboxKind::Nsjail, path.to_path_buf());
        return Err(SandboxError::Unspeakable { sandbox, path, what: "a colon" });
    }
    let mut pair = from.as_os_str().to_owned();
    pair.push(":");
    pair.push(to);
    Ok(pair)
}

#[cfg(test)]
#[path = "nsjail_tests.rs"]
mod tests;
