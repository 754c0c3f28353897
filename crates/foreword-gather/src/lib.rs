//! The first arrow: a workspace directory and a request into a [`foreword::Context`].
//!
//! The one place of input for every front end (command line, MCP server, host, bindings). It reads
//! files and repository facts and decides nothing about order or budget; it does not render.
//!
//! ```no_run
//! use foreword_gather::{Request, gather};
//!
//! let gathered = gather("examples/companion".as_ref(), &Request::default())?;
//! let prompt = gathered.blueprint.build(&gathered.context);
//! # Ok::<(), foreword_gather::GatherError>(())
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look at what was written"))]

mod assembler;
mod collect;
mod error;
mod git;
mod hidden_keys;
mod lint;
mod permission_rules;
mod request;
mod select;
mod server_checks;
mod warning;

pub use assembler::Assembler;
pub use collect::blueprint::blueprint_by_name;
pub use collect::gather::{Gathered, gather, neutral_prompts};
pub use collect::import_tools::{Imported, import_tools};
pub use collect::skills::skill_warnings;
pub use collect::surfaces::{Surface, surfaces};
pub use collect::tools::{ToolSource, is_offered, usable_servers};
pub use error::GatherError;
pub use git::KeptIndex;
pub use hidden_keys::{hide_key_of, hide_keys};
pub use lint::lint_workspace;
pub use request::Request;
pub use select::embedders::{AnyEmbedder, Endpoint, embedder};
pub use select::index::{IndexReport, Indexing, index};
pub use select::index_file::IndexError;
pub use server_checks::{
    remote_url, settings_lines, variable_for, without_written_keys, written_key_fault, written_keys,
};
pub use warning::{IndexState, Warning, server_elsewhere};
