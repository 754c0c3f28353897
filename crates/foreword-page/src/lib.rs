//! Turns plain data into one HTML file that can be attached to a review.
//!
//! A page loads nothing and runs no script. Its Content-Security-Policy allows one stylesheet, by its
//! hash, and nothing else. Markup is written only from string literals (`Markup::raw` takes
//! `&'static str`); all other text is escaped, so what a prompt, a file name or a tool result says
//! cannot become markup. The same data gives the same bytes.
//!
//! It does no I/O and knows no settings: the caller writes the file.
//!
//! ```
//! use foreword::{Blueprint, Context};
//! use foreword_page::{PromptInfo, prompt_page};
//!
//! let context = Context::from_json(r#"{"identityFiles": {"agent": "You are <b>Pickle</b>."}}"#)?;
//! let prompt = Blueprint::builtin("companion").expect("it is built in").build(&context);
//! let info = PromptInfo { blueprint: "companion", ..PromptInfo::default() };
//! let html = prompt_page(&prompt.manifest_with_digests(), &info);
//! assert!(html.contains("You are &lt;b&gt;Pickle&lt;/b&gt;."));
//! # Ok::<(), foreword::ContextError>(())
//! ```

#![warn(missing_docs)]

mod blocks;
mod composition;
mod figures;
mod layout;
mod markup;
mod page;
mod part_text;
mod policy;
mod prompt;
mod tone;
mod treemap;

pub use blocks::{Excerpt, Fact, Finding, Item, Level, Table};
pub use composition::{Boundary, Composition, Part, Stretch};
pub use figures::{grouped, percent};
pub use page::{Page, is_page};
pub use prompt::{PromptInfo, prompt_page};
pub use tone::Tone;
