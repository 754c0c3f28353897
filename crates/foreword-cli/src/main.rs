//! The `foreword` command. It holds no logic another front end would need: arguments in, results and
//! errors out.

mod args;
mod commands;
mod embedders;
mod error;
mod hosting;
mod inputs;
mod interrupts;
mod person;
mod progress;
mod screen;
mod terminal;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{Cli, Command, EvalCommand};
use crate::error::CliError;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            if let Some(hint) = slip(&error) {
                Terminal { json: false, quiet: false }.say(&hint);
            }
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { 0 } else { 2 });
        }
    };
    let terminal = Terminal { json: cli.global.json, quiet: cli.global.quiet };
    if cli.global.verbose > 0 {
        trace(cli.global.verbose);
    }
    match run(&cli, &terminal) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// What a word too many was probably meant to be.
fn slip(error: &clap::Error) -> Option<String> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    if word.starts_with('-') {
        None
    } else if usage.contains("foreword run") {
        Some("hint: what to say to the agent goes behind -m: `foreword run -m \"…\"`".to_owned())
    } else if Path::new(word).is_dir() {
        Some(format!("hint: a workspace is named with -w: `-w {word}`"))
    } else {
        Some("hint: a task of several words goes in quotes".to_owned())
    }
}

fn run(cli: &Cli, terminal: &Terminal) -> Result<(), CliError> {
    let workspace = cli.global.workspace.as_path();
    match &cli.command {
        Command::Init(args) => commands::init::run(workspace, args, terminal),
        Command::Build(args) => commands::build::run(workspace, args, terminal),
        Command::Explain(args) => commands::explain::run(workspace, args, terminal),
        Command::Diff(args) => commands::diff::run(args, terminal),
        Command::Lint(args) => commands::lint::run(workspace, args, terminal),
        Command::Skill(command) => commands::skill::run(workspace, command, terminal),
        Command::Memory(command) => commands::memory::run(workspace, command, terminal),
        Command::Audit(command) => commands::audit::run(workspace, command, terminal),
        Command::Model(command) => commands::model::run(command, terminal),
        Command::Eval(EvalCommand::Speed(args)) => commands::speed::run(args, terminal),
        Command::Eval(EvalCommand::Screen(args)) => commands::screen_eval::run(args, terminal),
        Command::Index(args) => commands::index::run(workspace, args, terminal),
        Command::Eval(EvalCommand::Assemble(args)) => {
            commands::eval_assemble::run(workspace, args, terminal)
        }
        Command::Eval(EvalCommand::Run(args)) => commands::eval_run::run(workspace, args, terminal),
        Command::Eval(EvalCommand::Retrieval(args)) => {
            commands::retrieval_eval::run(args, terminal)
        }
        Command::Eval(EvalCommand::Injection(args)) => {
            commands::eval_injection::run(args, terminal)
        }
        Command::Scan(args) => commands::scan::run(args, terminal),
        Command::Run(args) => commands::run::run(workspace, args, terminal),
        Command::Chat(args) => commands::chat::run(workspace, args, terminal),
        Command::Session(command) => commands::session::run(workspace, command, terminal),
        Command::Schedule(command) => commands::schedule::run(workspace, command, terminal),
        Command::Approve(args) => commands::approve::run(workspace, args, terminal),
        Command::Mcp(args) => commands::mcp::run(workspace, args, terminal),
        Command::Schema { action } => commands::schema::run(action.as_deref(), terminal),
        Command::Agent => commands::agent::run(),
        Command::SandboxLaunch { args } => commands::agent::launch(args),
        Command::Serve(_) => commands::serve::run(workspace),
        Command::Completions { shell } => commands::shell::completions(*shell, terminal),
        Command::Man { directory } => commands::shell::man(directory, terminal),
    }
}

/// Shows tracing events on standard error.
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
