//! See `provider_checks::answer`.
#![no_main]

#[path = "../provider_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::answer(text));
