//! The integration tests of `foreword-agent`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

#[cfg(unix)]
mod clis;
#[cfg(unix)]
mod fuzz_smoke;
#[cfg(unix)]
mod native;
#[cfg(target_os = "linux")]
mod processes;
mod support;
