//! Which workspace a command works on.

use std::path::{Path, PathBuf};

use foreword_serve::find_workspace;
use foreword_workspace::PRIVATE_DIR;

use crate::error::CliError;

/// The `-w` of the command line, or what stands in for it.
#[derive(Clone, Debug)]
pub(crate) struct WorkspaceArg(Option<PathBuf>);

impl WorkspaceArg {
    pub(crate) fn new(given: Option<PathBuf>) -> Self {
        Self(given)
    }

    /// The given workspace, or the one that the current directory is in.
    pub(crate) fn find(&self) -> Result<PathBuf, CliError> {
        Ok(find_workspace(self.given())?)
    }

    /// The directory that `-w` names, if it was given.
    pub(crate) fn given(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// The given directory, or the current one, for commands that need no workspace.
    pub(crate) fn directory(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new("."))
    }

    /// The workspace if there is one, else the current directory.
    pub(crate) fn find_or_here(&self) -> PathBuf {
        self.find().unwrap_or_else(|_| self.directory().to_owned())
    }
}

/// The current directory, if it is below the root of the workspace and not private to Foreword.
pub(crate) fn below(workspace: &Path) -> Option<PathBuf> {
    let root = workspace.canonicalize().ok()?;
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let inside = here.strip_prefix(&root).ok().filter(|inside| !inside.as_os_str().is_empty())?;
    let is_private = inside.components().any(|part| part.as_os_str() == PRIVATE_DIR);
    (!is_private).then_some(here)
}
