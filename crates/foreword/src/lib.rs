//! The pure core of Foreword: compiles a [`Context`] into a system prompt with a manifest.
//!
//! It owns the Context, the modules and blueprints, the budget, the token estimate, authority and
//! fences. It does no I/O and reads neither clock nor environment: the same Context gives the same
//! bytes.
//!
//! ```
//! use foreword::{Blueprint, Context};
//!
//! let context = Context::from_json(r#"{"identityFiles": {"agent": "You are Pickle."}}"#)?;
//! let prompt = Blueprint::builtin("companion").expect("it is built in").build(&context);
//! assert!(prompt.text().starts_with("You are Pickle."));
//! # Ok::<(), foreword::ContextError>(())
//! ```
//!
//! The promise: no required section is ever lost; nothing is dropped, shortened or filtered without a
//! line in the manifest; and no text of lower authority can pass for text of a higher one.

#![warn(missing_docs)]

mod blueprints;
mod bootstrap;
mod compile;
mod context;
mod diff;
mod fence;
mod lint;
mod modules;
mod names;
#[cfg(feature = "schema")]
mod schema;
mod tokens;

pub use blueprints::blueprint::{Blueprint, BlueprintSource, FileModule};
pub use blueprints::parse::BlueprintError;
pub use bootstrap::{bootstrap, mean_interval};
pub use compile::budget::{Allocation, Candidate, Decision, allocate};
pub use compile::cut::{cut_document, cut_untrusted};
pub use compile::manifest::{
    Filtered, Manifest, Metadata, OmissionCause, Omitted, SectionEntry, SectionSource, SkillEntry,
};
pub use compile::module::{Module, Spec};
pub use compile::payload::{Payload, PayloadError};
pub use compile::prompt::{Prompt, digest};
pub use compile::section::{Section, Value};
pub use compile::template::{LazyTemplate, Template};
pub use context::clock::Timestamp;
pub use context::date::{CALENDAR_CYCLE, Date};
pub use context::field::Field;
pub use context::items::{Approval, Capability, Memory, SCREENING, Skill, SkillProvenance, Tool};
pub use context::run_fact::RunFact;
pub use context::selection::{Selected, Selection};
pub use context::{Context, ContextError, Env, Git, HistoryOmitted, IdentityFiles, RuntimeContext};
pub use diff::{ChangeKind, DiffError, Difference, SectionChange, Side, diff};
pub use fence::authority::{Authority, Detail, Volatility};
pub use fence::invisible::show::{visible, visible_line, visible_start};
pub use fence::invisible::table::Invisible;
pub use fence::text::{Cut, Document, Documents, Line, Source, Untrusted};
pub use fence::{attribute, quoted};
pub use lint::{Finding, MissingRef, PromptRef, Severity, Subject, lint, rules};
pub use names::{
    Choice, Hints, Inferable, Mode, ModeChoice, Named, Profile, PromptMode, Provenance, RunnerKind,
    SandboxChoice, SandboxKind, SpawnMode, TaintLevel, TaskState, TodoState, UnknownName, nearest,
};
#[cfg(feature = "schema")]
pub use schema::blueprint_schema;
pub use tokens::estimate::{Measured, Meter, estimate};
#[cfg(feature = "exact-tokens")]
pub use tokens::exact::{TOKENIZERS, UnknownTokenizer, exact_counter};
pub use tokens::prices::{Price, Prices, PricesError};
pub use tokens::usage::Usage;
pub use tokens::{Estimate, TokenCounter};
