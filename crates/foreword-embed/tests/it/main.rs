//! The integration tests of `foreword-embed`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs
)]

mod http;
mod static_golden;
mod use_package;

use foreword_embed::StaticEmbedder;

/// The table of `FOREWORD_STATIC_TABLE`, for whoever makes a new one, or the one in the program. Its hash is checked, and so
/// are the halves it is joined from.
fn static_table() -> StaticEmbedder {
    match std::env::var_os("FOREWORD_STATIC_TABLE") {
        Some(path) => StaticEmbedder::open(path.as_ref()).unwrap(),
        None => {
            let embedder = StaticEmbedder::embedded().unwrap();
            embedder.verify().unwrap();
            embedder
        }
    }
}
