//! What can go wrong with trust files and the quarantine.

use std::io;
use std::path::PathBuf;

use foreword_workspace::WorkspaceError;
use thiserror::Error;

/// Why trust or the quarantine could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GovernanceError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A workspace that holds the person's settings could trust itself.
    #[error("{} is inside the workspace; keep your settings outside it", path.display())]
    TrustInside { path: PathBuf },
    #[error("the trust file {} {reason}; delete it to review the workspace again", path.display())]
    BadTrust { path: PathBuf, reason: String },
    #[error(
        "the workspace now has more than {max} entries, so repositories the agent created deep inside may remain"
    )]
    TooManyEntries { max: usize },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}
