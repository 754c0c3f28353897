//! Reads a Foreword workspace.
mod config;
mod config_check;
mod error;
mod header;
mod nearest;
mod read;
mod rel_path;
mod toml_text;
pub use config::{
    Assembly, BaseSet, CONFIG_FILE, Config, DEFAULT_CONFIG_TEXT, Limits, Modes, Profile,
    SkillSettings,
};
pub use error::{AskedBy, PathFault, WorkspaceError};
pub use read::{SourceFile, read_file};
