//! `foreword.toml`: the settings of a workspace.

pub(crate) mod age;
pub(crate) mod check;
pub(crate) mod host;
pub(crate) mod permissions;
pub(crate) mod sandbox_limits;
pub(crate) mod sensitive;
pub(crate) mod settings;
pub(crate) mod spending;
pub(crate) mod toml_text;

use foreword::Profile;
use serde::{Deserialize, Serialize};

use crate::config::host::{HostSettings, ModelSettings};
use crate::config::permissions::PermissionSettings;
use crate::config::spending::PeriodLimits;
use crate::error::WorkspaceError;
use crate::mcp::server::McpSettings;
use crate::read::SourceFile;

/// The name of the settings file.
pub const CONFIG_FILE: &str = "foreword.toml";

/// The settings file with every key at its default, commented out and explained.
///
/// `foreword init` writes it, so that a person can see what there is to set.
pub const DEFAULT_CONFIG_TEXT: &str = include_str!("text/foreword.toml");

/// The settings of a workspace, from `foreword.toml`. Every key has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The blueprint: a built-in name, or a TOML file in the workspace. Default `standard`.
    pub blueprint: String,
    /// The id of the agent to build for when none is asked for. Default: none.
    pub agent: Option<String>,
    /// How strictly external content is treated. Default `balanced`.
    pub profile: Profile,
    /// The sandbox the agent runs in, as the prompt states it. Default: none.
    pub sandbox_type: Option<String>,
    /// The kind of agent that will read the prompt. Default: none.
    pub agent_type: Option<String>,
    /// The namespace of agents that name none. Default `coding`.
    pub namespace: String,
    /// Which model, and where it is.
    pub model: ModelSettings,
    /// The channel on which the agent speaks. Default `terminal`.
    pub channel: String,
    /// The user the prompt is for; selects `agents/<id>/users/<user_id>/USER.md`. Default: none.
    pub user_id: Option<String>,
    /// Whether the agent may decide not to reply. Default `false`.
    pub reply_gate: bool,
    /// How much is read and how long a prompt may be.
    pub limits: Limits,
    /// Where skills are and how far they are trusted.
    pub skills: SkillSettings,
    /// What each mode starts with, before anything is selected for the task.
    pub modes: Modes,
    /// How tools, skills and context are selected for a task.
    pub assembly: Assembly,
    /// What turns texts into vectors.
    pub embedder: EmbedderSettings,
    /// How agents are run.
    pub host: HostSettings,
    /// How skills are screened.
    pub screen: ScreenSettings,
    /// MCP servers whose tools agents get.
    pub mcp: McpSettings,
    /// Which calls of tools are allowed, asked about or denied.
    pub permissions: PermissionSettings,
}

/// `[screen]`: how skills are screened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreenSettings {
    /// Whether the model is asked for a second opinion on what the rules leave open. Default `false`.
    pub model: bool,
}

/// `[limits]`: how much is read, how long a prompt may be and what agents may spend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Characters of one file that go into a prompt; the rest is cut at a heading. Default 20000.
    pub max_file_chars: usize,
    /// Bytes a file may have to be read at all. Default 4194304 (4 MiB), at most 64 MiB.
    pub max_file_bytes: u64,
    /// Tokens a prompt may have, whatever the window. Default: none.
    pub max_prompt_tokens: Option<usize>,
    /// Tokens the model can take in all. Default 200000.
    pub context_window: usize,
    /// Tokens of the window kept free for the answer. Default 4096.
    pub output_reserve: usize,
    /// What one message may spend, if that is less than the person allows. Default: none.
    pub turn: PeriodLimits,
    /// The same for a session.
    pub session: PeriodLimits,
    /// The same for a day.
    pub day: PeriodLimits,
}

/// `[skills]`: where skills are and how far they are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillSettings {
    /// Whether agents see skills at all; an agent's header can only take them away. Default `true`.
    pub allow_skills: bool,
    /// Whether skills can be changed through Foreword. Default `git`.
    pub provider: SkillProvider,
    /// The workspace's own skills. Default `skills`.
    pub directory: String,
    /// Further directories of skills, such as `.claude/skills`, relative to the workspace or
    /// absolute; they may lie outside it. Of two skills of one name, the first root's wins.
    /// Default: none.
    pub roots: Vec<String>,
    /// Whether a skill without an approval, by a person or by screening, is shown as reference
    /// only. Default `false`.
    pub require_approval: bool,
    /// Who the commits of skills are by, as `Name <address>`. Default
    /// `Foreword <foreword@localhost>`.
    pub author: String,
}

/// `skills.provider`: how skills are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillProvider {
    /// In a git repository of their own: agents can propose changes, people decide.
    #[default]
    Git,
    /// As files that Foreword only reads.
    ReadOnly,
}

/// `[modes]`: what each mode starts with, and how much it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Modes {
    /// Exploring and planning.
    pub plan: ModeSettings,
    /// Changing things.
    pub act: ModeSettings,
    /// Checking what was changed.
    pub review: ModeSettings,
}

/// `[modes.plan]` and the others: what a mode starts with, and how much it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModeSettings {
    /// Names of tools that are always selected in this mode. Default: none.
    pub base_tools: Vec<String>,
    /// Names of skills that are always selected in this mode. Default: none.
    pub base_skills: Vec<String>,
    /// Tools described in full in this mode. Default: `assembly.max_tools`.
    pub max_tools: Option<usize>,
    /// Skills given in full in this mode. Default: `assembly.max_skills`.
    pub max_skills: Option<usize>,
}

/// `[assembly]`: how tools, skills and context are selected for a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Assembly {
    /// Whether tools and skills are selected for the task at all. Default `true`.
    pub select: bool,
    /// Tools described in full, the mode's own included. Default 10.
    pub max_tools: usize,
    /// Skills given in full, the mode's own included. Default 3.
    pub max_skills: usize,
    /// With more tools than this, the schemas of MCP servers' tools are sent only for those that fit the
    /// session's first message; the others are found with `tool_search`. Default 40.
    pub max_schemas: usize,
    /// Tools, and likewise skills, that are there for their score alone. Default 5.
    pub max_results: usize,
    /// Scores below this mean that an item does not fit. Default: the embedder's own, measured.
    pub min_score: Option<f64>,
    /// Memories recalled. Default 3.
    pub max_memories: usize,
    /// Entries of activity recalled. Default 3.
    pub max_activity: usize,
    /// Memories below this score, 0 to 1, are not recalled. Default 0.7.
    pub memory_min_score: Option<f64>,
    /// The injection score, 0 to 1, from which recalled entries are left out. Default: 0.5 for the
    /// scanner's own score, 0.75 for likeness to one of `injection_patterns`.
    pub injection_min_score: Option<f64>,
    /// Sentences of one's own: a recalled entry that says nearly the same is left out. Default: none.
    pub injection_patterns: Vec<String>,
    /// Tokens of recalled memories and activity together. Default 4000.
    pub max_context_tokens: usize,
    /// Tokens of the selected skills' bodies together. Default 12000.
    pub max_capability_tokens: usize,
    /// Tokens of the constitution, and likewise of the rules. Default 8000.
    pub max_constitution_tokens: usize,
    /// Tokens of the task. Default 32000.
    pub max_task_tokens: usize,
    /// Vectors of tasks kept by a process that assembles often. Default 100.
    pub task_cache: usize,
    /// Whether memories are recalled. Default `true`.
    pub include_memories: bool,
    /// Whether recent activity is recalled. Default `true`.
    pub include_activity: bool,
    /// Whether the git branch and what has changed are shown. Default `true`.
    pub include_git: bool,
    /// Whether the working directory and operating system are shown. Default `true`.
    pub include_env: bool,
    /// Whether the mode may be inferred from the meaning of the task when no keyword tells.
    /// Default `false`.
    pub enable_mode_semantic: bool,
}

/// `[embedder]`: what turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbedderSettings {
    /// Which one. Default `static`.
    pub name: EmbedderName,
    /// The server of `http`; the path is always `/v1/embeddings`. On this machine only, and asked about:
    /// an address elsewhere has to come from the person. Default: none.
    pub url: Option<String>,
    /// The model the endpoint is asked for. Default: none.
    pub model: Option<String>,
    /// Seconds an answer may take. Default 10.
    pub timeout_seconds: Option<u64>,
}

/// What turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderName {
    /// The table that is part of the program.
    #[default]
    Static,
    /// The full model, once it is installed.
    Use,
    /// An endpoint that speaks `/v1/embeddings`.
    Http,
    /// None: only words are compared.
    None,
}

impl EmbedderName {
    /// The name as written in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Use => "use",
            Self::Http => "http",
            Self::None => "none",
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            blueprint: "standard".into(),
            agent: None,
            profile: Profile::default(),
            sandbox_type: None,
            agent_type: None,
            namespace: "coding".into(),
            model: ModelSettings::default(),
            channel: "terminal".into(),
            user_id: None,
            reply_gate: false,
            limits: Limits::default(),
            skills: SkillSettings::default(),
            modes: Modes::default(),
            assembly: Assembly::default(),
            embedder: EmbedderSettings::default(),
            host: HostSettings::default(),
            screen: ScreenSettings::default(),
            mcp: McpSettings::default(),
            permissions: PermissionSettings::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_chars: 20_000,
            max_file_bytes: 4 << 20,
            max_prompt_tokens: None,
            context_window: 200_000,
            output_reserve: 4096,
            turn: PeriodLimits::default(),
            session: PeriodLimits::default(),
            day: PeriodLimits::default(),
        }
    }
}

impl Default for SkillSettings {
    fn default() -> Self {
        Self {
            allow_skills: true,
            provider: SkillProvider::default(),
            directory: "skills".into(),
            roots: Vec::new(),
            require_approval: false,
            author: "Foreword <foreword@localhost>".into(),
        }
    }
}

impl Default for Assembly {
    fn default() -> Self {
        Self {
            select: true,
            max_tools: 10,
            max_skills: 3,
            max_schemas: 40,
            max_results: 5,
            min_score: None,
            max_memories: 3,
            max_activity: 3,
            memory_min_score: None,
            injection_min_score: None,
            injection_patterns: Vec::new(),
            max_context_tokens: 4000,
            max_capability_tokens: 12_000,
            max_constitution_tokens: 8000,
            max_task_tokens: 32_000,
            task_cache: 100,
            include_memories: true,
            include_activity: true,
            include_git: true,
            include_env: true,
            enable_mode_semantic: false,
        }
    }
}

impl Config {
    /// Parses and checks the text of a settings file.
    pub fn parse(file: &SourceFile) -> Result<Self, WorkspaceError> {
        let config: Self = toml_text::parse(file)?;
        check::check(&config).map_err(|fault| fault.in_file(file))?;
        Ok(config)
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
