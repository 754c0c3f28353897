//! See `watch_checks::watched_request` and `watch_checks::watched_text`.
#![no_main]

#[path = "../watch_checks.rs"]
#[allow(dead_code)]
mod watch_checks;

libfuzzer_sys::fuzz_target!(|text: &str| {
    watch_checks::watched_request(text);
    watch_checks::watched_text(text);
});
