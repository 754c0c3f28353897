//! See `skill_checks::code_screening`.
#![no_main]

#[path = "../skill_checks.rs"]
#[allow(dead_code)]
mod skill_checks;

libfuzzer_sys::fuzz_target!(|text: &str| skill_checks::code_screening(text));
