//! Counting tokens: a trait, so that exact counters live elsewhere and load only when asked for.

pub(crate) mod estimate;
#[cfg(feature = "exact-tokens")]
pub(crate) mod exact;
pub(crate) mod prices;
pub(crate) mod usage;

use crate::tokens::estimate::estimate;

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The name shown in manifests, such as `estimate` or `o200k`.
    fn id(&self) -> &str;

    /// Tokens of `text`.
    fn count(&self, text: &str) -> u32;
}

/// The built-in estimate: no vocabulary, no loading, right to within a few per cent per script.
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
