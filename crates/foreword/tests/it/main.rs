//! The integration tests of `foreword`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod break_out;
mod documented;
#[cfg(feature = "exact-tokens")]
mod estimate_accuracy;
#[cfg(feature = "exact-tokens")]
mod exact;
mod file_volatility;
mod fuzz_smoke;
mod nothing_is_lost;
mod seed_000_modular;
mod seed_001_skills_prompt;
mod seed_002_structure;
mod seed_003_roles;
mod seed_004_companion;
mod selection;
mod skills_within_budget;
mod support;
