//! Counting tokens: a trait, so that exact counters live elsewhere and load only when asked for.

pub(crate) mod estimate;
#[cfg(feature = "exact-tokens")]
pub(crate) mod exact;
pub(crate) mod prices;
pub(crate) mod usage;

use crate::tokens::estimate::estimate;

/// Counts the tokens of a text.
///
/// ```
/// use foreword::TokenCounter;
///
/// struct Words;
///
/// impl TokenCounter for Words {
///     fn id(&self) -> &str {
///         "words"
///     }
///
///     fn count(&self, text: &str) -> u32 {
///         text.split_whitespace().count() as u32
///     }
/// }
///
/// assert_eq!(Words.count("plan my week"), 3);
/// ```
pub trait TokenCounter: Send + Sync {
    /// The name shown in manifests, such as `estimate` or `o200k`.
    fn id(&self) -> &str;

    /// Tokens of `text`.
    fn count(&self, text: &str) -> u32;
}

/// The built-in estimate: no vocabulary, no loading, right to within a few per cent per script.
///
/// ```
/// use foreword::{Estimate, TokenCounter};
///
/// assert_eq!(Estimate.count(""), 0);
/// assert!(Estimate.count("plan my week") >= 3);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate;

impl TokenCounter for Estimate {
    fn id(&self) -> &str {
        "estimate"
    }

    fn count(&self, text: &str) -> u32 {
        estimate(text)
    }
}
