//! The sandbox a turn runs in, and the directory it starts in.

use std::path::{Path, PathBuf};

use foreword::{Choice, SandboxChoice};
use foreword_sandbox::{Available, LAUNCHER_COMMAND, Launcher, Sandbox, SandboxKind, programs_in};
use foreword_workspace::PRIVATE_DIR;

use serde::{Deserialize, Serialize};

use crate::error::HostError;
use crate::host::Host;
use crate::turn::request::TurnRequest;

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
                library: self.options.library.clone(),
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

    /// Whether a turn would run in a weaker sandbox than the newest turn of this workspace did. A sandbox
    /// that the person names, or that they accepted in foreword.toml, is their choice.
    pub fn weaker_sandbox(
        &self,
        request: &TurnRequest,
    ) -> Result<Option<WeakerSandbox>, HostError> {
        let chosen = request.sandbox.unwrap_or(self.workspace()?.config().host.sandbox);
        if chosen != Choice::Auto {
            return Ok(None);
        }
        let before = self.reader.last_sandbox()?;
        let before = before.and_then(|text| serde_json::from_str::<UsedSandbox>(&text).ok());
        let Some(before) = before else { return Ok(None) };
        let sandbox = self.sandbox(chosen)?;
        let now = UsedSandbox::of(sandbox.as_ref());
        let mut lost = now.gaps;
        lost.retain(|gap| !before.gaps.contains(gap));
        // A guarantee that the version before did not know of is not lost.
        let is_weaker = now.name != before.name && !lost.is_empty();
        let weaker = WeakerSandbox { before: before.name, now: sandbox.kind(), lost };
        Ok(is_weaker.then_some(weaker))
    }

    /// A directory of the workspace; the root by default.
    pub(crate) fn directory(&self, cwd: Option<&Path>) -> Result<PathBuf, HostError> {
        let Some(cwd) = cwd else { return Ok(self.root.clone()) };
        let outside = || HostError::NotADirectory { path: cwd.to_owned() };
        let found = self.root.join(cwd).canonicalize().map_err(|_| outside())?;
        let below = found.strip_prefix(&self.root).map_err(|_| outside())?;
        let is_private = below.components().any(|part| part.as_os_str() == PRIVATE_DIR);
        if is_private || !found.is_dir() {
            return Err(outside());
        }
        Ok(found)
    }
}

/// A sandbox that guarantees less than the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakerSandbox {
    /// The sandbox of the newest turn.
    pub before: String,
    /// The sandbox of this one.
    pub now: SandboxKind,
    /// What is no longer guaranteed.
    pub lost: Vec<String>,
}

/// The sandbox of a turn, as it is kept with the turn.
#[derive(Serialize, Deserialize)]
pub(crate) struct UsedSandbox {
    name: String,
    gaps: Vec<String>,
}

impl UsedSandbox {
    pub(crate) fn of(sandbox: &dyn Sandbox) -> Self {
        let gaps = sandbox.guarantees().gaps().into_iter().map(str::to_owned).collect();
        Self { name: prompt_name(sandbox), gaps }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What the prompt calls the sandbox. A subprocess that Landlock confines is called by that name.
pub(crate) fn prompt_name(sandbox: &dyn Sandbox) -> String {
    if sandbox.kind() == SandboxKind::Subprocess && !sandbox.guarantees().advisory() {
        return "landlock".to_owned();
    }
    sandbox.name().to_owned()
}
