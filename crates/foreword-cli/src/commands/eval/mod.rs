//! `foreword eval`: evaluations and benchmarks.

mod assemble;
mod folders;
mod injection;
mod memory;
mod retrieval;
mod run;
mod screen;
mod speed;
mod tool_pool;
mod tools;

use clap::Subcommand;

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Run evaluations and benchmarks
#[derive(Subcommand, Debug)]
pub(crate) enum EvalCommand {
    Run(run::EvalRunArgs),
    Assemble(Box<assemble::EvalAssembleArgs>),
    Retrieval(retrieval::EvalRetrievalArgs),
    Tools(tools::EvalToolsArgs),
    Memory(memory::EvalMemoryArgs),
    Injection(injection::EvalInjectionArgs),
    Screen(screen::EvalScreenArgs),
    Speed(speed::EvalSpeedArgs),
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &EvalCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match command {
        EvalCommand::Run(args) => run::run(&workspace.find()?, args, terminal),
        EvalCommand::Assemble(args) => assemble::run(&args.source.root(workspace)?, args, terminal),
        EvalCommand::Retrieval(args) => retrieval::run(args, terminal),
        EvalCommand::Tools(args) => tools::run(args, terminal),
        EvalCommand::Memory(args) => memory::run(args, terminal),
        EvalCommand::Injection(args) => injection::run(args, terminal),
        EvalCommand::Screen(args) => screen::run(args, terminal),
        EvalCommand::Speed(args) => speed::run(args, terminal),
    }
}

/// A share with three decimals; a dash if it was not measured.
fn format_share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"))
}

/// A 95% interval with three decimals; a dash if there is none.
fn format_interval(interval: Option<&[f64; 2]>) -> String {
    interval.map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:.3}-{high:.3}"))
}
