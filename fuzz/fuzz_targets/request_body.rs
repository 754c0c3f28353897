//! See `provider_checks::request_body`.
#![no_main]

#[path = "../provider_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::request_body(text));
