//! The command line as data: one definition drives help, man pages and completions.

mod host;
mod memory;
mod model;
mod retrieval;
mod scan;
mod semantics;
mod skills;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use foreword::{ModeChoice, Named, Profile, PromptMode};

pub(crate) use host::{
    AllowArgs, ChatArgs, DryRun, McpArgs, RunArgs, ScheduleCommand, SessionChoice, SessionCommand,
};
pub(crate) use memory::{
    MemoryAddArgs, MemoryCommand, MemoryExportArgs, MemoryForgetArgs, MemoryImportArgs,
    MemoryListArgs, MemoryReindexArgs, MemoryScopeArgs, MemorySearchArgs,
};
pub(crate) use model::{EmbedderArgs, EmbedderName, HttpArgs, ModelCommand, ModelInstallArgs};
pub(crate) use retrieval::EvalRetrievalArgs;
pub(crate) use scan::{EvalInjectionArgs, ScanArgs};
pub(crate) use semantics::{EvalAssembleArgs, EvalRunArgs, IndexArgs};
pub(crate) use skills::{
    ApproveArgs, AuditCommand, AuditLogArgs, EvalScreenArgs, ImportArgs, PolicyName, ProposeArgs,
    RevertArgs, ScreenArgs, SkillCommand,
};

/// Foreword compiles the system prompt of an AI agent.
///
/// Files, skills, memories, tools and runtime facts go in; a prompt comes out that is layered, budgeted,
/// deterministic and fenced against injection, with a manifest that explains every byte of it.
#[derive(Parser, Debug)]
#[command(
    name = "foreword",
    version,
    propagate_version = true,
    after_help = "\
Examples:
  foreword init -w my-agent                 a workspace to start from
  foreword build -w my-agent \"plan my week\"  the prompt for a task, on standard output
  foreword explain -w my-agent              where each part came from and what it costs
  foreword lint -w my-agent                 what is wrong with it
  foreword skill list -w my-agent           its skills, and how far each is approved"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command accepts.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// The workspace directory
    #[arg(short, long, global = true, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing beside the result
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Show what happens; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Start a workspace
    Init(InitArgs),
    /// Compile the prompt
    Build(BuildArgs),
    /// Show where each part of the prompt came from and what it costs
    Explain(ExplainArgs),
    /// Compare two prompts: where they part, why, and what is billed again
    Diff(DiffArgs),
    /// Check a workspace: identity bleed, order, tools that are not there, and more
    Lint(LintArgs),
    /// Skills that agents may write and people govern
    #[command(subcommand)]
    Skill(SkillCommand),
    /// What agents may be reminded of
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// The log of everything that was changed or refused
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Make vectors of tools and skills ahead, so that a build embeds only its task
    Index(IndexArgs),
    /// Models that turn texts into vectors
    #[command(subcommand)]
    Model(ModelCommand),
    /// Say whether texts read like injections; needs no workspace
    Scan(ScanArgs),
    /// Measure
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Run an agent for one message, with the prompt it is due
    Run(RunArgs),
    /// Talk with an agent in the terminal
    Chat(ChatArgs),
    /// Conversations with agents, as they are kept
    #[command(subcommand)]
    Session(SessionCommand),
    /// What agents planned for later
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Allow what an agent was refused, once, or decide about an identity file
    Approve(AllowArgs),
    /// Serve MCP clients: actions as tools, skills as resources, agents' prompts as prompts
    Mcp(McpArgs),
    /// Print the JSON Schema of what agents and their host say to each other
    Schema {
        /// Only this action's arguments
        action: Option<String>,
    },
    /// Answer requests, one JSON object a line
    Serve(ServeArgs),
    /// The half of an agent inside its sandbox; the host starts it
    #[command(hide = true)]
    Agent,
    /// Confines a process and starts a program in it; the host starts it
    #[command(hide = true, name = "sandbox-launch", disable_help_flag = true)]
    SandboxLaunch {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the man pages to a directory
    Man {
        /// Where to write them
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// A workspace template.
#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum TemplateName {
    /// The best of all
    #[default]
    Standard,
    /// A personal assistant with soul, memory and skills
    Companion,
    /// Security first, with the sections of the AX agent
    Guarded,
    /// Several agents with roles, capability packs and sub-agents
    Roles,
    /// Five layers with a trust model
    Semantic,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword init -w my-agent
  foreword init -w my-agent --template companion
  foreword init -w my-agent --from ~/.openclaw/workspace")]
pub(crate) struct InitArgs {
    /// What to start from
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "from")]
    pub(crate) template: TemplateName,
    /// Take over an existing OpenClaw, Claude Code or Cosmonauts directory
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<PathBuf>,
}

/// Where a prompt comes from and what is known about its session.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SourceArgs {
    /// The task
    #[arg(conflicts_with = "payload")]
    pub(crate) task: Option<String>,
    /// The agent, a folder below agents/
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// A blueprint: standard, guarded, semantic, roles, companion, or a .toml file
    #[arg(short, long, value_name = "NAME|FILE")]
    pub(crate) blueprint: Option<String>,
    /// plan, act, review, auto; or full, minimal, none for how much of the prompt to give
    #[arg(short, long, value_name = "MODE", value_parser = parse_mode)]
    pub(crate) mode: Vec<AnyMode>,
    /// Take a whole Context as JSON and read no other file
    #[arg(long, value_name = "FILE|-", conflicts_with = "payload")]
    pub(crate) context: Option<PathBuf>,
    /// Take message, history and taint as a stdin payload; plain text is a message
    #[arg(long, value_name = "FILE|-")]
    pub(crate) payload: Option<PathBuf>,
    /// How to count tokens
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) tokenizer: Tokenizer,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Facts of the session, for callers that run agents.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionArgs {
    /// Whose USER.md to use
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// The model that will read the prompt
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Where the conversation takes place
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Option<String>,
    /// The security profile
    #[arg(long, value_parser = named::<Profile>(), value_name = "paranoid|balanced|yolo")]
    pub(crate) profile: Option<Profile>,
    /// The sandbox in use
    #[arg(long, value_name = "NAME")]
    pub(crate) sandbox: Option<String>,
    /// External tokens over all tokens of the session, 0 to 1
    #[arg(long, value_name = "RATIO")]
    pub(crate) taint_ratio: Option<f64>,
    /// The ratio above which sensitive actions are refused
    #[arg(long, value_name = "RATIO")]
    pub(crate) taint_threshold: Option<f64>,
    /// The model's window
    #[arg(long, value_name = "TOKENS")]
    pub(crate) context_window: Option<u64>,
    /// Tokens of the conversation so far
    #[arg(long, value_name = "TOKENS")]
    pub(crate) history_tokens: Option<u64>,
    /// Tokens kept for tool schemas and the current message
    #[arg(long, value_name = "TOKENS")]
    pub(crate) reserved_tokens: Option<u64>,
    /// Tokens kept for the answer
    #[arg(long, value_name = "TOKENS")]
    pub(crate) output_reserve: Option<u64>,
    /// A limit on the prompt itself
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_prompt_tokens: Option<u64>,
    /// A token that must never appear in output
    #[arg(long, value_name = "TOKEN")]
    pub(crate) canary: Option<String>,
    /// The time, RFC 3339; the clock's where absent
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,
    /// Where the agent works; nested AGENTS.md from there up apply
    #[arg(long, value_name = "DIR", conflicts_with = "context")]
    pub(crate) cwd: Option<PathBuf>,
    /// The agent was started by another one
    #[arg(long)]
    pub(crate) sub_agent: bool,
    /// The role of the agent that started it
    #[arg(long, value_name = "ROLE", requires = "sub_agent")]
    pub(crate) parent_role: Option<String>,
    /// What the sub-agent is to reach
    #[arg(long, value_name = "TEXT", requires = "sub_agent")]
    pub(crate) objective: Option<String>,
    /// The task the sub-agent works on
    #[arg(long, value_name = "ID", requires = "sub_agent")]
    pub(crate) task_id: Option<String>,
}

/// A value of `--mode`: the two sets are disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyMode {
    Mode(ModeChoice),
    Prompt(PromptMode),
}

pub(crate) fn parse_mode(text: &str) -> Result<AnyMode, String> {
    let mode = text.parse().map(AnyMode::Mode);
    mode.or_else(|_| text.parse().map(AnyMode::Prompt))
        .map_err(|_| "use plan, act, review or auto; or full, minimal or none".to_owned())
}

/// The parser of an argument that is one of the core's names.
pub(crate) fn named<T>() -> impl TypedValueParser<Value = T>
where
    T: Named + Clone + Send + Sync + 'static,
{
    let names = T::names().into_iter();
    let values =
        names.map(|(name, about)| PossibleValue::new(name).help(about.trim_end_matches('.')));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<T>())
}

/// How to count tokens.
#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum Tokenizer {
    /// The built-in estimate: instant
    #[default]
    Estimate,
    /// Exact, as GPT-4o and later count
    O200k,
    /// Exact, as GPT-4 counts
    Cl100k,
}

/// The form of a prompt.
#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum Format {
    /// Exactly the prompt
    #[default]
    Text,
    /// `system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API
    Anthropic,
    /// `messages` and `prompt_cache_key`, for OpenAI-compatible chat completions
    Openai,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword build -w examples/companion \"what is on today?\"
  foreword build --json | jq .metadata
  foreword build --context context.json --blueprint guarded
  echo '{\"message\": \"hi\", \"taintRatio\": 0.2}' | foreword build --payload -
  foreword build --format anthropic --agent planner
  foreword build --lock                     record digests for review in foreword.lock")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The form to print
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Write the prompt to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Fail (exit 1) if the prompt exceeds its budget
    #[arg(long)]
    pub(crate) strict: bool,
    /// Build again whenever something changes, and print what changed
    #[arg(long, conflicts_with_all = ["context", "payload", "lock"])]
    pub(crate) watch: bool,
    /// Record the digests of every agent's prompt in foreword.lock
    #[arg(long, conflicts_with_all = ["context", "payload"])]
    pub(crate) lock: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword explain -w examples/guarded
  foreword explain --at 1200                which section and file byte 1200 came from
  foreword explain --json | jq .omitted")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Explain one byte of the prompt
    #[arg(long, value_name = "BYTE")]
    pub(crate) at: Option<usize>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
A and B are each a workspace directory, a Context as JSON, or a saved `foreword build --json`.

Examples:
  foreword build --json > before.json; $EDITOR SOUL.md; foreword diff before.json .
  foreword diff yesterday.json today.json")]
pub(crate) struct DiffArgs {
    /// The first
    pub(crate) a: PathBuf,
    /// The second
    pub(crate) b: PathBuf,
    /// The agent, for sides that are workspaces
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The blueprint, for sides that are not saved builds
    #[arg(short, long, value_name = "NAME|FILE")]
    pub(crate) blueprint: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword lint -w examples/roles
  foreword lint --agent planner --json
  foreword lint --lock                      fail if a prompt differs from foreword.lock")]
pub(crate) struct LintArgs {
    /// Only this agent
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The blueprint to check against
    #[arg(short, long, value_name = "NAME|FILE")]
    pub(crate) blueprint: Option<String>,
    /// Compare with foreword.lock; drift fails
    #[arg(long)]
    pub(crate) lock: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum EvalCommand {
    /// How long a build takes: CPU time, everything a library caller pays for text and metadata
    Speed(SpeedArgs),
    /// How well the right tools are found: recall, rank and abstention on a set of queries
    Retrieval(EvalRetrievalArgs),
    /// What screening says of a corpus of skills
    Screen(EvalScreenArgs),
    /// What is selected for a task, and the prompt it gives
    Assemble(Box<EvalAssembleArgs>),
    /// How well a workspace selects, on a set of tasks of its own
    Run(EvalRunArgs),
    /// How well the injection scanner does on labelled texts
    Injection(EvalInjectionArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword eval speed --context examples/contexts/integration.json --blueprint guarded --builds 20000 --json")]
pub(crate) struct SpeedArgs {
    /// The Context
    #[arg(long, value_name = "FILE|-")]
    pub(crate) context: PathBuf,
    /// The blueprint
    #[arg(long, value_name = "NAME|FILE", default_value = "standard")]
    pub(crate) blueprint: String,
    /// How many builds
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) builds: u32,
    /// What to pay for beside the text
    #[arg(long, value_enum, default_value_t)]
    pub(crate) with: Account,
}

/// How much of the account a build includes.
#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum Account {
    /// The figures
    #[default]
    Metadata,
    /// The whole manifest
    Manifest,
    /// The whole manifest with digests
    Digests,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Each line is a request: {\"id\": 1, \"method\": \"build\", \"params\": {\"context\": {…}, \"blueprint\": \"standard\"}}
Methods: build, explain, lint, ping. `params` takes `context`, or `workspace` with `agent`, `task`, `mode`, …
Each answer is a line: {\"id\": 1, \"result\": {…}} or {\"id\": 1, \"error\": {\"kind\", \"message\", \"hints\"}}")]
pub(crate) struct ServeArgs {
    /// Read requests from standard input and answer on standard output
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
}
