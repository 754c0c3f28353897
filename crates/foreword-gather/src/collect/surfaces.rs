//! Tool surfaces: a word in an agent's header that stands for a set of tools, and the capability pack
//! that goes with them. Every prompt that names a tool can so be checked against what the agent has.

use foreword::RunnerKind;

/// A named set of tools.
#[derive(Debug)]
pub struct Surface {
    /// The word in an agent's header.
    pub name: &'static str,
    /// The pack with the discipline for these tools.
    pub pack: Option<&'static str>,
    /// Names and descriptions.
    pub tools: &'static [(&'static str, &'static str)],
}

/// The surfaces, in the order in which their packs stand in a prompt.
pub(crate) const SURFACES: &[Surface] = &[
    Surface {
        name: "coding",
        pack: Some("coding-readwrite"),
        tools: &[
            ("read", "Read a file, or a range of its lines."),
            ("write", "Write a whole file."),
            ("edit", "Replace a passage of a file."),
            ("list", "List the files of a directory."),
            ("search", "Search the text of files."),
            ("bash", "Run a command in the sandbox."),
        ],
    },
    Surface {
        name: "readonly",
        pack: Some("coding-readonly"),
        tools: &[
            ("read", "Read a file, or a range of its lines."),
            ("list", "List the files of a directory."),
            ("search", "Search the text of files."),
        ],
    },
    Surface {
        name: "tasks",
        pack: Some("tasks"),
        tools: &[
            ("task_create", "Create a task."),
            ("task_list", "List tasks and their state."),
            ("task_update", "Update the state or text of a task."),
        ],
    },
    Surface {
        name: "spawning",
        pack: Some("spawning"),
        tools: &[
            ("spawn_agent", "Start another agent on a piece of work."),
            ("chain_run", "Run agents one after another."),
        ],
    },
    Surface {
        name: "todo",
        pack: Some("todo"),
        tools: &[("todo_read", "Read your to-do list."), ("todo_write", "Write your to-do list.")],
    },
    Surface {
        name: "skills",
        pack: None,
        tools: &[
            ("skill_list", "List the available skills."),
            ("skill_read", "Read a skill by name."),
            ("skill_propose", "Propose a new or changed skill."),
        ],
    },
    Surface {
        name: "memory",
        pack: None,
        tools: &[("memory_search", "Search saved memories."), ("memory_write", "Save a memory.")],
    },
    Surface {
        name: "schedule",
        pack: None,
        tools: &[
            ("schedule_add", "Run something later, once or on a schedule."),
            ("schedule_list", "List scheduled entries."),
            ("schedule_remove", "Remove an entry from the schedule."),
        ],
    },
    Surface {
        name: "identity",
        pack: None,
        tools: &[("identity_propose", "Propose a change to an identity file; a person decides.")],
    },
    Surface {
        name: "web",
        pack: None,
        tools: &[("web_fetch", "Fetch a page from a host the workspace allows.")],
    },
    Surface {
        name: "session",
        pack: None,
        tools: &[
            ("session_status", "Show the state of this session: taint, turns, sandbox."),
            ("result_read", "Read a tool result of an earlier turn that was shortened."),
            ("tool_describe", "Describe a tool in full."),
            ("audit_report", "Record a significant action in the audit log."),
        ],
    },
];

/// All surfaces, in the order in which their packs stand in a prompt.
pub fn surfaces() -> &'static [Surface] {
    SURFACES
}

/// The pack that goes before all others.
pub(crate) const CORE_PACK: &str = "core";

pub(crate) fn surface(name: &str) -> Option<&'static Surface> {
    SURFACES.iter().find(|surface| surface.name == name)
}

/// The description of a tool that some surface has.
pub(crate) fn description(tool: &str) -> Option<&'static str> {
    SURFACES
        .iter()
        .flat_map(|surface| surface.tools)
        .find(|(name, _)| *name == tool)
        .map(|(_, text)| *text)
}

/// A built-in text with the names that a runner has for our tools.
pub(crate) fn with_tool_names(text: &str, runner: Option<RunnerKind>) -> String {
    let Some(runner) = runner else { return text.to_owned() };
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut in_code = true;
    for part in parts {
        let called = description(part).filter(|_| in_code).and_then(|_| runner.tool_name(part));
        out.push('`');
        out.push_str(called.as_deref().unwrap_or(part));
        in_code = !in_code;
    }
    out
}

/// The built-in text of a capability pack, for workspaces that have none of that name.
pub(crate) fn builtin_pack(name: &str) -> Option<&'static str> {
    Some(match name {
        "core" => include_str!("builtin/capabilities/core.md"),
        "coding-readwrite" => include_str!("builtin/capabilities/coding-readwrite.md"),
        "coding-readonly" => include_str!("builtin/capabilities/coding-readonly.md"),
        "tasks" => include_str!("builtin/capabilities/tasks.md"),
        "spawning" => include_str!("builtin/capabilities/spawning.md"),
        "todo" => include_str!("builtin/capabilities/todo.md"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_name_tools_as_the_runner_does() {
        let text = "Find it with `search`, `read` it, then `task_update`: search `main.rs`.\n";
        let named = |runner| with_tool_names(text, Some(runner));
        assert_eq!(named(RunnerKind::Native), text);
        assert_eq!(
            named(RunnerKind::ClaudeCode),
            "Find it with `Grep`, `Read` it, then `mcp__foreword__task_update`: search `main.rs`.\n"
        );
        assert_eq!(
            named(RunnerKind::Pi),
            "Find it with `grep`, `read` it, then `task_update`: search `main.rs`.\n"
        );
    }

    #[test]
    fn every_pack_of_a_surface_is_built_in_and_names_only_its_tools() {
        let all: Vec<&str> = SURFACES.iter().flat_map(|s| s.tools).map(|(name, _)| *name).collect();
        for surface in SURFACES {
            let Some(pack) = surface.pack else { continue };
            let text = builtin_pack(pack).unwrap();
            assert!(!text.contains("You are"), "{pack}");
            for tool in &all {
                let named = text.contains(&format!("`{tool}`"));
                let has = surface.tools.iter().any(|(name, _)| name == tool);
                assert!(!named || has, "{pack} names {tool}");
            }
        }
    }
}
