//! Errors around a sandbox, in words a person can act on.

use std::io;
use std::path::PathBuf;

use foreword_workspace::WorkspaceError;

use foreword::SandboxKind;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A path cannot be used.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        source: io::Error,
    },
    /// A path leads elsewhere.
    #[error("{}: is a symbolic link or below one; use the real path {}", .path.display(), .leads_to.display())]
    NotResolved {
        /// The path.
        path: PathBuf,
        /// Where it leads.
        leads_to: PathBuf,
    },
    /// The workspace is too much to show to an agent.
    #[error("{}: cannot be a workspace because it contains the session's own files; use a subdirectory", .path.display())]
    TooWide {
        /// The workspace.
        path: PathBuf,
    },
    /// The directory must not be a workspace.
    #[error("{}: cannot be a workspace: {reason}", .path.display())]
    NoWorkspace {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
    /// The working directory is not in the workspace.
    #[error("{}: is outside the workspace {}; choose a working directory inside it", .cwd.display(), .workspace.display())]
    CwdOutside {
        /// The working directory.
        cwd: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// A governed path is not in the workspace.
    #[error("{}: is outside the workspace and cannot be governed", .path.display())]
    GovernedOutside {
        /// The path.
        path: PathBuf,
    },
    /// The private directory does not exist, so it cannot be covered.
    #[error("{}: must exist before an agent starts, so that it can be hidden", .path.display())]
    NoPrivateDir {
        /// The directory.
        path: PathBuf,
    },
    /// Showing one path would show a hidden one.
    #[error("{}: cannot be shown to an agent because that would expose {}", .path.display(), .hidden.display())]
    Exposes { path: PathBuf, hidden: PathBuf },
    /// More of something than a sandbox takes.
    #[error("too many {what} for a sandbox; the limit is {most}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A variable no environment can have.
    #[error("invalid environment variable name: `{}`", .name.escape_debug())]
    BadVariable {
        /// The name.
        name: String,
    },
    /// A path with a character that the sandbox cannot handle.
    #[error("{}: {sandbox} does not support {what} in a path; rename it, or use another sandbox", .path.display())]
    Unspeakable {
        /// The sandbox.
        sandbox: SandboxKind,
        /// The path.
        path: PathBuf,
        /// The character.
        what: &'static str,
    },
    /// A sandbox that was asked for by name does not work here.
    #[error("sandbox {sandbox} is unavailable: {reason}; {remedy}")]
    Unavailable {
        /// The sandbox.
        sandbox: SandboxKind,
        /// Why not.
        reason: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The launcher got invalid arguments, or failed.
    #[error("sandbox launcher: {message}")]
    Launcher { message: String },
    /// The workspace cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}
