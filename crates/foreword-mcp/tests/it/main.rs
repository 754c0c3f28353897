//! The integration tests of `foreword-mcp`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod conformance;
mod http;
mod inspector;
mod parts;
mod programs;
#[cfg(unix)]
mod socket;
mod stdio;
mod wire;
