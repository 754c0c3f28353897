//! Reads the setup of another agent tool and turns it into the files of a workspace.
//!
//! `read` only reads. `init --from` and `sync --from` write what it gives. Every file and setting that
//! it recognises gets one row: carried, mapped to something else, left because it does not concern the
//! agent, or lost. A layout is one file here with `signs` and `migrate`; several may be in one directory.

mod blueprint;
mod claude_agents;
mod claude_code;
mod claude_settings;
mod codex;
mod commands;
mod cosmonauts;
mod cursor;
mod header;
mod ignored_files;
mod import;
mod imports;
mod instructions;
mod json5;
mod layout;
mod mcp_servers;
mod model_names;
mod nested;
mod openclaw;
mod permissions;
#[cfg(test)]
mod properties;
pub(crate) mod record;
mod references;
mod row;
mod settings;
mod skill_features;
mod source;
mod tool_names;
mod untrusted;
mod walk;
mod write;

pub(crate) use layout::{Migration, is_in_place, read};
pub(crate) use row::{Outcome, Row};
pub(crate) use settings::for_blueprint;
pub(crate) use untrusted::note_import;
pub(crate) use write::{
    NewFile, Written, apply, check_root, current, is_executable, plan, remove, replace,
};
