//! See `reading_checks::personal_settings`.
#![no_main]

#[path = "../reading_checks.rs"]
#[allow(dead_code)]
mod reading_checks;

libfuzzer_sys::fuzz_target!(|text: &str| reading_checks::personal_settings(text));
