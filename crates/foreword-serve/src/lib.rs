//! What Foreword does for other programs: one table of methods, one service that answers them.
//!
//! `foreword serve --stdio`, the Python and Node packages and later HTTP all call [`Service`]. Each method
//! has a type for its parameters and one for its answer; [`schemas`] publishes both as JSON Schema, with
//! those of Context, blueprint and prompt. The crate holds no rule of its own: it turns parameters into
//! calls of the libraries and their errors into a [`Failure`] with kind, message and hints. It is also
//! the one place where a front end's process is asked for clock, user name and directories
//! ([`environment`]).
//!
//! ```
//! use foreword_serve::Service;
//! use serde_json::json;
//!
//! let service = Service::new(None);
//! let answer = service.call("count", json!({"text": "Hello"}))?;
//! assert_eq!(answer["tokens"], 2);
//! # Ok::<(), foreword_serve::Failure>(())
//! ```

mod context_fields;
pub mod environment;
mod failure;
mod methods;
mod options;
mod provider_request;
mod schema_files;
mod service;
mod stdio;

pub use failure::{Failure, FailureKind};
pub use methods::memory;
pub use methods::prompt::{
    ByteOrigin, PromptParams, byte_origin, compile, counter, manifest, modes, with_context,
    without_text,
};
pub use methods::skills;
pub use methods::text::scanner;
pub use methods::workspace_files::{LintParams, findings};
pub use options::{AnyMode, Format, ScreenPolicy, Tokenizer};
pub use schema_files::{SchemaFile, schema, schema_names, schemas};
pub use service::{Compiled, Method, Service, find_workspace, methods};
pub use stdio::{MAX_REQUEST_BYTES, SCHEMA_VERSION, answer_line, serve_lines};
