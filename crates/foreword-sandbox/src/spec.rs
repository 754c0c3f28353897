//! What runs in a sandbox, and what it may see.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::limits::Limits;
use crate::sandbox::DEFAULT_PATH;
use crate::workspace_check::check_workspace;

/// Ports of the bridge that one spec may name.
const MAX_PORTS: usize = 64;
/// Variables that one spec may set.
const MAX_VARIABLES: usize = 200;
/// One program to run, and what it may see. Every path is absolute, with all links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// The workspace, at the same path inside.
    pub workspace: PathBuf,
    /// Where the program starts: the workspace or below.
    pub cwd: PathBuf,
    /// Whether the program may write in the workspace, governed paths apart.
    pub writable: bool,
    /// What in the workspace it may read and not write: governed paths and the files that git runs.
    pub governed: Vec<PathBuf>,
    /// Hidden paths: `.foreword`, which must exist, and the person's settings.
    pub private: Vec<PathBuf>,
    /// The person's home, so that nothing named here exposes it.
    pub home: Option<PathBuf>,
    /// The program, at the same path inside.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further trees it may read, such as the installation of another program.
    pub read_only: Vec<PathBuf>,
    /// The directory of the session with its socket; see
    /// [`Sandbox::run_dir_inside`](crate::Sandbox::run_dir_inside).
    pub run_dir: PathBuf,
    /// The ports on which the model bridge may listen, for sandboxes that share the host's network.
    pub bridge_ports: Option<RangeInclusive<u16>>,
    /// What it may use of the machine. The sums over all processes are up to the
    /// [`Monitor`](crate::Monitor).
    pub limits: Limits,
    /// The whole environment. `HOME` and `PATH` are set if they are not here.
    pub env: BTreeMap<String, String>,
}

impl SandboxSpec {
    /// Checks everything that can be wrong with a spec whatever the sandbox.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        resolved(&self.workspace)?;
        resolved(&self.cwd)?;
        resolved(&self.run_dir)?;
        resolved(&self.program)?;
        self.check_width()?;
        if !self.cwd.starts_with(&self.workspace) {
            let (cwd, workspace) = (self.cwd.clone(), self.workspace.clone());
            return Err(SandboxError::CwdOutside { cwd, workspace });
        }
        for path in &self.governed {
            resolved(path)?;
            if !path.starts_with(&self.workspace) || *path == self.workspace {
                return Err(SandboxError::GovernedOutside { path: path.clone() });
            }
        }
        for path in self.private.iter().filter(|path| path.starts_with(&self.workspace)) {
            match fs::symlink_metadata(path) {
                Ok(_) => resolved(path)?,
                Err(_) => return Err(SandboxError::NoPrivateDir { path: path.clone() }),
            }
        }
        self.check_exposure()?;
        if self.bridge_ports.as_ref().is_some_and(|ports| ports.len() > MAX_PORTS) {
            return Err(SandboxError::TooMany { what: "ports of the bridge", most: MAX_PORTS });
        }
        if self.env.len() > MAX_VARIABLES {
            return Err(SandboxError::TooMany { what: "variables", most: MAX_VARIABLES });
        }
        let bad = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        match self.env.keys().find(bad) {
            Some(name) => Err(SandboxError::BadVariable { name: name.clone() }),
            None => Ok(()),
        }
    }

    fn check_width(&self) -> Result<(), SandboxError> {
        let workspace = &self.workspace;
        check_workspace(workspace, self.home.as_deref())?;
        if self.run_dir.starts_with(workspace) && !self.is_private(&self.run_dir) {
            return Err(SandboxError::TooWide { path: workspace.clone() });
        }
        Ok(())
    }

    /// A readable path must not expose a hidden one.
    fn check_exposure(&self) -> Result<(), SandboxError> {
        for path in self.read_only.iter().chain([&self.program]) {
            let found = fs::canonicalize(path)
                .map_err(|source| SandboxError::Io { path: path.clone(), source })?;
            for hidden in self.private.iter().chain(&self.home) {
                let around = |path: &Path| hidden.starts_with(path);
                if around(&found) || around(path) || self.is_private(&found) {
                    let (path, hidden) = (path.clone(), hidden.clone());
                    return Err(SandboxError::Exposes { path, hidden });
                }
            }
        }
        Ok(())
    }

    fn is_private(&self, path: &Path) -> bool {
        self.private.iter().any(|private| path.starts_with(private))
    }

    /// The environment inside, complete.
    pub(crate) fn environment(&self, home: &Path) -> BTreeMap<String, String> {
        let mut env = self.env.clone();
        env.entry("HOME".into()).or_insert_with(|| home.to_string_lossy().into_owned());
        env.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
        env
    }
}

/// A path must exist and contain no links, because a link's target can be exchanged.
fn resolved(path: &Path) -> Result<(), SandboxError> {
    let found = fs::canonicalize(path)
        .map_err(|source| SandboxError::Io { path: path.to_path_buf(), source })?;
    if found == path {
        Ok(())
    } else {
        Err(SandboxError::NotResolved { path: path.to_path_buf(), leads_to: found })
    }
}
