//! `cargo xtask bench-host`: what the host costs a turn, an action, and with 200 sessions at once.

use crate::error::TaskError;
use crate::steps::{Steps, cargo, target};

pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    let example = ["--profile", "profiling", "-p", "foreword-host", "--example", "host_speed"];
    steps.run("build", cargo().arg("build").args(example))?;
    steps.verdict()?;
    let mut measure = std::process::Command::new(target().join("profiling/examples/host_speed"));
    steps.run("measure", &mut measure)?;
    steps.verdict()
}
