//! `foreword man`: generated from the definition of the command line.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Write man pages
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Directory to write to
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(_: &WorkspaceArg, args: &ManArgs, terminal: &Terminal) -> Result<(), CliError> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
        .map_err(|error| {
            CliError::usage(format!("cannot write man pages to {}: {error}", directory.display()))
        })?;
    terminal.say(&format!("man pages written to {}", directory.display()));
    Ok(())
}
