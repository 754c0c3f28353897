//! Developer tasks: `cargo xtask <task>`. Nothing here ships to users.
//!
//! It must not hold anything that the product needs, and it needs nothing but Rust for `test`, where
//! what wants another tool is left out with a word: a task that cannot do without says which one, and
//! how to get it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer tool talks to a terminal"
)]

mod assembly;
mod check;
mod error;
mod fuzz;
mod hosting;
mod peers;
mod programs;
mod reference;
mod steps;
mod test;

use std::process::ExitCode;

use crate::error::TaskError;
use crate::steps::Steps;

const HELP: &str = "\
Developer tasks of Foreword.

Usage: cargo xtask <TASK>

Tasks:
  test                    run every test: unit, property, fuzz harness, end to end, documentation
  tools                   install what the tests use beside Rust, and print where it is
  check                   formatting, Clippy with warnings denied, docs, licences
  ci                      check, then test
  fuzz [--seconds N]      run the fuzz harness for longer (60 seconds unless told) on this toolchain
  bench-peers [--seed FILE] [--json]
                          our builder beside others, in one run; needs node and npm
  bench-assembly          what a selection costs: from process start, and warm
  bench-host              what the host costs: a turn, an action, 200 sessions at once; needs bwrap
  help                    this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(words: &[&str]) -> Result<(), TaskError> {
    let mut steps = Steps::new();
    match words {
        ["test"] => test::run(&mut steps)?,
        ["tools"] => {
            for (name, path) in test::tools(&mut steps)? {
                println!("{name}={}", path.display());
            }
        }
        ["check"] => check::run(&mut steps)?,
        ["ci"] => {
            let checked = check::run(&mut steps);
            test::run(&mut steps)?;
            checked?;
        }
        ["fuzz"] => fuzz::run(&mut steps, fuzz::DEFAULT_SECONDS)?,
        ["fuzz", "--seconds", seconds] => {
            let seconds = seconds
                .parse()
                .map_err(|_| TaskError::usage(format!("`{seconds}` is not a number of seconds")))?;
            fuzz::run(&mut steps, seconds)?;
        }
        ["bench-peers", options @ ..] => {
            return peers::run(&mut steps, &peer_options(options)?);
        }
        ["bench-assembly"] => return assembly::run(&mut steps),
        ["bench-host"] => return hosting::run(&mut steps),
        [] | ["help" | "--help" | "-h", ..] => {
            print!("{HELP}");
            return Ok(());
        }
        other => {
            return Err(TaskError::usage(format!("`cargo xtask {}` is no task", other.join(" "))));
        }
    }
    steps.report();
    Ok(())
}

fn peer_options(mut words: &[&str]) -> Result<peers::Options, TaskError> {
    let mut options = peers::Options::default();
    loop {
        words = match words {
            [] => return Ok(options),
            ["--json", rest @ ..] => {
                options.json = true;
                rest
            }
            ["--seed", file, rest @ ..] => {
                options.seed = Some((*file).into());
                rest
            }
            [other, ..] => {
                return Err(TaskError::usage(format!("bench-peers does not take `{other}`")));
            }
        };
    }
}
