//! Reads a workspace directory into plain data.
//!
//! This crate owns the layout of a workspace on disk: `foreword.toml`, `tools.toml`, agents with
//! their YAML headers, identity files and their overrides, instructions (AGENTS.md, CLAUDE.md),
//! prompts, capability packs, layers and skills. It reads each into a [`SourceFile`] or a struct
//! around one and says what is wrong with it in words a person can act on ([`WorkspaceError`]).
//!
//! It must not decide the order of anything in a prompt, apply a budget or render. It creates
//! `.foreword/` and writes nothing else. It reads no clock and no environment, and what goes into a
//! prompt is read in one module only, which keeps every read inside the workspace, bounded and UTF-8.
//! It also lists the paths that an agent must not write ([`Governed`]).
//!
//! ```
//! use foreword_workspace::Workspace;
//!
//! # let directory = tempfile::tempdir()?;
//! # std::fs::create_dir_all(directory.path().join("agents/cosmo"))?;
//! # std::fs::write(directory.path().join("SOUL.md"), "Calm.\n")?;
//! # let header = "---\ntools: coding\n---\nYou are Cosmo.\n";
//! # std::fs::write(directory.path().join("agents/cosmo/AGENT.md"), header)?;
//! # let directory = directory.path();
//! let workspace = Workspace::open(directory)?;
//! let cosmo = workspace.agent("cosmo")?;
//! let files = workspace.identity_files(Some(&cosmo), None)?;
//! assert_eq!(cosmo.tools, ["coding"]);
//! assert_eq!(files.soul.inspect(), "Calm.\n");
//!
//! let error = workspace.agent("cosmos").unwrap_err();
//! assert_eq!(error.to_string(), "there is no agent `cosmos`; known: cosmo");
//! assert_eq!(error.hint(), "did you mean `cosmo`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agents;
mod command_line;
mod config;
mod discover;
mod error;
mod found_file;
mod governed;
mod mcp;
mod migration;
mod own_file;
mod private;
mod read;
mod rel_path;
mod skills;
mod snapshot;
#[cfg(test)]
mod testing;
mod tools;
mod tree;
mod tree_snapshot;
mod trust;
mod workspace;

pub use agents::agent::Agent;
pub use agents::header::{
    HeaderFault, HeaderSplit, MAX_HEADER_BYTES, MAX_HEADER_DEPTH, split_header,
};
pub use agents::prompts::{Layer, LayerPlace};
pub use command_line::command_line;
pub use config::age::{Age, InvalidAge};
pub use config::host::{HostSettings, ModelSettings, ProviderName};
pub use config::permissions::{AlwaysAllowed, PermissionSettings};
pub use config::sandbox_limits::SandboxLimits;
pub use config::sensitive::{Concern, SensitiveSettings, SettingChange};
pub use config::settings::{
    DEFAULT_SETTINGS_TEXT, ModelServer, PersonalEmbedder, PersonalHost, PersonalModel,
    PersonalSkills, SETTINGS_FILE, Settings, SpendingLimits, server_url,
};
pub use config::spending::{PeriodLimits, SpendingLimit};
pub use config::{
    Assembly, CONFIG_FILE, Config, DEFAULT_CONFIG_TEXT, EmbedderName, EmbedderSettings, Limits,
    ModeSettings, Modes, SkillProvider, SkillSettings,
};
pub use discover::discover;
pub use error::{AskedBy, WorkspaceError};
pub use found_file::FileStamp;
pub use governed::autorun::{
    AUTORUN, AutorunRule, Runs, autorun_directory_rule, autorun_names, autorun_rule,
};
pub use governed::contents::{
    Digest, GovernedChanges, GovernedContents, GovernedFile, MAX_KEPT_TEXT,
};
pub use governed::git_settings::PersonalGit;
pub use governed::repositories::{MAX_ENTRIES, Repositories, RepositoryLookup, run_by_host};
pub use governed::{Governed, GovernedGroup, GovernedLink, LOCK_FILE};
pub use mcp::json_file::{MCP_FILE, McpProblem, NamedServer, WaitingServer};
pub use mcp::server::{
    McpServer, McpSettings, PersonalMcp, PersonalServer, expand_variables, mcp_server_of,
    mcp_tool_name,
};
pub use mcp::tool_list::{ReviewedTools, ServerTool, ToolLists};
pub use migration::{MIGRATION_FILE, MigrationLoss, MigrationRecord};
pub use private::{
    DATABASE_FILE, PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README, make_private_dir,
};
pub use read::{SourceFile, read_file, read_named, read_state};
pub use rel_path::{PathFault, file_name_fault};
pub use skills::description::{MAX_DESCRIPTION_CHARS, first_paragraph};
pub use skills::fields::{
    Field, Fields, HeaderNote, Place as FieldPlace, Value as FieldValue, escaped, read_fields,
};
pub use skills::head::{HeadScan, KnownHead, KnownHeads, SkillHead};
pub use skills::scan::is_beside_skills;
pub use skills::{Invocation, Skill, SkillProblem, SkillScan, skill_body};
pub use snapshot::{Snapshot, UsedFile};
pub use tools::command::{ProgramFile, ToolCommand};
pub use tools::{TOOLS_FILE, ToolEntry, ToolMode};
pub use tree::{Tree, TreeEntry, TreeEntryKind};
pub use tree_snapshot::{SnapshotEntry, SnapshotKind, TreeChange, TreeSnapshot, is_dependency};
pub use trust::Review;
pub use trust::consent::Consent;
pub use trust::store::{
    Accepted, Standing, TrustChange, TrustChanges, TrustStore, TrustedWorkspace,
};
pub use workspace::Workspace;
