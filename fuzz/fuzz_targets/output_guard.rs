//! See `guard_checks::output_guard`.
#![no_main]

#[path = "../guard_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::output_guard(text));
