//! The integration tests of `foreword-host`, one binary.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod bad_agents;
mod bad_calls;
mod fuzz_smoke;
mod memory;
mod support;
