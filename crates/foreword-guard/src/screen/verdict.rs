//! What screening says about a text.

use serde::{Deserialize, Serialize};

use crate::screen::code::capabilities::Capabilities;

/// The result of screening, from least to most strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// No finding needs a review.
    AutoApprove,
    /// A person has to look at it.
    NeedsReview,
    /// It is refused.
    Reject,
}

impl Verdict {
    /// The name as written in JSON and shown to people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutoApprove => "AUTO_APPROVE",
            Self::NeedsReview => "NEEDS_REVIEW",
            Self::Reject => "REJECT",
        }
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ScreeningFinding"))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule, such as `shell-execution`.
    pub rule: String,
    /// What this finding alone would lead to.
    pub verdict: Verdict,
    /// The file of the skill, if it is not `SKILL.md` or the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the text, from 1.
    pub line: u32,
    /// The place itself, on one line, shortened, with invisible characters made visible.
    pub excerpt: String,
    /// The problem, for a person.
    pub message: String,
}

/// What screening says about a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Screening {
    /// The strictest verdict of all findings.
    pub verdict: Verdict,
    /// One sentence: why.
    pub reason: String,
    /// All findings, by file and line.
    pub findings: Vec<Finding>,
    /// What the skill's code can do.
    #[serde(default, skip_serializing_if = "Capabilities::is_empty")]
    pub capabilities: Capabilities,
}
