//! See `schedule_checks::schedule`.
#![no_main]

#[path = "../schedule_checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::schedule(text));
