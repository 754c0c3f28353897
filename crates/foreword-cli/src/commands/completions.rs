//! `foreword completions`: generated from the definition of the command line.

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Print a shell completion script
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword completions bash > ~/.local/share/bash-completion/completions/foreword
  foreword completions fish > ~/.config/fish/completions/foreword.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to generate for
    shell: clap_complete::Shell,
}

pub(crate) fn run(
    _: &WorkspaceArg,
    args: &CompletionsArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "foreword", &mut out);
    terminal.print(&String::from_utf8_lossy(&out))
}
