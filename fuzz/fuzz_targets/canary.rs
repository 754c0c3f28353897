//! See `guard_checks::canary`.
#![no_main]

#[path = "../guard_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::canary(text));
