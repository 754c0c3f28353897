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
