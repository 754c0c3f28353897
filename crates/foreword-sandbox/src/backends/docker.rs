//! `docker`: a container without network, its root read-only, on an image that a person names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::SandboxError;
use crate::limits::Limits;
use crate::mounts::{self, Mount, Shown};
use crate::sandbox::{Guarantees, HOME_INSIDE, RUN_DIR_INSIDE, Sandbox};
use crate::spec::SandboxSpec;
use crate::trial;
use foreword::SandboxKind;

/// How to get it, for a person.
pub(crate) const REMEDY: &str =
    "install and start Docker, and configure a local image with the programs you need";

/// The command line of Docker, and an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Docker {
    program: PathBuf,
    image: String,
    user: String,
}

impl Docker {
    /// For containers of an image, which is never fetched. The agent has the numbers of this user.
    #[must_use]
    pub fn new(program: PathBuf, image: String) -> Self {
        #[cfg(unix)]
        let user = format!(
            "{}:{}",
            rustix::process::getuid().as_raw(),
            rustix::process::getgid().as_raw()
        );
        #[cfg(not(unix))]
        let user = String::from("1000:1000");
        Self { program, image, user }
    }

    /// Asks the engine whether it is there and has the image.
    pub fn trial(&self) -> Result<(), SandboxError> {
        let mut command = Command::new(&self.program);
        command.args(["image", "inspect", "--format", "{{.Id}}", "--", &self.image]);
        trial::run(command, SandboxKind::Docker, REMEDY)
    }
}

impl Sandbox for Docker {
    fn kind(&self) -> SandboxKind {
        SandboxKind::Docker
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            network: true,
            governed_read_only: true,
            private_hidden: true,
            home_hidden: true,
            // The engine runs the container; killing the client leaves it running.
            dies_with_host: false,
            limits: true,
            kernel_calls: true,
        }
    }

    fn command(&self, spec: &SandboxSpec) -> Result<Command, SandboxError> {
        spec.check()?;
        let mut command = Command::new(&self.program);
        command.args(["run", "--rm", "--interactive", "--init", "--pull", "never"]);
        command.args(["--network", "none", "--read-only", "--cap-drop", "ALL"]);
        command.args(["--security-opt", "no-new-privileges", "--ipc", "private"]);
        command.args(["--hostname", "foreword"]);
        let Limits { processes, memory_bytes, open_files, file_bytes, .. } = spec.limits;
        command.args(["--pids-limit", &processes.to_string()]);
        command.args(["--memory", &memory_bytes.to_string()]);
        command.args(["--memory-swap", &memory_bytes.to_string()]);
        command.args(["--shm-size", &spec.limits.shared_memory_bytes().to_string()]);
        command.args(["--ulimit", &format!("nofile={open_files}"), "--ulimit", "core=0"]);
        command.args(["--ulimit", &format!("fsize={file_bytes}")]);
        command.arg("--user").arg(&self.user);
        for path in ["/tmp", "/var/tmp", HOME_INSIDE] {
            command
                .arg("--tmpfs")
                .arg(format!("{path}:mode=1777,exec,size={}", spec.limits.temporary_bytes));
        }
        for mount in mounts::plan(spec, None, &[])? {
            command.arg("--mount").arg(mount_option(&mount)?);
        }
        let run_dir = bind(&spec.run_dir, Path::new(RUN_DIR_INSIDE), true)?;
        command.arg("--mount").arg(run_dir);
        for (name, value) in spec.environment(Path::new(HOME_INSIDE)) {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg("--workdir").arg(&spec.cwd).arg("--entrypoint").arg(&spec.program);
        command.arg("--").arg(&self.image).args(&spec.args);
        Ok(command)
    }
}

fn mount_option(Mount { path, shown }: &Mount) -> Result<OsString, SandboxError> {
    match shown {
        Shown::Writable => bind(path, path, false),
        Shown::ReadOnly => bind(path, path, true),
        Shown::EmptyDirectory => {
            let target = field(path, "target", path)?;
            Ok(format!("type=tmpfs,{target},tmpfs-mode=0555,tmpfs-size=4096,readonly").into())
        }
        Shown::EmptyFile => bind(Path::new("/dev/null"), path, true),
    }
}

fn bind(source: &Path, target: &Path, read_only: bool) -> Result<OsString, SandboxError> {
    let (source, target) = (field(source, "source", source)?, field(target, "target", target)?);
    let read_only = if read_only { ",readonly" } else { "" };
    Ok(format!("type=bind,{source},{target}{read_only}").into())
}

/// One field of a mount, which Docker reads as a line of comma-separated values.
fn field(path: &Path, name: &str, value: &Path) -> Result<String, SandboxError> {
    let unspeakable = |what| SandboxError::Unspeakable {
        sandbox: SandboxKind::Docker,
        path: path.to_path_buf(),
        what,
    };
    let value = value.to_str().ok_or_else(|| unspeakable("bytes that are not Unicode"))?;
    if value.contains('\r') {
        // The parser of such lines drops it before a line break.
        return Err(unspeakable("a carriage return"));
    }
    let field = format!("{name}={value}");
    if field.contains([',', '"', '\n']) {
        Ok(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Ok(field)
    }
}

#[cfg(test)]
#[path = "docker_tests.rs"]
mod tests;
