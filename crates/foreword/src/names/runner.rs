//! Runners.

use crate::names::names;

names! {
    /// The loop that runs an agent.
    ///
    /// ```
    /// use foreword::RunnerKind;
    ///
    /// assert_eq!(RunnerKind::ClaudeCode.tool_name("bash").as_deref(), Some("Bash"));
    /// assert_eq!(RunnerKind::Native.tool_name("bash"), None);
    /// ```
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

    /// What Claude Code puts in front of the names of the host's tools.
    pub const MCP_PREFIX: &str = "mcp__foreword__";

    /// The name under which it offers one of Foreword's tools, where that differs.
    pub fn tool_name(self, tool: &str) -> Option<String> {
        let own = match (self, tool) {
            (Self::ClaudeCode, "read") => "Read",
            (Self::ClaudeCode, "write") => "Write",
            (Self::ClaudeCode, "edit") => "Edit",
            (Self::ClaudeCode, "list") => "Glob",
            (Self::ClaudeCode, "search") => "Grep",
            (Self::ClaudeCode, "bash") => "Bash",
            (Self::ClaudeCode, _) => return Some(format!("{}{tool}", Self::MCP_PREFIX)),
            (Self::Pi, "list") => "ls",
            (Self::Pi, "search") => "grep",
            (Self::Pi | Self::Native, _) => return None,
        };
        Some(own.to_owned())
    }
}
