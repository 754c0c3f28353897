//! `cargo xtask test`: every test, on a machine with Rust and nothing else.
//!
//! Some tests compare ours with reference implementations from PyPI or run real clients and agents from
//! npm in a real sandbox. What is missing is listed, then installed by name; `--no-install` runs with
//! what is there. Tests whose program is missing are skipped and counted.

use std::path::PathBuf;
use std::process::Command;

use crate::bindings;
use crate::check;
use crate::checked_build::CheckedBuild;
use crate::error::TaskError;
use crate::programs;
use crate::reference;
use crate::steps::{Steps, cargo, has_cargo_command, target};

/// Whether a task may install programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Installing {
    Allowed,
    Forbidden,
}

/// Runs them all: property tests and the fuzz harness are ordinary tests, and end-to-end tests build the
/// binary they run.
pub(crate) fn run(steps: &mut Steps, installing: Installing) -> Result<(), TaskError> {
    run_with(steps, installing, &cargo)
}

/// Runs them all and makes the checks of `cargo xtask check`, with one build for both.
pub(crate) fn run_checked(steps: &mut Steps) -> Result<(), TaskError> {
    check::without_building(steps)?;
    let checks = CheckedBuild::new()?;
    let checking = || checks.cargo();
    run_with(steps, Installing::Allowed, &checking)?;
    // The tests build everything else.
    steps.run("benches", checking().args(["build", "--workspace", "--benches"]))?;
    steps.verdict()
}

fn run_with(
    steps: &mut Steps,
    installing: Installing,
    cargo: &(dyn Fn() -> Command + Sync),
) -> Result<(), TaskError> {
    let skipped = target().join("skipped-tests.tsv");
    let _ = std::fs::remove_file(&skipped);
    let has_nextest = has_cargo_command("nextest");
    // Downloads wait for the network, and doc tests need none of them.
    let installed = std::thread::scope(|scope| {
        let installer = scope.spawn(|| {
            let mut steps = Steps::beside_others();
            (tools(&mut steps, installing), steps)
        });
        if has_nextest {
            // cargo-nextest cannot run doc tests, and its summary should end the output.
            let doc = ["test", "--workspace", "--doc", "--no-fail-fast"];
            steps.run("doc tests", cargo().args(doc))?;
        }
        let (installed, own) =
            installer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        steps.add(own);
        installed
    })?;
    let mut tests = cargo();
    tests.envs(installed.iter().map(|(name, path)| (name, path)));
    tests.env("FOREWORD_SKIPPED_TESTS", &skipped);
    // The packages need what the tests compile, and both wait for other processes much of the time.
    std::thread::scope(|scope| {
        let packages = scope.spawn(|| {
            let mut steps = Steps::beside_others();
            (bindings::run_core(&mut steps, installing, cargo), steps)
        });
        if has_nextest {
            let threads = format!("--test-threads={}", test_threads());
            steps.run("tests", tests.args(["nextest", "run", "--workspace", &threads]))?;
        } else {
            eprintln!("cargo-nextest is not installed; `cargo test` does the same, more slowly");
            steps.run("tests", tests.args(["test", "--workspace", "--no-fail-fast"]))?;
        }
        let (tested, own) =
            packages.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        steps.add(own);
        tested
    })?;
    eprintln!("{}", skipped_tests(&std::fs::read_to_string(&skipped).unwrap_or_default()));
    steps.verdict()
}

/// More than the machine has cores: many tests wait for a process that they started.
fn test_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores + cores.div_ceil(2)
}

/// What `foreword_testing::skip` wrote: a line per test with its requirement and the reason.
fn skipped_tests(report: &str) -> String {
    let tests: std::collections::BTreeSet<&str> = report.lines().collect();
    let mut text = format!("{} tests skipped", tests.len());
    for line in tests {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (test, requirement, reason) = (next(), next(), next());
        text.push_str(&format!("\n  {test}: needs {requirement}: {reason}"));
    }
    text
}

/// Installs what the tests use, and returns the environment variables that name it.
pub(crate) fn tools(
    steps: &mut Steps,
    installing: Installing,
) -> Result<Vec<(&'static str, PathBuf)>, TaskError> {
    let missing: Vec<String> =
        [reference::missing(), programs::missing(), bindings::missing()].concat();
    if !missing.is_empty() {
        let verb = match installing {
            Installing::Allowed => "installing",
            Installing::Forbidden => "not installing (--no-install)",
        };
        eprintln!("==> tools: {verb}:");
        missing.iter().for_each(|what| eprintln!("      {what}"));
    }
    let mut installed = reference::install(steps, installing);
    installed.extend(programs::install(steps, installing)?);
    bindings::install(steps, installing)?;
    Ok(installed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_counted_with_their_reasons() {
        assert_eq!(skipped_tests(""), "0 tests skipped");
        let report = "b::two\tbwrap\tnot installed\na::one\tpi\tnot installed\n";
        assert_eq!(
            skipped_tests(report),
            "2 tests skipped\n  a::one: needs pi: not installed\n  b::two: needs bwrap: not installed"
        );
    }
}
