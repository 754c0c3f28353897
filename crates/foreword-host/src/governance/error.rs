//! What can go wrong with the quarantine.

use std::io;
use std::path::PathBuf;

use foreword_workspace::WorkspaceError;
use thiserror::Error;

/// Why the quarantine could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GovernanceError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "the workspace now has more than {max} entries, so repositories the agent created deep inside may remain"
    )]
    TooManyEntries { max: usize },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}
