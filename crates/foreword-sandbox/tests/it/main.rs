//! The integration tests of `foreword-sandbox`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

#[cfg(target_os = "linux")]
mod bwrap;
#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod subprocess;
mod support;
