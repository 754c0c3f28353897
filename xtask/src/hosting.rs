//! `cargo xtask bench-host`: what the host costs a turn, an action, and with 200 sessions at once. Fails if memory is
//! not flat within 5% from the first minute to the end.

use crate::error::TaskError;
use crate::steps::{Steps, cargo, target};

/// Measures everything, or, for so many minutes, only many sessions at once.
pub(crate) fn run(steps: &mut Steps, minutes: Option<u64>) -> Result<(), TaskError> {
    let example = ["--profile", "profiling", "-p", "foreword-host", "--example", "host_speed"];
    steps.run("build", cargo().arg("build").args(example))?;
    steps.verdict()?;
    let mut measure = std::process::Command::new(target().join("profiling/examples/host_speed"));
    // What docs/host.md tells programs with many sessions to do. Without it, each of the C library's heaps grows
    // for minutes to the most it ever holds at once.
    if std::env::var_os("MALLOC_ARENA_MAX").is_none() {
        measure.env("MALLOC_ARENA_MAX", "2");
    }
    if let Some(minutes) = minutes {
        measure.arg("sessions").env("FOREWORD_BENCH_SECONDS", (minutes * 60).to_string());
    }
    steps.run("measure", &mut measure)?;
    steps.verdict()
}
