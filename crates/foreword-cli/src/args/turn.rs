//! Which session to run, and how its agent runs.

use std::path::PathBuf;

use clap::Args;
use foreword::{ModeChoice, RunnerKind, SandboxChoice};

use super::{MessageArgs, named};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TurnArgs {
    /// Session to continue, or the name of a new one
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Agent to run: a folder in agents/
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// User whose USER.md to include
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Program that runs the agent loop
    #[arg(long, value_name = "NAME", value_parser = named::<RunnerKind>())]
    pub(crate) runner: Option<RunnerKind>,
    /// Model to call
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Work mode: plan, act, review or auto
    #[arg(long, value_name = "MODE", value_parser = named::<ModeChoice>())]
    pub(crate) mode: Option<ModeChoice>,
    #[command(flatten)]
    pub(crate) message: MessageArgs,
    /// Sandbox to run the agent in
    #[arg(long, value_name = "NAME", value_parser = named::<SandboxChoice>())]
    pub(crate) sandbox: Option<SandboxChoice>,
    /// Working directory of the agent, inside the workspace
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Trust the workspace in its current state without asking
    #[arg(long)]
    pub(crate) trust: bool,
}
