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

mod assembler;
mod blueprint;
mod embedders;
mod error;
mod gather;
mod git;
mod guard;
mod import_tools;
mod index;
mod index_file;
mod lint;
mod mode_examples;
mod pool;
mod prompts;
mod recall;
mod request;
mod semantics;
mod skills;
mod surfaces;
mod task_cache;
mod text;
mod warning;

pub use assembler::Assembler;
pub use blueprint::blueprint_by_name;
pub use embedders::{AnyEmbedder, Endpoint, embedder};
pub use error::GatherError;
pub use gather::{Gathered, gather, neutral_prompts};
pub use import_tools::{Imported, import_tools};
pub use index::{IndexReport, Indexing, index};
pub use index_file::IndexError;
pub use lint::lint_workspace;
pub use request::Request;
pub use warning::{IndexState, Warning};
