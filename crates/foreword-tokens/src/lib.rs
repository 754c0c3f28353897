//! Exact BPE token counters.
//!
//! It owns the vocabularies of `o200k_base` and `cl100k_base` and counts with
//! them exactly as OpenAI's tokenizers do, special tokens read as plain text.
//! A vocabulary is loaded at the first count, never before. A default build of
//! a prompt must not need this crate: the core's estimate is enough for it.
//!
//! ```
//! let counter = foreword_tokens::counter("o200k")?;
//! assert_eq!(counter.count("Hello, world!"), 4);
//! # Ok::<(), foreword_tokens::UnknownTokenizer>(())
//! ```

mod encoding;

pub use encoding::{NAMES, UnknownTokenizer, counter};
pub use foreword::TokenCounter;
