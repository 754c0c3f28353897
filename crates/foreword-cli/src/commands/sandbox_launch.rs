//! `foreword sandbox-launch`: confines its own process, then starts a program in it.

use std::ffi::OsString;

use clap::Args;

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Confine a process and start a program in it; started by the host
#[derive(Args, Debug)]
pub(crate) struct SandboxLaunchArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(
    _: &WorkspaceArg,
    args: &SandboxLaunchArgs,
    _: &Terminal,
) -> Result<(), CliError> {
    match foreword_sandbox::run_launcher(args.arguments.iter().cloned()) {
        Ok(code) => std::process::exit(code.into()),
        Err(error) => Err(CliError::usage(error.to_string())),
    }
}
