//! `cargo xtask bench-host`: what the host costs a turn, an action, and with 200 sessions at once.

use crate::error::TaskError;
use crate::steps::{Steps, cargo, target};

/// Measures everything, or, for so many minutes, only many sessions at once.
pub(crate) fn run(steps: &mut Steps, minutes: Option<u64>) -> Result<(), TaskError> {
    let example = ["--profile", "profiling", "-p", "foreword-host", "--example", "host_speed"];
    steps.run("build", cargo().arg("build").args(example))?;
    steps.verdict()?;
    let mut measure = std::process::Command::new(target().join("profiling/examples/host_speed"));
    if let Some(minutes) = minutes {
        measure.arg("sessions").env("FOREWORD_BENCH_SECONDS", (minutes * 60).to_string());
    }
    steps.run("measure", &mut measure)?;
    steps.verdict()
}
