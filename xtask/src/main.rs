//! Developer tasks: `cargo xtask <task>`. Nothing here ships to users.
//!
//! It must not hold anything that the product needs. `test` needs only Rust: it installs the other
//! programs it can, and skips the tests of those it cannot, with the reason. Every other task that
//! needs a program says which one, and how to get it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer tool talks to a terminal"
)]

mod assembly;
mod attack;
mod bindings;
mod book;
mod check;
mod checked_build;
mod dist;
mod error;
mod figures;
mod fuzz;
mod fuzz_targets;
mod hosting;
mod peers;
mod pictures;
mod programs;
mod reference;
mod release;
mod steps;
mod test;
mod types;
mod watching;

use std::process::ExitCode;

use crate::dist::Effort;
use crate::error::TaskError;
use crate::steps::Steps;
use crate::test::Installing;

const HELP: &str = "\
Developer tasks of Foreword.

Usage: cargo xtask <TASK>

Tasks:
  test [--check | --no-install]
                          Run every test: unit, property, fuzz harness, end to end, documentation.
                          Lists and installs the programs the tests use, unless --no-install is given;
                          with --check, everything of `check` too, in the same build
  tools                   Install the programs the tests use, and print where they are
  check                   Check formatting, Clippy with warnings denied, docs and licences
  bindings [--core]       Build the Python and Node packages and run their tests; with --core, those of
                          `test`, without the large frameworks
  dist [--zig | --quick | --dev]
                          Make the tarball, the wheel and the npm packages in target/packages, and try each
                          in an empty place; --zig for glibc 2.17, --quick and --dev for trying
  book                    Check the links of the book in docs/, and build it into target/book
  pictures                Draw the pictures of the book from their descriptions
  release --dry-run [--quick]
                          Check everything that must hold before a version is published; publishes nothing.
                          --quick packages a development build
  types                   Write the types of the Python and Node packages from schemas/
  fuzz [--seconds N]      Run the fuzz harness on this toolchain (default: 60 seconds)
  fuzz --targets [--seconds N] [NAME...]
                          Run the coverage-guided targets (default: 120 seconds each); needs
                          cargo-fuzz
  attack [--turns N] [--seed S]
                          Run the scripted adversary (default: 10000 turns) and write its report
  bench-peers [--seed FILE] [--json]
                          Compare our builder with others in one run; needs node and npm
  bench-bindings          Measure builds from Python and Node; needs python3 and node
  bench-assembly          Measure a selection: from process start, and warm
  bench-host [--minutes N]
                          Measure the host: a turn, an action, 200 sessions at once; needs bwrap.
                          With --minutes, only the memory of 200 sessions at once, for that long
  bench-watch             Measure the recording proxy: time to first byte, 200 streams, 64 MB bodies
  help                    Print this text
";

fn main() -> ExitCode {
    if let Some(done) = checked_build::stand_in() {
        return done;
    }
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
        ["test"] => test::run(&mut steps, Installing::Allowed)?,
        ["test", "--no-install"] => test::run(&mut steps, Installing::Forbidden)?,
        ["test", "--check"] => test::run_checked(&mut steps)?,
        ["tools"] => {
            for (name, path) in test::tools(&mut steps, Installing::Allowed)? {
                println!("{name}={}", path.display());
            }
        }
        ["check"] => check::run(&mut steps)?,
        ["fuzz"] => fuzz::run(&mut steps, fuzz::DEFAULT_SECONDS)?,
        ["fuzz", "--seconds", seconds] => {
            fuzz::run(&mut steps, number(seconds)?)?;
        }
        ["fuzz", "--targets", "--seconds", seconds, only @ ..] => {
            fuzz_targets::run(&mut steps, number(seconds)?, only)?;
        }
        ["fuzz", "--targets", only @ ..] => fuzz_targets::run(&mut steps, 120, only)?,
        ["attack", options @ ..] => {
            let (turns, seed) = attack_options(options)?;
            attack::run(&mut steps, turns, seed)?;
        }
        ["bench-peers", options @ ..] => {
            return peers::run(&mut steps, &peer_options(options)?);
        }
        ["book"] => book::run(&mut steps)?,
        ["pictures"] => return pictures::run(),
        ["types"] => return types::run(),
        ["bindings"] => bindings::run(&mut steps)?,
        ["bindings", "--core"] => {
            bindings::run_core(&mut steps, Installing::Allowed, &steps::cargo)?;
            steps.verdict()?;
        }
        ["bench-bindings"] => bindings::bench(&mut steps)?,
        ["dist"] => dist::run(&mut steps, Effort::Full, false)?,
        ["dist", "--zig"] => dist::run(&mut steps, Effort::Full, true)?,
        ["dist", "--quick"] => dist::run(&mut steps, Effort::Quick, false)?,
        ["dist", "--dev"] => dist::run(&mut steps, Effort::Dev, false)?,
        ["release", "--dry-run"] => return release::run(Effort::Full),
        ["release", "--dry-run", "--quick"] => return release::run(Effort::Dev),
        ["release", ..] => {
            return Err(TaskError::usage(
                "release needs --dry-run: a person publishes, by the checklist in CONTRIBUTING.md",
            ));
        }
        ["bench-assembly"] => return assembly::run(&mut steps),
        ["bench-host"] => return hosting::run(&mut steps, None),
        ["bench-host", "--minutes", minutes] => {
            return hosting::run(&mut steps, Some(number(minutes)?));
        }
        ["bench-watch"] => return watching::run(&mut steps),
        [] | ["help" | "--help" | "-h", ..] => {
            print!("{HELP}");
            return Ok(());
        }
        other => {
            return Err(TaskError::usage(format!(
                "unknown task `{}`; run `cargo xtask help` for the list",
                other.join(" ")
            )));
        }
    }
    steps.report();
    Ok(())
}

fn number(text: &str) -> Result<u64, TaskError> {
    text.parse().map_err(|_| TaskError::usage(format!("`{text}` is not a whole number")))
}

/// How many turns, and which seed.
fn attack_options(mut words: &[&str]) -> Result<(u64, u64), TaskError> {
    let (mut turns, mut seed) = (attack::DEFAULT_TURNS, attack::DEFAULT_SEED);
    loop {
        words = match words {
            [] => return Ok((turns, seed)),
            ["--turns", count, rest @ ..] => {
                turns = number(count)?;
                rest
            }
            ["--seed", given, rest @ ..] => {
                seed = number(given)?;
                rest
            }
            [other, ..] => return Err(TaskError::usage(format!("attack does not take `{other}`"))),
        };
    }
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
