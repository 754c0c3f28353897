//! Errors of memories.

use foreword_embed::{EmbedError, Incomparable};
use foreword_store::StoreError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The database cannot be read or written, or is damaged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder has no answer.
    #[error("cannot compute the embedding: {0}")]
    Embed(#[from] EmbedError),
    /// A vector does not have its embedder's length.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// A stored vector cannot be one.
    #[error("the vector of the memory `{id}` is damaged: {detail}")]
    Vector {
        /// The memory.
        id: String,
        detail: String,
    },
}

impl MemoryError {
    /// What to do about it, if known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Vector { .. } => {
                Some("run `foreword memory reindex --all` to compute it again".to_owned())
            }
            Self::Embed(_) | Self::Incomparable(_) => None,
        }
    }
}
