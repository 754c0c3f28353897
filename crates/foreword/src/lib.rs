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

mod authority;
mod blueprint;
mod blueprint_toml;
mod budget;
mod clock;
mod compile;
mod context;
mod cut;
mod diff;
mod estimate;
mod fence;
mod field;
mod invisible;
mod items;
mod lint;
mod manifest;
mod mode;
mod module;
mod modules;
mod payload;
mod prompt;
mod section;
mod selection;
mod string_or_map;
mod suggest;
mod template;
mod text;
mod titles;
mod tokens;
mod when;

pub use authority::{Authority, Detail, Volatility};
pub use blueprint::{Blueprint, BlueprintSource, FileModule};
pub use blueprint_toml::BlueprintError;
pub use budget::{Allocation, Candidate, Decision, allocate};
pub use clock::Timestamp;
pub use context::{
    Context, ContextError, Env, Git, Hints, HistoryOmitted, IdentityFiles, ModeChoice, Profile,
    PromptMode, RuntimeContext, SpawnMode,
};
pub use cut::{cut_document, cut_untrusted};
pub use diff::{ChangeKind, DiffError, Difference, SectionChange, Side, diff};
pub use estimate::{Measured, Meter, estimate};
pub use fence::{attribute, quoted};
pub use field::Field;
pub use items::{Approval, Capability, Memory, Provenance, Skill, Tool};
pub use lint::{Finding, MissingRef, PromptRef, Severity, Subject, lint, rules};
pub use manifest::{Filtered, Manifest, Metadata, Omitted, SectionEntry, SectionSource};
pub use mode::Mode;
pub use module::{Module, Spec};
pub use payload::{Payload, PayloadError};
pub use prompt::{Prompt, digest};
pub use section::{Section, Value};
pub use selection::{Selected, Selection};
pub use suggest::nearest;
pub use template::{LazyTemplate, Template};
pub use text::{Cut, Document, Documents, Line, Source, Untrusted};
pub use tokens::{Estimate, TokenCounter};
