//! See `guard_checks::schedule`.
#![no_main]

#[path = "../guard_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::schedule(text));
