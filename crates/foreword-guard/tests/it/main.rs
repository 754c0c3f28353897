//! The integration tests of `foreword-guard`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod canary;
mod forms;
mod fuzz_smoke;
#[path = "../../../../fuzz/harness.rs"]
mod harness;
mod injection;
mod output;
mod scan_fuzz_smoke;
mod screen_agent;
mod screen_folder;
mod screen_hostile;
mod screen_import;
mod secrets;
