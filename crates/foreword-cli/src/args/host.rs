//! `foreword run`, `chat`, `session` and `approve`, as data.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use foreword::{RunnerKind, SandboxChoice};

use crate::args::named;

/// What a dry run shows.
#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
pub(crate) enum DryRun {
    /// The exact body of the first request
    Body,
    /// The Context, as `foreword build --context` takes it
    Context,
}

/// Which session, and how its agent runs.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SessionChoice {
    /// The session to go on with, or the name of a new one
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The agent, a folder below agents/
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Whose USER.md to use
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// The loop that runs the agent
    #[arg(long, value_name = "NAME", value_parser = named::<RunnerKind>())]
    pub(crate) runner: Option<RunnerKind>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The sandbox
    #[arg(long, value_name = "NAME", value_parser = named::<SandboxChoice>())]
    pub(crate) sandbox: Option<SandboxChoice>,
    /// Where the agent works, inside the workspace
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Trust the workspace as it is now, without being asked
    #[arg(long)]
    pub(crate) trust: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword run -m \"write a deploy checklist\"              a new session, one turn
  foreword run --session ops -m \"and now for staging\"     go on with a session
  foreword run --agent planner --runner claude-code -m \"…\"
  foreword run -m \"hello\" --dry-run                       the exact request that would be sent
  foreword run -m \"summarise this\" --external mail=inbox/1.txt   fenced, and counted as taint
  echo \"summarise this\" | foreword run -m - --trust
  foreword run --heartbeat                                what is due, from a timer

The model comes from [model] in foreword.toml, or ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL,
OPENAI_API_KEY and OPENAI_BASE_URL. The key stays with the host: no agent ever sees it.")]
pub(crate) struct RunArgs {
    /// What to say to the agent; `-` reads it from standard input
    #[arg(
        short,
        long,
        value_name = "TEXT",
        required_unless_present = "heartbeat",
        allow_hyphen_values = true
    )]
    pub(crate) message: Option<String>,
    /// A text from outside that comes with the message: `mail=FILE`, or `mail=-` for standard input
    #[arg(long, value_name = "SOURCE=FILE")]
    pub(crate) external: Vec<String>,
    /// Run what is due: schedules, then HEARTBEAT.md; for a timer, not for a person
    #[arg(long, conflicts_with_all = ["message", "external", "dry_run", "session", "agent", "user"])]
    pub(crate) heartbeat: bool,
    #[command(flatten)]
    pub(crate) choice: SessionChoice,
    /// Print what would be sent, and send nothing
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, default_missing_value = "body")]
    pub(crate) dry_run: Option<DryRun>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword chat                              a new session
  foreword chat --session ops                go on with a session
  foreword chat --agent planner --runner claude-code
  printf 'hello\\nand now?\\n' | foreword chat --session ops

Say /help in it for its commands. A line that ends with \\ goes on in the next one. Ctrl-C ends the
turn under way, Ctrl-D the conversation.")]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) choice: SessionChoice,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    /// List sessions, the latest first
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Show the turns of a session: how they ended, what they cost, what came from outside
    Show {
        /// The session
        id: String,
        /// Only the newest so many turns
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum ScheduleCommand {
    /// List what is scheduled: when it runs next, who planned it, what the agent will be told
    List,
    /// Take something off the schedule
    Remove {
        /// The schedule, by its id or the beginning of it
        id: String,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword approve                 what waits for you
  foreword approve 7k2m            allow it once, or take the identity file in
  foreword approve 7k2m --reject   leave it at a refusal
  foreword approve skill_propose --session ops    allow one action before it is asked for")]
pub(crate) struct AllowArgs {
    /// What was refused or proposed, by its id, or an action by its name; none lists what waits
    pub(crate) what: Option<String>,
    /// The session, for an action by its name
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Say no
    #[arg(long)]
    pub(crate) reject: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword mcp -w my-agent --trust        over standard input and output
  foreword mcp -w my-agent --http 127.0.0.1:8722
  claude mcp add foreword -- foreword mcp -w my-agent --trust

Over HTTP a client has to send the token as `Authorization: Bearer TOKEN`.")]
pub(crate) struct McpArgs {
    /// Listen for HTTP on this address of this machine, at /mcp
    #[arg(long, value_name = "ADDR", conflicts_with = "socket")]
    pub(crate) http: Option<SocketAddr>,
    /// The file with the token for HTTP; without one a token is made and shown
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Speak with the host behind a session's socket; its token is FOREWORD_SESSION_TOKEN
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// The agent in whose name actions are done
    #[arg(short, long, value_name = "ID", conflicts_with = "socket")]
    pub(crate) agent: Option<String>,
    /// The session to go on with, or the name of a new one
    #[arg(long, value_name = "ID", conflicts_with = "socket")]
    pub(crate) session: Option<String>,
    /// Trust the workspace as it is now
    #[arg(long)]
    pub(crate) trust: bool,
}
