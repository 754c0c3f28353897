//! The tools an agent can call, with their schemas.

use foreword::Context;
use foreword_protocol::{ActionInfo, LocalTool, ToolSpec, action_schema};
use foreword_workspace::Workspace;

/// The tools of an agent for which the workspace lists none.
pub(crate) const DEFAULT: [&str; 6] = ["coding", "skills", "memory", "tasks", "todo", "session"];

/// The tools of a Context that the agent or the host implements, in order. Tools that the workspace
/// only describes are left out.
pub(crate) fn callable(context: &Context) -> Vec<ToolSpec> {
    context.tools.iter().filter_map(|tool| spec(tool.name.inspect())).collect()
}

/// Whether an agent may use skills: its workspace and itself allow it. An agent that cannot be read may not.
pub(crate) fn allows_skills(workspace: &Workspace, agent: Option<&str>) -> bool {
    let by_agent = || match agent {
        Some(id) => workspace.agent(id).is_ok_and(|agent| agent.allow_skills),
        None => true,
    };
    workspace.config().skills.allow_skills && by_agent()
}

/// The description of a tool for the model.
pub(crate) fn spec(name: &str) -> Option<ToolSpec> {
    if let Some(tool) = LocalTool::named(name) {
        return Some(tool.spec());
    }
    let action = ActionInfo::tool(name)?;
    Some(ToolSpec {
        name: action.name.to_owned(),
        description: action.description.to_owned(),
        input_schema: action_schema(action),
    })
}
