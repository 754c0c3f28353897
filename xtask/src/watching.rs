//! `cargo xtask bench-watch`: what the recording proxy adds to a call.

use crate::error::TaskError;
use crate::steps::{Steps, cargo, target};

pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    let example = ["--profile", "profiling", "-p", "foreword-watch", "--example", "watch_speed"];
    steps.run("build", cargo().arg("build").args(example))?;
    steps.verdict()?;
    let mut measure = std::process::Command::new(target().join("profiling/examples/watch_speed"));
    steps.run("measure", &mut measure)?;
    steps.verdict()
}
