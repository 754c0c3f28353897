//! The tools an agent can call, with their schemas.

use std::collections::BTreeMap;
use std::path::Path;

use foreword::Context;
use foreword_gather::ToolSource;
use foreword_protocol::{ActionInfo, CommandTool, LocalTool, ToolSpec, action_schema};

/// The tools of an agent for which the workspace lists none.
pub(crate) const DEFAULT: [&str; 6] = ["coding", "skills", "memory", "tasks", "todo", "session"];

/// The tools of an agent's turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallableTools {
    /// What the model is told about each, in order.
    pub(crate) specs: Vec<ToolSpec>,
    /// Those of them that are programs of the workspace.
    pub(crate) commands: BTreeMap<String, CommandTool>,
}

impl CallableTools {
    /// The tools of a Context that the agent, the host or a program of the workspace implements, in
    /// order. Tools that the workspace only describes are left out.
    pub(crate) fn of(
        context: &Context,
        sources: &BTreeMap<String, ToolSource>,
        root: &Path,
    ) -> Self {
        let mut tools = Self::default();
        for tool in context.tools.iter() {
            let name = tool.name.inspect();
            if let Some(spec) = spec(name) {
                tools.specs.push(spec);
                continue;
            }
            match sources.get(name) {
                Some(ToolSource::Command(command)) => {
                    tools.specs.push(ToolSpec {
                        name: name.to_owned(),
                        description: tool.description.inspect().to_owned(),
                        input_schema: command.parameters.clone(),
                    });
                    let mut words = command.command.clone();
                    // A program of the workspace is named from its root.
                    if let Some(program) = words.first_mut()
                        && program.contains('/')
                    {
                        *program = root.join(&*program).display().to_string();
                    }
                    tools.commands.insert(
                        name.to_owned(),
                        CommandTool {
                            command: words,
                            cwd: root.to_owned(),
                            seconds: command.seconds,
                            max_output_bytes: usize::try_from(command.max_output_bytes)
                                .unwrap_or(usize::MAX),
                        },
                    );
                }
                None => {}
            }
        }
        tools
    }
}

/// The description of a built-in tool for the model.
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
