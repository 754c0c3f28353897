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

mod blueprint;
mod error;
mod gather;
mod git;
mod lint;
mod prompts;
mod request;
mod skills;
mod surfaces;
mod text;

pub use blueprint::blueprint_by_name;
pub use error::GatherError;
pub use gather::{Gathered, gather, neutral_prompts};
pub use lint::lint_workspace;
pub use request::Request;
