//! `cargo xtask test`: every test, on a machine with Rust and nothing else.
//!
//! Where there is Python, the reference validator of skills and the package of the full model are
//! installed and compared with ours; where there is Node.js, real MCP clients and agents are installed
//! and run with ours.

use std::path::PathBuf;

use crate::error::TaskError;
use crate::programs;
use crate::reference;
use crate::steps::{Steps, cargo, has_cargo_command};

/// Runs them all. The tests bring everything they need: property tests and the fuzz harness are
/// ordinary tests, and end-to-end tests build the binary they run.
pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    let installed = tools(steps)?;
    let cargo = || {
        let mut cargo = cargo();
        cargo.envs(installed.iter().map(|(name, path)| (name, path)));
        cargo
    };
    if has_cargo_command("nextest") {
        // The doc tests first: cargo-nextest cannot run them, and its summary should end the output.
        steps.run("doc tests", cargo().args(["test", "--workspace", "--doc", "--no-fail-fast"]))?;
        steps.run("tests", cargo().args(["nextest", "run", "--workspace", "--no-fail-fast"]))?;
    } else {
        eprintln!("cargo-nextest is not installed; `cargo test` does the same, more slowly");
        steps.run("tests", cargo().args(["test", "--workspace", "--no-fail-fast"]))?;
    }
    steps.verdict()
}

/// Installs what tests compare ours with or run beside it, and tells the variables that name it.
pub(crate) fn tools(steps: &mut Steps) -> Result<Vec<(&'static str, PathBuf)>, TaskError> {
    let mut installed = reference::install(steps);
    installed.extend(programs::install(steps)?);
    Ok(installed)
}
