//! See `reading_checks::git_files`. It writes files; set `TMPDIR` to a RAM disk.
#![no_main]

#[path = "../reading_checks.rs"]
#[allow(dead_code)]
mod reading_checks;

use std::sync::LazyLock;

static DIRECTORY: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary directory"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading_checks::git_files(DIRECTORY.path(), bytes));
