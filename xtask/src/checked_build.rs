//! `cargo xtask test --check`: Clippy and rustdoc look at our crates while these are compiled for the tests.
//!
//! `cargo clippy` and `cargo doc` compile everything a second time, in a way that tests cannot use. Here this
//! program stands in for rustc and rustdoc instead, through a copy of itself: compiling a crate of ours goes
//! through Clippy, and running a crate's doc tests writes its pages first. Warnings are errors in both. Crates
//! without doc tests (the command line, the two bindings) have their pages checked by `cargo xtask check` alone.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::error::TaskError;
use crate::steps::{cargo, succeeds, target};

/// What the copy is called, and how it knows what it is.
const NAME: &str = "checked-build";

/// Cargo that checks what it compiles.
pub(crate) struct CheckedBuild {
    program: PathBuf,
}

impl CheckedBuild {
    /// Copies this program: the build replaces its file while it runs.
    pub(crate) fn new() -> Result<Self, TaskError> {
        if !succeeds(Command::new("clippy-driver").arg("--version")) {
            return Err(TaskError::usage(
                "Clippy is not installed (`rustup component add clippy`)",
            ));
        }
        let own = std::env::current_exe().map_err(TaskError::io("this program"))?;
        let program = target().join("tools").join(NAME);
        crate::bindings::copy(&own, &program)?;
        Ok(Self { program })
    }

    /// Cargo, with its compilers replaced.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = cargo();
        cargo.env("RUSTC_WORKSPACE_WRAPPER", &self.program).env("RUSTDOC", &self.program);
        cargo
    }
}

/// Does the work of a compiler if cargo calls this program for one.
pub(crate) fn stand_in() -> Option<ExitCode> {
    let own = std::env::current_exe().ok()?;
    own.file_stem().filter(|name| *name == NAME)?;
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo gives a wrapper of rustc the path of rustc first.
    let wraps_rustc = args
        .first()
        .is_some_and(|first| PathBuf::from(first).file_stem() == Some(OsStr::new("rustc")));
    let done = if wraps_rustc {
        run(Command::new("clippy-driver").args(&args).args(["-D", "warnings"]))
    } else {
        let pages = pages_of(&args);
        let written = pages.is_none_or(|args| run(Command::new("rustdoc").args(args)));
        written && run(Command::new("rustdoc").args(&args))
    };
    Some(ExitCode::from(u8::from(!done)))
}

fn run(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot start {}: {error}", command.get_program().display());
            false
        }
    }
}

/// The arguments that write the pages of a crate, from those that run its doc tests.
fn pages_of(args: &[OsString]) -> Option<Vec<OsString>> {
    args.iter().find(|word| *word == "--test")?;
    let mut pages = Vec::with_capacity(args.len() + 4);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--test") => {}
            Some(
                "--test-run-directory" | "--test-args" | "--test-runtool" | "--test-runtool-arg",
            ) => {
                words.next();
            }
            _ => pages.push(word.clone()),
        }
    }
    pages.extend(["-D", "warnings", "-o"].map(OsString::from));
    pages.push(target().join("doc").into());
    Some(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_written_with_what_doc_tests_are_given() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let tests = "--crate-name a --test src/lib.rs --test-run-directory /a --extern b=b.rlib";
        let pages = pages_of(&words(tests)).unwrap_or_default();
        let start = words("--crate-name a src/lib.rs --extern b=b.rlib -D warnings -o");
        assert_eq!(pages.split_last().map(|(_, start)| start), Some(&*start));
        assert_eq!(pages_of(&words("--version")), None);
    }
}
