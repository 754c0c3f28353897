//! See `scan_checks::injection_scan`.
#![no_main]

#[path = "../scan_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::injection_scan(text));
