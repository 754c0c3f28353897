//! What the scanner says about a text.

use serde::{Deserialize, Serialize};

/// Whether a text reads like an injection; the later, the surer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ScanVerdict {
    /// Nothing that reads like one.
    Pass,
    /// Reads like one; about one harmless text in a hundred does too.
    Flag,
    /// Reads so much like one that hardly any harmless text does.
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

/// What the scanner says about a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scan {
    /// The verdict.
    pub verdict: ScanVerdict,
    /// From 0 to 1; [`ScanVerdict::Flag`] begins at one half.
    pub score: f32,
    /// Why, for a person; empty where there is nothing to say.
    pub reasons: Vec<String>,
}
