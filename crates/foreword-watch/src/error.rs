//! What can go wrong, in words that say what to do.

use std::path::PathBuf;

use thiserror::Error;

/// Why something cannot be watched, read or reported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WatchError {
    #[error("port {port} is in use")]
    PortInUse { port: u16 },
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen { port: u16, source: std::io::Error },
    #[error("invalid upstream URL for {name}: `{url}`: {reason}")]
    Upstream { name: String, url: String, reason: String },
    #[error("invalid HTTPS_PROXY: {reason}")]
    NetworkProxy { reason: String },
    #[error("cannot read the certificates in {}: {reason}", path.display())]
    Certificates { path: PathBuf, reason: String },
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("no captures yet")]
    NoCaptures,
    #[error("no capture `{id}`")]
    UnknownCapture { id: String },
    #[error("`{id}` matches {count} captures")]
    AmbiguousId { id: String, count: usize },
    #[error("`{id}` is not a capture ID")]
    InvalidId { id: String },
    #[error("capture {id} is damaged: {reason}")]
    Damaged { id: String, reason: String },
    #[error("capture {id} has no call {number}; it has {calls}")]
    UnknownCall { id: String, number: usize, calls: usize },
    #[error("cannot load the injection scanner: {0}")]
    Scanner(String),
    #[error("invalid request body: {0}")]
    Body(String),
    #[error("capture {id} has no system prompt")]
    NoSystemPrompt { id: String },
}

impl WatchError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::PortInUse { .. } => "choose another port, or 0 for a free one",
            Self::Upstream { .. } => "use an http or https URL such as https://api.example.com/v1",
            Self::NetworkProxy { .. } => {
                "set it to a URL such as http://proxy.example.com:3128, or unset it"
            }
            Self::Certificates { .. } => "unset SSL_CERT_FILE, or name a PEM file",
            Self::NoCaptures => "record one: `foreword watch -- PROGRAM`",
            Self::AmbiguousId { .. } => "pass more of the ID; `foreword watch list` shows them",
            Self::UnknownCapture { .. } | Self::InvalidId { .. } | Self::Damaged { .. } => {
                "list captures with `foreword watch list`"
            }
            Self::UnknownCall { .. } => "list the calls with `foreword watch report`",
            Self::Body(_) => {
                "pass the JSON body of an Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or Gemini request"
            }
            Self::NoSystemPrompt { .. } => {
                "choose a capture with a system prompt: `foreword watch list`"
            }
            Self::Listen { .. } | Self::Io { .. } | Self::Scanner(_) => return None,
        })
    }
}
