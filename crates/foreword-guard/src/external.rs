//! The fence around content from outside.

/// How far a content may be trusted, as the fence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// From outside: pages, messages of channels.
    External,
    /// What a tool of this session gave back.
    Tool,
}

impl Trust {
    /// The word in the fence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::External => "external",
            Self::Tool => "tool",
        }
    }
}

/// A text from outside in its fence, ready to be put before a model.
#[must_use]
pub fn external_content(source: &str, trust: Trust, text: &str) -> String {
    let _ = (source, trust, text);
    String::new()
}
