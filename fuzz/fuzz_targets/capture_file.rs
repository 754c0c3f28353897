//! See `watch_checks::capture_file`. It writes files; set `TMPDIR` to a RAM disk.
#![no_main]

#[path = "../watch_checks.rs"]
#[allow(dead_code)]
mod watch_checks;

use std::sync::LazyLock;

static DIRECTORY: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary directory"));

libfuzzer_sys::fuzz_target!(|text: &str| watch_checks::capture_file(DIRECTORY.path(), text));
