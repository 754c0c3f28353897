//! `cargo xtask fuzz`: the fuzz harness for as long as you like, on the pinned toolchain.
//!
//! It runs the same checks as the coverage-guided targets in `fuzz/`, which need `cargo fuzz`.

use crate::error::TaskError;
use crate::steps::{Steps, cargo};

pub(crate) const DEFAULT_SECONDS: u64 = 60;
/// Crates with a module `fuzz_smoke` among their integration tests.
const FUZZED: [&str; 7] = [
    "foreword",
    "foreword-skills",
    "foreword-guard",
    "foreword-protocol",
    "foreword-agent",
    "foreword-host",
    "foreword-watch",
];

/// Runs the harness; `seconds` are shared evenly by its tests.
pub(crate) fn run(steps: &mut Steps, seconds: u64) -> Result<(), TaskError> {
    let mut command = cargo();
    command
        .args(["test", "--profile", "fuzz"])
        .args(FUZZED.into_iter().flat_map(|name| ["--package", name]))
        .args(["--test", "it", "--", "fuzz_smoke"])
        .args(["--nocapture", "--test-threads", "1"])
        .env("FOREWORD_FUZZ_SECONDS", seconds.to_string());
    steps.run("fuzz", &mut command)?;
    steps.verdict()
}
