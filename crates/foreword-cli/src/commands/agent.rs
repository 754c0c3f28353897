//! `foreword agent` and `foreword sandbox-launch`: what the host starts, inside a sandbox.

use std::ffi::OsString;
use std::io;

use foreword_agent::Surroundings;

use crate::error::CliError;

pub(crate) fn run() -> Result<(), CliError> {
    close_to_others()?;
    let surroundings =
        Surroundings { variables: std::env::vars_os().collect(), temp_dir: std::env::temp_dir() };
    let outcome = foreword_agent::run(io::stdin().lock(), &mut io::stdout(), &surroundings);
    // What went wrong was told as an event.
    std::process::exit(outcome.exit_code().into());
}

/// See [`foreword_agent::close_to_others`].
pub(crate) fn close_to_others() -> Result<(), CliError> {
    foreword_agent::close_to_others().map_err(|error| {
        CliError::internal(format!("this process cannot be closed to others: {error}"))
    })
}

pub(crate) fn launch(args: &[OsString]) -> Result<(), CliError> {
    match foreword_sandbox::run_launcher(args.iter().cloned()) {
        Ok(code) => std::process::exit(code.into()),
        Err(error) => Err(CliError::usage(error.to_string())),
    }
}
