//! The interface between the MCP server and what it serves.

use foreword_protocol::{Effect, Failure, action_schema, actions};
use serde_json::Value;

/// A tool, as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments; an object.
    pub input_schema: Value,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Should a client ask the person first?
    pub sensitive: bool,
}

/// A skill, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillInfo {
    /// Its name.
    pub name: String,
    /// Its purpose; may be empty.
    pub description: String,
}

/// The prompt of an agent, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptInfo {
    /// The agent's name.
    pub name: String,
    /// The agent's purpose; may be empty.
    pub description: String,
}

/// Carries out the requests of a client.
///
/// Calls block, come from many threads at once, and are bounded in number by the server.
pub trait Backend: Send + Sync {
    /// The tools there are. Asked once, when a server starts.
    fn tools(&self) -> Vec<ToolInfo>;

    /// Carries out a tool.
    ///
    /// The model sees the message of a failure.
    fn call(&self, name: &str, args: Value) -> Result<Value, Failure>;

    /// The skills there are, each name once.
    fn skills(&self) -> Result<Vec<SkillInfo>, Failure>;

    /// The text of a skill.
    ///
    /// Returns `NotFound` for an unknown name.
    fn skill(&self, name: &str) -> Result<String, Failure>;

    /// The agents whose prompts can be had, each name once.
    fn prompts(&self) -> Result<Vec<PromptInfo>, Failure>;

    /// The prompt of an agent, for a task if there is one.
    ///
    /// Returns `NotFound` for an unknown name.
    fn prompt(&self, name: &str, task: Option<&str>) -> Result<String, Failure>;
}

/// Every action an agent may ask for, as a tool.
pub fn agent_tools() -> Vec<ToolInfo> {
    let agents = actions().iter().filter(|action| action.is_tool());
    agents
        .map(|action| ToolInfo {
            name: action.name.to_owned(),
            description: action.description.to_owned(),
            input_schema: action_schema(action),
            read_only: action.effect == Effect::Reads,
            sensitive: action.is_sensitive(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machinery_is_no_tool() {
        let tools = agent_tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert!(names.contains(&"skill_propose"));
        assert!(!names.contains(&"model_call") && !names.contains(&"content_add"));
        let propose = tools.iter().find(|tool| tool.name == "skill_propose").unwrap();
        assert!(propose.sensitive && !propose.read_only);
        assert!(tools.iter().any(|tool| tool.name == "memory_search" && tool.read_only));
    }
}
