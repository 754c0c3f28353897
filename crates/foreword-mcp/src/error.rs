//! Why a server does not run.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

use crate::gate::MIN_TOKEN_CHARS;

/// Why a server does not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is reachable from other machines.
    #[error(
        "{addr} can be reached from other machines; the MCP server listens on this one only, such as 127.0.0.1:{}",
        addr.port()
    )]
    NotLoopback {
        /// The address that was asked for.
        addr: SocketAddr,
    },
    /// The token is too short to keep anybody out, or does not fit into a header.
    #[error(
        "the token must be at least {MIN_TOKEN_CHARS} printable ASCII characters without spaces"
    )]
    BadToken,
    /// The address cannot be had.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address that was asked for.
        addr: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The threads of the server cannot be started.
    #[error("cannot start the threads of the MCP server: {0}")]
    Start(#[source] io::Error),
    /// The client does not speak MCP.
    #[error("the client did not open an MCP session: {0}")]
    Handshake(String),
    /// A task of the server died.
    #[error("the MCP server stopped unexpectedly: {0}")]
    Broken(String),
}
