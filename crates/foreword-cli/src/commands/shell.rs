//! Completions and man pages, generated from the definition of the command line.

use std::path::Path;

use clap::CommandFactory;

use crate::args::Cli;
use crate::error::CliError;
use crate::terminal::Terminal;

pub(crate) fn completions(
    shell: clap_complete::Shell,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "foreword", &mut out);
    terminal.print(&String::from_utf8_lossy(&out))
}

pub(crate) fn man(directory: &Path, terminal: &Terminal) -> Result<(), CliError> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
        .map_err(|error| {
            CliError::usage(format!("cannot write man pages to {}: {error}", directory.display()))
        })?;
    terminal.say(&format!("man pages written to {}", directory.display()));
    Ok(())
}
