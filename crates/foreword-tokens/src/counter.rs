//! The trait of the core that the counters implement.

/// Counts the tokens of a text, in one tokenizer.
pub trait TokenCounter: Send + Sync {
    /// The tokenizer's name, as it goes into a manifest.
    fn id(&self) -> &str;

    /// The number of tokens in `text`.
    fn count(&self, text: &str) -> u32;
}
