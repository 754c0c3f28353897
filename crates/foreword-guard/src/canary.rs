//! The canary of a session.

use std::fmt;

/// How many characters of a canary in a row count as a leak.
pub const SHORTEST_LEAK: usize = 16;

/// A token that stands in the prompt of one session and nowhere else.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Canary(String);

impl Canary {
    /// A canary from sixteen random bytes.
    #[must_use]
    pub fn from_random(bytes: [u8; 16]) -> Self {
        let _ = bytes;
        Self(String::new())
    }

    /// Reads a canary that was kept; nothing where the text is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    /// The token, for the Context.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canary(fwc…)")
    }
}

/// How a canary was written when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeakForm {
    /// As it is, or with other case, widths or separators.
    Plain,
}

/// A canary was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a canary of this session is in the text")]
pub struct Leak {
    /// How it was written.
    pub form: LeakForm,
    /// Which of the canaries, by its place in the list given to the detector.
    pub canary: usize,
    /// Where the form starts, in bytes of all text seen.
    pub start: usize,
}

/// Finds canaries, however they are written.
#[derive(Debug, Clone)]
pub struct Detector {}

impl Detector {
    /// A detector of these canaries.
    #[must_use]
    pub fn new(canaries: &[Canary]) -> Self {
        let _ = canaries;
        Self {}
    }

    /// The first canary in a text.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Leak> {
        let _ = text;
        None
    }
}
