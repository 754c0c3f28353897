//! Verdicts of the injection scanner.

use serde::{Deserialize, Serialize};

/// Whether a text is likely a prompt injection, from unlikely to likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scan {
    pub verdict: ScanVerdict,
    /// From 0 to 1; [`ScanVerdict::Flag`] begins at one half.
    pub score: f32,
    /// Why, for a person; empty if the text passes.
    pub reasons: Vec<String>,
    /// Where, the worst first; empty if the text passes.
    #[serde(default)]
    pub findings: Vec<ScanFinding>,
}

/// One place in a text that looks like an injection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanFinding {
    /// The line it starts on, from 1.
    pub line: u32,
    /// Its first byte and the byte behind its last; of what it was decoded from, if it was.
    pub range: [usize; 2],
    /// How it was read, if not plainly: "in a comment", "in base64 or hexadecimal".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// As for the whole text.
    pub score: f32,
    /// What it says, shortened.
    pub excerpt: String,
}
