//! See `ipc_checks::job`.
#![no_main]

#[path = "../ipc_checks.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::job(text));
