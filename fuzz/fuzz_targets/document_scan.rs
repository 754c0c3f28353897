//! See `scan_checks::document_scan`.
#![no_main]

#[path = "../scan_checks.rs"]
#[allow(dead_code)]
mod scan_checks;

libfuzzer_sys::fuzz_target!(|text: &str| scan_checks::document_scan(text));
