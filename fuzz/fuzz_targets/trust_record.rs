//! See `reading_checks::trust_record`. It writes files; set `TMPDIR` to a RAM disk.
#![no_main]

#[path = "../reading_checks.rs"]
#[allow(dead_code)]
mod reading_checks;

use std::sync::LazyLock;

static DIRECTORY: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary directory"));

libfuzzer_sys::fuzz_target!(|text: &str| reading_checks::trust_record(DIRECTORY.path(), text));
