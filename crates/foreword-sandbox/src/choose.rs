//! Which sandbox to use: the best that works here, or the one a person named.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::backends::bwrap::{self, Bwrap};
use crate::backends::docker::{self, Docker};
use crate::backends::nsjail::{self, Nsjail};
use crate::backends::seatbelt::{self, Seatbelt};
use crate::backends::subprocess::{Launcher, Subprocess};
use crate::error::SandboxError;
use crate::probe_cache::ProbeCache;
use crate::sandbox::Sandbox;
use foreword::SandboxKind;

/// What is needed to find and set up sandboxes.
pub struct Available<'a> {
    /// Finds a program by name; see [`programs_in`].
    pub lookup: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// How the launcher is called.
    pub launcher: Launcher,
    /// The image for containers; without one, docker is not used.
    pub docker_image: Option<String>,
    /// A directory of the person in which is kept that bwrap or nsjail works, so that it is not tried
    /// at every start; never one in a workspace. Without one it is tried each time.
    pub remember_in: Option<PathBuf>,
}

/// Looks programs up in a `PATH`: in directories with an absolute path that lie outside the workspace,
/// so that an agent cannot put one there.
pub fn programs_in<'a>(
    path: &'a OsStr,
    workspace: &'a Path,
) -> impl Fn(&str) -> Option<PathBuf> + 'a {
    move |name| {
        std::env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .filter_map(|directory| std::fs::canonicalize(directory.join(name)).ok())
            .find(|found| found.is_file() && !found.starts_with(workspace))
    }
}

impl Available<'_> {
    /// The best sandbox that works here. There is always one; [`Sandbox::guarantees`] says how good.
    ///
    /// Those before it are tried by running them once, unless they are known to work.
    #[must_use]
    pub fn best(&self) -> Box<dyn Sandbox> {
        let works = |kind| self.named(kind).ok();
        let found = SandboxKind::ALL.into_iter().find_map(works);
        found.unwrap_or_else(|| Box::new(Subprocess::new(self.launcher.clone())))
    }

    /// The sandbox that a person asked for.
    pub fn named(&self, kind: SandboxKind) -> Result<Box<dyn Sandbox>, SandboxError> {
        let find = |name: &str, remedy| {
            (self.lookup)(name).ok_or_else(|| SandboxError::Unavailable {
                sandbox: kind,
                reason: format!("`{name}` is not installed"),
                remedy,
            })
        };
        match kind {
            SandboxKind::Bwrap => {
                let bwrap = Bwrap::new(find("bwrap", bwrap::REMEDY)?);
                let bwrap = bwrap.checked_by(self.launcher.clone());
                self.once(kind, bwrap.program(), || bwrap.trial())?;
                Ok(Box::new(bwrap))
            }
            SandboxKind::Nsjail => {
                let nsjail = Nsjail::new(find("nsjail", nsjail::REMEDY)?, self.launcher.clone());
                self.once(kind, nsjail.program(), || nsjail.trial())?;
                Ok(Box::new(nsjail))
            }
            SandboxKind::Docker => {
                let program = find("docker", docker::REMEDY)?;
                let image = self.docker_image.clone().ok_or_else(|| SandboxError::Unavailable {
                    sandbox: kind,
                    reason: "no image is configured".into(),
                    remedy: docker::REMEDY,
                })?;
                let docker = Docker::new(program, image);
                docker.trial()?;
                Ok(Box::new(docker))
            }
            SandboxKind::Seatbelt => {
                let seatbelt = Seatbelt::new(find("sandbox-exec", seatbelt::REMEDY)?);
                seatbelt.trial()?;
                Ok(Box::new(seatbelt))
            }
            SandboxKind::Subprocess => Ok(Box::new(Subprocess::new(self.launcher.clone()))),
        }
    }

    /// Tries a program unless it is known to work.
    fn once(
        &self,
        kind: SandboxKind,
        program: &Path,
        trial: impl FnOnce() -> Result<(), SandboxError>,
    ) -> Result<(), SandboxError> {
        let cache = self.remember_in.as_ref().and_then(|at| ProbeCache::of(at, kind, program));
        if cache.as_ref().is_some_and(ProbeCache::holds) {
            return Ok(());
        }
        trial()?;
        if let Some(cache) = cache {
            cache.keep();
        }
        Ok(())
    }

    /// How each of [`SandboxKind::ALL`] fares: the sandbox, or why it does not work.
    #[must_use]
    pub fn all(&self) -> Vec<Result<Box<dyn Sandbox>, SandboxError>> {
        SandboxKind::ALL.into_iter().map(|kind| self.named(kind)).collect()
    }
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
