//! The sandbox a turn runs in, and the directory it starts in.

use std::path::{Path, PathBuf};

use foreword::{Choice, SandboxChoice};
use foreword_sandbox::{Available, LAUNCHER_COMMAND, Launcher, Sandbox, SandboxKind, programs_in};

use crate::error::HostError;
use crate::host::Host;

impl Host {
    /// Finds the named sandbox, or the strongest one that works, and probes it.
    pub(crate) fn find_sandbox(
        &self,
        choice: SandboxChoice,
    ) -> Result<Box<dyn Sandbox>, HostError> {
        let path = (self.options.environment)("PATH").unwrap_or_default();
        let lookup = programs_in(path.as_ref(), &self.root);
        let available = Available {
            lookup: &lookup,
            launcher: Launcher {
                program: self.options.program.clone(),
                command: vec![LAUNCHER_COMMAND.into()],
            },
            docker_image: (self.options.environment)("FOREWORD_DOCKER_IMAGE"),
            remember_in: Some(self.options.config_dir.clone()),
        };
        match choice {
            Choice::Auto => Ok(available.best()),
            Choice::Fixed(kind) => Ok(available.named(kind)?),
        }
    }

    /// A directory of the workspace; the root by default.
    pub(crate) fn directory(&self, cwd: Option<&Path>) -> Result<PathBuf, HostError> {
        let Some(cwd) = cwd else { return Ok(self.root.clone()) };
        let outside = || HostError::NotADirectory { path: cwd.to_owned() };
        let found = self.root.join(cwd).canonicalize().map_err(|_| outside())?;
        if !found.starts_with(&self.root) || !found.is_dir() {
            return Err(outside());
        }
        Ok(found)
    }
}

/// What the prompt calls the sandbox. A subprocess that Landlock confines is called by that name.
pub(crate) fn prompt_name(sandbox: &dyn Sandbox) -> String {
    if sandbox.kind() == SandboxKind::Subprocess && !sandbox.guarantees().advisory() {
        return "landlock".to_owned();
    }
    sandbox.name().to_owned()
}
