//! `foreword agent`: the part of an agent that the host starts inside a sandbox.

use std::io;

use clap::Args;
use foreword_agent::Surroundings;

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Run the sandboxed part of an agent; started by the host
#[derive(Args, Debug)]
pub(crate) struct AgentArgs {}

pub(crate) fn run(_: &WorkspaceArg, _: &AgentArgs, _: &Terminal) -> Result<(), CliError> {
    close_to_others()?;
    let surroundings =
        Surroundings { variables: std::env::vars_os().collect(), temp_dir: std::env::temp_dir() };
    let outcome = foreword_agent::run(io::stdin().lock(), &mut io::stdout(), &surroundings);
    // The host got any error as an event.
    std::process::exit(outcome.exit_code().into());
}

/// See [`foreword_agent::close_to_others`].
pub(crate) fn close_to_others() -> Result<(), CliError> {
    foreword_agent::close_to_others().map_err(|error| {
        CliError::internal(format!("cannot protect this process from other processes: {error}"))
    })
}
