//! Runners.

use crate::names::names;

names! {
    /// The loop that runs an agent.
    pub enum RunnerKind: "runner", default Native {
        /// The built-in agent loop.
        Native = "native",
        /// The `claude` command.
        ClaudeCode = "claude-code",
        /// The `pi` command.
        Pi = "pi",
    }
}

impl RunnerKind {
    /// The `agentType` of its Context.
    pub fn agent_type(self) -> &'static str {
        match self {
            Self::Native => "pi-agent-core",
            Self::ClaudeCode => "claude-code",
            Self::Pi => "pi-coding-agent",
        }
    }
}
