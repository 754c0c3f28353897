//! Reads a Foreword workspace.
mod agent;
mod config;
mod config_check;
mod error;
mod header;
mod names;
mod nearest;
mod read;
mod rel_path;
mod toml_text;
mod tools;
pub use agent::{Agent, Mode, PromptMode, PromptRef};
pub use config::{
    Assembly, BaseSet, CONFIG_FILE, Config, DEFAULT_CONFIG_TEXT, Limits, Modes, Profile,
    SkillSettings,
};
pub use error::{AskedBy, PathFault, WorkspaceError};
pub use read::{SourceFile, read_file};
pub use tools::{TOOLS_FILE, ToolEntry, ToolMode};
