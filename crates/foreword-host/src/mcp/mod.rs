//! MCP servers: programs and addresses of others whose tools agents may call.
//!
//! A server is trusted as far as a person reviewed it: what is started or reached (with the workspace),
//! and the list of its tools (`review.rs`). It starts when a tool of it is first called in a turn, in the
//! sandbox of that turn unless the person's settings put it outside, and ends with the turn: what lives
//! on could change files when nobody looks. `process.rs` starts and ends it, `pool.rs` keeps the servers
//! of a turn, with limits on time and size and a growing pause after failures.

mod outside;
pub(crate) mod pool;
mod process;
mod program;
pub(crate) mod review;

pub(crate) use process::ServerPlace;

use std::path::PathBuf;

use foreword_mcp::McpClientError;
use foreword_protocol::{ErrorCode, Failure};
use foreword_workspace::WorkspaceError;
use thiserror::Error;

use crate::error::HostError;

/// Why a server cannot be used, in words for the model and the person.
#[derive(Debug, Error)]
pub(crate) enum ServerFault {
    #[error("the program `{program}` is not installed; install it, or correct `command`")]
    NoProgram { program: String },
    #[error("the environment variable `{name}` is not set")]
    NoVariable { name: String },
    #[error("{0}")]
    Key(String),
    #[error("{}", foreword_gather::server_elsewhere(.url, .settings))]
    Elsewhere {
        url: String,
        /// The person's settings file.
        settings: PathBuf,
    },
    #[error(
        "`{path}` is in the workspace, where agents can change it, and the server runs outside the sandbox; install the program elsewhere, or remove `outside` from your settings.toml"
    )]
    AgentsFile { path: String },
    #[error(
        "the variable `{name}` names `{path}` in the workspace, where agents can change it, and the server runs outside the sandbox; point it elsewhere, or remove `outside` from your settings.toml"
    )]
    AgentsVariable { name: String, path: String },
    #[error("cannot start it: {0}")]
    Start(String),
    #[error("it {error}{said}")]
    Client {
        error: McpClientError,
        /// The end of what it wrote to standard error.
        said: String,
    },
    #[error("it {error}{said}; {}", in_place_of(.program, .package.as_deref(), *.is_offline))]
    Download {
        program: String,
        package: Option<String>,
        /// Whether the sandbox keeps it from the network.
        is_offline: bool,
        error: McpClientError,
        said: String,
    },
    #[error(
        "its tools changed since they were reviewed; it is off until a person reviews them with `foreword trust`"
    )]
    ListChanged,
    #[error(
        "it is paused after a failure ({last}; failures in a row: {failures}); try again in {seconds} s"
    )]
    Pausing { failures: u32, last: String, seconds: u64 },
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// What to do about a server that its program would have to download.
fn in_place_of(program: &str, package: Option<&str>, is_offline: bool) -> String {
    let install = package.and_then(|package| program::install_command(program, package));
    let install = match install {
        Some(command) => format!("install it (`{command}`)"),
        None => "install the server".to_owned(),
    };
    let why = match is_offline {
        true => "and the sandbox has no network",
        false => "which may fail or take too long in the sandbox",
    };
    format!(
        "`{program}` downloads what is not installed, {why}: {install} and name its program as `command`, or set \
         `outside = true` for it in your settings.toml"
    )
}

impl ServerFault {
    /// Whether the message repeats what the server said; otherwise it is all the host's.
    pub(crate) fn quotes_server(&self) -> bool {
        match self {
            Self::Client { error, said } | Self::Download { error, said, .. } => {
                !said.is_empty() || error.quotes_server()
            }
            _ => false,
        }
    }

    /// The same without what the server said.
    pub(crate) fn in_own_words(&self) -> String {
        match self {
            Self::Client { error, .. } | Self::Download { error, .. } => {
                format!("it {}", error.in_own_words())
            }
            other => other.to_string(),
        }
    }

    /// The failure of a call, for the model.
    pub(crate) fn into_failure(self, server: &str) -> Failure {
        let code = match &self {
            Self::Client { error: McpClientError::TimedOut(_), .. } => ErrorCode::TimedOut,
            Self::Client { error: McpClientError::TooLarge { .. }, .. } => ErrorCode::TooLarge,
            Self::ListChanged => ErrorCode::Refused,
            _ => ErrorCode::Unavailable,
        };
        Failure::new(code, format!("MCP server `{server}`: {self}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sandbox_without_network_is_said_to_have_none() {
        let said = |is_offline| in_place_of("npx", Some("server-x"), is_offline);
        assert!(
            said(true).contains("the sandbox has no network: install it (`npm "),
            "{}",
            said(true)
        );
        assert!(!said(false).contains("no network"), "{}", said(false));
        assert!(said(false).contains("in the sandbox: install it (`npm "), "{}", said(false));
    }
}
