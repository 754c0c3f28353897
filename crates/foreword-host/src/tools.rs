//! Which of an agent's tools somebody can carry out, with their schemas.

use foreword::Context;
use foreword_protocol::ToolSpec;
use foreword_protocol::{LocalTool, Who, action_schema, actions};

/// Tools and surfaces of an agent for whom the workspace names none.
pub(crate) const DEFAULT: [&str; 6] = ["coding", "skills", "memory", "tasks", "todo", "session"];

/// The tools of a Context that the sandbox or the host can carry out, in their order. What only the
/// workspace describes is known by name and not offered as callable.
pub(crate) fn callable(context: &Context) -> Vec<ToolSpec> {
    context.tools.iter().filter_map(|tool| spec(tool.name.inspect())).collect()
}

/// What the model is told about a tool.
pub(crate) fn spec(name: &str) -> Option<ToolSpec> {
    if let Some(tool) = LocalTool::named(name) {
        return Some(tool.spec());
    }
    let action = actions().iter().find(|action| action.name == name && action.who == Who::Agent)?;
    Some(ToolSpec {
        name: action.name.to_owned(),
        description: action.description.to_owned(),
        input_schema: action_schema(action),
    })
}
