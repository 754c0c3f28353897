//! Verdicts of the injection scanner.

use serde::{Deserialize, Serialize};

/// Whether a text is likely a prompt injection, from unlikely to likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ScanVerdict {
    /// Unlikely.
    Pass,
    /// Likely; about one harmless text in a hundred gets this verdict too.
    Flag,
    /// Very likely; hardly any harmless text gets this verdict.
    Block,
}

impl ScanVerdict {
    /// The name as written in JSON and shown to people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Flag => "FLAG",
            Self::Block => "BLOCK",
        }
    }
}

/// The result of a scan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scan {
    pub verdict: ScanVerdict,
    /// From 0 to 1; [`ScanVerdict::Flag`] begins at one half.
    pub score: f32,
    /// Why, for a person; empty if the text passes.
    pub reasons: Vec<String>,
}
