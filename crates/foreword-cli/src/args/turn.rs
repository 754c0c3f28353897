//! Which session to run, and how its agent runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
pub(crate) enum RunnerName {
    /// Foreword's own agent loop
    Native,
    /// The `claude` command
    ClaudeCode,
    /// The `pi` command
    Pi,
}

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
pub(crate) enum SandboxName {
    /// Strongest sandbox available
    Auto,
    /// Linux namespaces, with bubblewrap
    Bwrap,
    /// Linux namespaces, with nsjail
    Nsjail,
    /// Docker container
    Docker,
    /// macOS sandbox
    Seatbelt,
    /// Child process, with Landlock where the kernel supports it
    Subprocess,
}

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
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) runner: Option<RunnerName>,
    /// Model to call
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Sandbox to run the agent in
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) sandbox: Option<SandboxName>,
    /// Working directory of the agent, inside the workspace
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Trust the workspace in its current state without asking
    #[arg(long)]
    pub(crate) trust: bool,
}
