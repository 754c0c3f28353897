//! The tokens a model call used.

use serde::{Deserialize, Serialize};

/// Tokens used by model calls.
///
/// ```
/// use foreword::Usage;
///
/// let first = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
/// assert_eq!(first.and(first).input_tokens, 20);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Read by the model, not from the cache.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
    /// Read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Written to the provider's cache.
    pub cache_write_tokens: u64,
}

impl Usage {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
        }
    }
}
