//! Where content comes from, and how much of a session is external.

use serde::{Deserialize, Serialize};

use crate::names::names;

names! {
    /// Where content that enters a session comes from.
    ///
    /// ```
    /// use foreword::{Provenance, TaintLevel};
    ///
    /// let mut level = TaintLevel::default();
    /// level.add(Provenance::External, 10, false);
    /// assert!(level.is_tainted());
    /// ```
    pub enum Provenance: "provenance" {
        /// The workspace files that define the agent.
        Operator = "operator",
        /// The user who talks to the agent.
        User = "user",
        /// The result of a tool call.
        ToolResult = "tool_result",
        /// Content from outside: a web page, an email, a channel message.
        External = "external",
        /// A memory recalled from an earlier session.
        Memory = "memory",
    }
}

/// How much of a session came from outside, in tokens. The system prompt does not count.
///
/// The ratio falls only by what a person does: once external content has arrived, the total grows with
/// more of it and with the person's own messages, and with nothing that the agent can call for.
///
/// ```
/// use foreword::{Provenance, TaintLevel};
///
/// let mut level = TaintLevel::default();
/// level.add(Provenance::User, 30, false);
/// level.add(Provenance::External, 10, false);
/// assert_eq!(level.ratio(), 0.25);
/// level.add(Provenance::ToolResult, 1000, false);
/// assert_eq!(level.ratio(), 0.25, "an agent cannot dilute it");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaintLevel {
    /// Tokens of external content.
    pub external_tokens: u64,
    /// Tokens of external content, of the person's messages, and of what came before the first
    /// external content.
    pub total_tokens: u64,
    /// Has external content arrived since the user last spoke?
    pub external_since_person: bool,
}

impl TaintLevel {
    /// Counts content that enters the session.
    ///
    /// External content always counts as tainted. A tool result or a memory does if it `carries` taint:
    /// the tool read external content, or the memory was written from it. Text by the operator or the
    /// user never does, and a message of the user resets `external_since_person`.
    pub fn add(&mut self, provenance: Provenance, tokens: u64, carries: bool) {
        let tainted = match provenance {
            Provenance::External => true,
            Provenance::ToolResult | Provenance::Memory => carries,
            Provenance::Operator => false,
            Provenance::User => {
                self.external_since_person = false;
                false
            }
        };
        if tainted || provenance == Provenance::User || !self.is_tainted() {
            self.total_tokens = self.total_tokens.saturating_add(tokens);
        }
        if tainted {
            self.external_tokens = self.external_tokens.saturating_add(tokens);
            self.external_since_person = true;
        }
    }

    /// Whether the session holds any external content.
    #[must_use]
    pub fn is_tainted(self) -> bool {
        self.external_tokens > 0
    }

    /// External tokens over all counted tokens, 0 to 1; 0 for an empty session.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio of counts far below 2^52")]
    pub fn ratio(self) -> f64 {
        if self.external_tokens == 0 {
            return 0.0;
        }
        // External tokens without a total are a mistake of the caller; do not read it as clean.
        let total = self.total_tokens.max(self.external_tokens);
        self.external_tokens as f64 / total as f64
    }
}
