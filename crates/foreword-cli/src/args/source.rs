//! Where a prompt comes from, and the facts of its session.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::Args;
use foreword::{Profile, RunnerKind};
use foreword_serve::{AnyMode, Tokenizer};

use super::{MessageArgs, named};
use crate::error::CliError;
use crate::workspace_arg::WorkspaceArg;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SourceArgs {
    /// Task to build the prompt for
    #[arg(conflicts_with = "payload")]
    pub(crate) task: Option<String>,
    /// Agent to build for: a folder in agents/
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Blueprint: standard, guarded, semantic, roles, companion, or a .toml file
    #[arg(short, long, value_name = "NAME|FILE")]
    pub(crate) blueprint: Option<String>,
    /// Work mode (plan, act, review, auto) or prompt size (full, minimal, none); may be given once for each
    #[arg(short, long, value_name = "MODE", value_parser = AnyMode::from_str)]
    pub(crate) mode: Vec<AnyMode>,
    /// Read a complete Context as JSON, and no other file
    #[arg(long, value_name = "FILE|-", conflicts_with = "payload")]
    pub(crate) context: Option<PathBuf>,
    /// Read message, history and taint from a JSON payload; plain text is a message
    #[arg(long, value_name = "FILE|-")]
    pub(crate) payload: Option<PathBuf>,
    /// Token counter
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) tokenizer: Tokenizer,
    #[command(flatten)]
    pub(crate) message: MessageArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl SourceArgs {
    /// The workspace to build from. A complete Context needs none.
    pub(crate) fn root(&self, workspace: &WorkspaceArg) -> Result<PathBuf, CliError> {
        if self.context.is_some() {
            return Ok(workspace.directory().to_owned());
        }
        workspace.find()
    }
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionArgs {
    /// Build the prompt that `foreword run` with this runner sends; without it, build for your own agent loop
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<RunnerKind>(),
        conflicts_with_all = [
            "context", "payload", "blueprint", "channel", "profile", "taint_ratio", "taint_threshold",
            "context_window", "history_tokens", "reserved_tokens", "output_reserve", "max_prompt_tokens", "canary",
            "sub_agent",
        ]
    )]
    pub(crate) runner: Option<RunnerKind>,
    /// Session to build the next turn of, or the name of a new one
    #[arg(
        long = "session",
        value_name = "ID",
        conflicts_with_all = ["context", "payload", "taint_ratio", "canary"]
    )]
    pub(crate) id: Option<String>,
    /// External text that comes with the message: `mail=FILE`, or `mail=-` for standard input
    #[arg(long, value_name = "SOURCE=FILE", requires = "runner")]
    pub(crate) external: Vec<String>,
    /// User whose USER.md to include
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Model that reads the prompt
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Channel of the conversation
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Option<String>,
    /// Security profile
    #[arg(long, value_parser = named::<Profile>(), value_name = "paranoid|balanced|yolo")]
    pub(crate) profile: Option<Profile>,
    /// Sandbox the agent runs in
    #[arg(long, value_name = "NAME")]
    pub(crate) sandbox: Option<String>,
    /// Share of the session's tokens that came from external content, 0 to 1
    #[arg(long, value_name = "RATIO")]
    pub(crate) taint_ratio: Option<f64>,
    /// Taint ratio above which sensitive actions are refused, 0 to 1
    #[arg(long, value_name = "RATIO")]
    pub(crate) taint_threshold: Option<f64>,
    /// Context window of the model
    #[arg(long, value_name = "TOKENS")]
    pub(crate) context_window: Option<u64>,
    /// Size of the conversation so far
    #[arg(long, value_name = "TOKENS")]
    pub(crate) history_tokens: Option<u64>,
    /// Space to reserve for tool schemas and the current message
    #[arg(long, value_name = "TOKENS")]
    pub(crate) reserved_tokens: Option<u64>,
    /// Space to reserve for the answer
    #[arg(long, value_name = "TOKENS")]
    pub(crate) output_reserve: Option<u64>,
    /// Maximum size of the prompt
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_prompt_tokens: Option<u64>,
    /// Canary: a token that must never appear in output
    #[arg(long, value_name = "TOKEN")]
    pub(crate) canary: Option<String>,
    /// Current time in RFC 3339 [default: the system clock]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,
    /// Working directory of the agent; AGENTS.md files from there up to the root apply
    #[arg(long, value_name = "DIR", conflicts_with = "context")]
    pub(crate) cwd: Option<PathBuf>,
    /// Build for a sub-agent
    #[arg(long)]
    pub(crate) sub_agent: bool,
    /// Role of the parent agent
    #[arg(long, value_name = "ROLE", requires = "sub_agent")]
    pub(crate) parent_role: Option<String>,
    /// Objective of the sub-agent
    #[arg(long, value_name = "TEXT", requires = "sub_agent")]
    pub(crate) objective: Option<String>,
    /// ID of the sub-agent's task
    #[arg(long, value_name = "ID", requires = "sub_agent")]
    pub(crate) task_id: Option<String>,
}

pub(crate) fn parse_ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse::<f64>().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
