//! The integration tests of `foreword-protocol`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod fuzz_smoke;
#[path = "../../../../fuzz/harness.rs"]
mod harness;
mod model_fuzz_smoke;
mod requests;
mod streams;
