//! Running commands one after the other, each with its name, its outcome and its time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::TaskError;

/// The steps of a task so far.
pub(crate) struct Steps {
    started: Instant,
    done: Vec<Done>,
    output: Output,
}

/// When the output of a step is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    /// As it comes.
    Live,
    /// When the step has ended, so that it does not mix with that of other steps.
    Whole,
}

struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), done: Vec::new(), output: Output::Live }
    }

    /// Steps that run beside others.
    pub(crate) fn beside_others() -> Self {
        Self { output: Output::Whole, ..Self::new() }
    }

    /// Runs a command with its output shown. A failure is recorded, not returned, so that one run
    /// shows everything that is wrong; [`Steps::verdict`] turns it into an error.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        command: &mut Command,
    ) -> Result<(), TaskError> {
        let heading = format!("\n==> {name}: {}", command_line(command));
        let failed = TaskError::io(format!("cannot start {}", command_line(command)));
        let started = Instant::now();
        command.current_dir(root());
        let status = match self.output {
            Output::Live => {
                eprintln!("{heading}");
                command.status().map_err(failed)?
            }
            Output::Whole => {
                let output = command.stdin(Stdio::null()).output().map_err(failed)?;
                let said = [output.stdout, output.stderr].concat();
                eprintln!("{heading}\n{}", String::from_utf8_lossy(&said).trim_end());
                output.status
            }
        };
        let took = started.elapsed();
        let outcome = if status.success() { Outcome::Passed } else { Outcome::Failed };
        self.done.push(Done { name, outcome, took });
        Ok(())
    }

    /// Adds steps that were done at the same time.
    pub(crate) fn add(&mut self, others: Self) {
        self.done.extend(others.done);
    }

    /// Records a step that failed in another way than by its exit code.
    pub(crate) fn fail(&mut self, name: &'static str) {
        self.done.push(Done { name, outcome: Outcome::Failed, took: Duration::ZERO });
    }

    /// Reports that a step is skipped, and why.
    pub(crate) fn skip(&mut self, name: &'static str, why: &str) {
        eprintln!("\n==> {name}: skipped: {why}");
        self.done.push(Done { name, outcome: Outcome::Skipped, took: Duration::ZERO });
    }

    /// An error if a step has failed.
    pub(crate) fn verdict(&self) -> Result<(), TaskError> {
        let failed = self.done.iter().filter(|done| done.outcome == Outcome::Failed);
        let steps: Vec<String> = failed.map(|done| done.name.to_owned()).collect();
        if steps.is_empty() {
            return Ok(());
        }
        self.report();
        Err(TaskError::Failed { steps })
    }

    /// The times, in one line so that the test runner's own summary stays in sight above it.
    pub(crate) fn report(&self) {
        let times: Vec<String> = self
            .done
            .iter()
            .map(|done| match done.outcome {
                Outcome::Passed => format!("{} {:.1} s", done.name, done.took.as_secs_f64()),
                Outcome::Failed => format!("{} FAILED", done.name),
                Outcome::Skipped => format!("{} skipped", done.name),
            })
            .collect();
        if !times.is_empty() {
            let total = self.started.elapsed().as_secs_f64();
            eprintln!("\n==> {}; {total:.1} s in total", times.join(", "));
        }
    }
}

/// Cargo, the one that runs this task.
pub(crate) fn cargo() -> Command {
    let mut cargo =
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // Cargo tells this program about its own package. Build scripts (that of ring) would see it as a change, and
    // all that depends on them would be compiled again after every `cargo build` by hand.
    for (name, _) in std::env::vars_os() {
        let own = name.to_string_lossy();
        if own.starts_with("CARGO_PKG_") || own.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// Is a cargo subcommand installed?
pub(crate) fn has_cargo_command(name: &str) -> bool {
    succeeds(cargo().args([name, "--version"]))
}

/// Whether a command succeeds. Its output is discarded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// Where builds go, and what tasks install.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let settings = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}=\"{}\" ", name.to_string_lossy(), value?.to_string_lossy()))
    });
    settings.collect::<String>() + &words.join(" ")
}
