//! The top of the command line: the flags that every command accepts, and the commands.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::commands::Command;

/// Compile system prompts for AI agents
///
/// Foreword builds prompts from files, skills, memories, tools and runtime facts. A prompt fits its token budget, is
/// reproducible byte for byte, and fences untrusted text. A manifest shows where every byte came from.
#[derive(Parser, Debug)]
#[command(
    name = "foreword",
    version,
    propagate_version = true,
    subcommand_required = true,
    after_help = "\
Examples:
  foreword init my-agent                      Create a workspace
  foreword build -w my-agent \"plan my week\"   Print the prompt for a task
  foreword explain -w my-agent                Show the source and token cost of each section

Exit codes: 0 success; 1 a check failed; 2 invalid usage, settings or input; 3 internal error"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Doc comments on flattened structs replace the description of the command, so these have none.
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Workspace directory [default: the nearest one at or above the current directory]
    #[arg(short, long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Suppress everything except the result
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Log to standard error; repeat for more detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}
