//! The integration tests of foreword-watch, in one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod captures;
mod fuzz_smoke;
#[path = "../../../../fuzz/harness.rs"]
mod harness;
mod proxy;
mod report;
mod support;
mod tls;
