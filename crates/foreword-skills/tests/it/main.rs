//! The integration tests of `foreword-skills`, one binary.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod fuzz_smoke;
mod git_store;
mod killed;
mod listing;
mod reference_validator;
mod support;
