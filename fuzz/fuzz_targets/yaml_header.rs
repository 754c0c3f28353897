//! See `checks::yaml_header`. It writes files; set `TMPDIR` to a RAM disk.
#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code)]
mod checks;

use std::sync::LazyLock;

static DIRECTORY: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary directory"));

libfuzzer_sys::fuzz_target!(|text: &str| checks::yaml_header(DIRECTORY.path(), text));
