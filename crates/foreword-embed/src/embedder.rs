//! The trait that every embedder implements, and its errors.

use std::sync::Arc;
use std::time::Duration;

use crate::vector::{EmbedderId, Vector};

/// Turns texts into vectors.
pub trait Embedder {
    /// Identifies the embedder; stored with each vector.
    fn id(&self) -> &Arc<EmbedderId>;

    /// One vector per text, in order.
    ///
    /// An empty or unreadable text is not an error: its vector is zero.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError>;
}

impl<E: Embedder + ?Sized> Embedder for &E {
    fn id(&self) -> &Arc<EmbedderId> {
        (**self).id()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        (**self).embed(texts)
    }
}

impl<E: Embedder + ?Sized> Embedder for Box<E> {
    fn id(&self) -> &Arc<EmbedderId> {
        (**self).id()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        (**self).embed(texts)
    }
}

/// Why an embedder failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A file of the model cannot be read.
    #[error("{path}: {source}")]
    Unreadable { path: String, source: std::io::Error },
    /// A file of the model is damaged.
    #[error("the model is damaged: {what}; install it again")]
    Corrupt { what: String },
    /// The full model is not installed.
    #[error("the full model is not installed: there is no {path}; run `foreword model install`")]
    NotInstalled {
        /// The expected path.
        path: String,
    },
    /// The model was written by another version of this program.
    #[error("the model has version {found}, this program reads version {known}; install it again")]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The address of the endpoint is invalid.
    #[error("invalid embedding server URL `{url}`: use http:// or https:// without credentials")]
    Url { url: String },
    /// The endpoint did not answer in time.
    #[error("{url}: no answer within {} s", .limit.as_secs_f64())]
    TimedOut { url: String, limit: Duration },
    /// The endpoint cannot be reached.
    #[error("{url}: cannot be reached: {what}")]
    Unreachable { url: String, what: String },
    /// The endpoint refused.
    #[error("{url}: answered {status}{}{message}", if .message.is_empty() { "" } else { ": " })]
    Refused {
        url: String,
        status: u16,
        /// The server's message, shortened to one line.
        message: String,
    },
    /// The endpoint answered with something that is not a list of embeddings.
    #[error("{url}: the answer is not a list of embeddings: {what}")]
    Answer { url: String, what: String },
}

impl EmbedError {
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }
}
