//! The `foreword` command: arguments in, results and errors out. Logic that another front end would need
//! is in the other crates.
//!
//! It is a library for the wheel, where the program and the Python extension share their code.

mod args;
mod cli;
mod commands;
mod embedders;
mod error;
mod hint;
mod hosting;
mod inputs;
mod interrupts;
mod json;
mod lock;
mod markdown;
mod migrate;
mod page_file;
mod pager;
mod program;
mod progress;
mod review;
mod status_line;
mod terminal;
mod tool_line;
mod trust_question;
mod turn_printer;
mod user_env;
mod workspace_arg;

use std::path::PathBuf;

use clap::Parser;
use clap::error::ErrorKind;

use foreword_store::storage_warning;
use foreword_workspace::{DATABASE_FILE, PRIVATE_DIR};

use crate::cli::Cli;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Runs the command line of this process and returns its exit code.
///
/// `library` is the file with this code, if the program loads it: agents need it to start the program in
/// their sandbox.
#[must_use]
pub fn main(library: Option<PathBuf>) -> u8 {
    program::set_library(library);
    #[cfg(feature = "external-table")]
    if let Ok(program) = std::env::current_exe() {
        foreword_embed::set_table_file(program.with_file_name("static.bin"));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            if let Some(hint) = hint::hint_for(&error) {
                Terminal { json: false, quiet: false }.say(&hint);
            }
            let requested =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if requested { 0 } else { 2 };
        }
    };
    let terminal = Terminal { json: cli.global.json, quiet: cli.global.quiet };
    if cli.global.verbose > 0 {
        trace(cli.global.verbose);
    }
    let workspace = WorkspaceArg::new(cli.global.workspace);
    let database = workspace.find_or_here().join(PRIVATE_DIR).join(DATABASE_FILE);
    if database.exists()
        && let Some(warning) = storage_warning(&database)
    {
        terminal.warn(&format!("{warning}; {}", warning.hint()));
    }
    match cli.command.run(&workspace, &terminal) {
        Ok(()) => 0,
        Err(error) => {
            terminal.error(&error);
            error.kind.exit_code()
        }
    }
}

/// Prints tracing events to standard error.
fn trace(verbose: u8) {
    let level = match verbose {
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(terminal::colours_stderr())
        .with_target(false)
        .without_time()
        .init();
}
