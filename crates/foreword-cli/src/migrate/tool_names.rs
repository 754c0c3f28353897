//! Tools of other agents by the names that Foreword has for them.

/// What becomes of a tool's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MappedTool {
    /// Foreword's tools that do the same.
    Tools(&'static [&'static str]),
    /// A tool of an MCP server keeps its name.
    Server(String),
    /// Part of what every runner does anyway.
    NotNeeded(&'static str),
    /// No tool does this.
    Absent(&'static str),
}

/// The tool for a name of Claude Code, Codex, Cursor or OpenClaw.
pub(super) fn mapped(name: &str) -> MappedTool {
    use MappedTool::{Absent, NotNeeded, Server, Tools};
    if name.starts_with("mcp__") {
        // A server without a tool stands for all its tools.
        return Server(name.strip_suffix("__*").unwrap_or(name).to_owned());
    }
    match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "read" | "readfile" | "notebookread" | "view" => Tools(&["read"]),
        "write" | "writefile" | "create" => Tools(&["write"]),
        "edit" | "multiedit" | "editfile" | "applypatch" | "strreplace" | "searchreplace" => {
            Tools(&["edit"])
        }
        "bash" | "shell" | "exec" | "terminal" | "runterminalcmd" | "localshell" | "process" => {
            Tools(&["bash"])
        }
        "grep" | "grepsearch" | "codebasesearch" | "search" => Tools(&["search"]),
        "glob" | "ls" | "list" | "listdir" | "filesearch" | "find" => Tools(&["list"]),
        "webfetch" | "fetch" => Tools(&["web_fetch"]),
        // The guidance for delegating names both.
        "task" | "agent" | "sessionsspawn" => Tools(&["spawn_agent", "chain_run"]),
        "todowrite" | "updateplan" => Tools(&["todo_write"]),
        "todoread" => Tools(&["todo_read"]),
        "taskcreate" => Tools(&["task_create"]),
        "tasklist" | "taskget" => Tools(&["task_list"]),
        "taskupdate" => Tools(&["task_update"]),
        "skill" | "slashcommand" => Tools(&["skill_list", "skill_read"]),
        "memorysearch" | "memoryget" => Tools(&["memory_search"]),
        "cron" => Tools(&["schedule_add", "schedule_list", "schedule_remove"]),
        "sessionstatus" => Tools(&["session_status"]),
        "bashoutput" | "killshell" | "killbash" | "taskoutput" | "taskstop" => {
            NotNeeded("commands do not run in the background")
        }
        "exitplanmode" | "enterplanmode" => {
            NotNeeded("`foreword run --mode plan` decides the mode")
        }
        "askuserquestion" => NotNeeded("the agent asks in its answer"),
        "toolsearch" => NotNeeded("Foreword selects the tools for a task"),
        "notebookedit" => Absent("no tool edits notebooks; `edit` changes their JSON"),
        "websearch" => Absent("no tool searches the web; use an MCP server"),
        "lsp" => Absent("no tool asks a language server; use an MCP server"),
        _ => Absent("no tool of this name"),
    }
}

/// A list of tools: the names to write, the notes on how they were mapped, and what is lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MappedTools {
    pub(super) names: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Tool and reason.
    pub(super) lost: Vec<(String, String)>,
    /// Whether it means every tool.
    pub(super) all: bool,
}

/// A tool and the limit on its arguments, as in `Bash(git diff:*)`. `Bash(*)` has none.
pub(super) fn limit_of(entry: &str) -> (&str, Option<&str>) {
    let Some((name, rest)) = entry.split_once('(') else { return (entry.trim(), None) };
    let limit = rest.trim_end().strip_suffix(')').unwrap_or(rest).trim();
    (name.trim(), Some(limit).filter(|limit| !matches!(*limit, "" | "*")))
}

/// Maps the tools of an agent. A tool with a limit on its arguments is not given: there are no rules for one
/// agent, and the whole tool would be more than it had.
pub(super) fn mapped_all(listed: &[String]) -> MappedTools {
    let mut out = MappedTools::default();
    for entry in listed {
        let (name, limit) = limit_of(entry);
        if name == "*" {
            out.all = true;
            continue;
        }
        if name == "mcp__*" {
            let why = "list the servers by name, such as mcp__github".to_owned();
            out.lost.push((name.to_owned(), why));
            continue;
        }
        let tools: Vec<String> = match mapped(name) {
            MappedTool::Tools(tools) => tools.iter().map(|tool| (*tool).to_owned()).collect(),
            MappedTool::Server(tool) => vec![tool],
            MappedTool::NotNeeded(why) => {
                out.notes.push(format!("{name}: {why}"));
                continue;
            }
            MappedTool::Absent(why) => {
                out.lost.push((name.to_owned(), why.to_owned()));
                continue;
            }
        };
        if limit.is_some() {
            let why = format!(
                "no rule limits one agent; add `{}` to its `tools` if it may use all of it, and rules for every agent to [permissions]",
                tools.join(", ")
            );
            out.lost.push((entry.clone(), why));
            continue;
        }
        if !(tools.len() == 1 && tools.first().is_some_and(|tool| tool == name)) {
            let note = format!("{name} → {}", tools.join(", "));
            if !out.notes.contains(&note) {
                out.notes.push(note);
            }
        }
        for tool in tools {
            if !out.names.contains(&tool) {
                out.names.push(tool);
            }
        }
    }
    // An agent without tools would get all of them.
    if out.names.is_empty() && !listed.is_empty() && !out.all {
        out.names.push("session".to_owned());
    }
    out
}

/// Tools that are taken from an agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DeniedTools {
    /// Foreword's names; `mcp__SERVER` is all tools of a server.
    pub(super) names: Vec<String>,
    /// Entries with a limit on the arguments, which take no whole tool away.
    pub(super) limited: Vec<String>,
    /// Entry and reason.
    pub(super) lost: Vec<(String, String)>,
    /// Whether it means every tool.
    pub(super) all: bool,
}

/// Maps the tools that are taken from an agent: exactly those that are named.
pub(super) fn denied(listed: &[String]) -> DeniedTools {
    let mut out = DeniedTools::default();
    for entry in listed {
        let (name, limit) = limit_of(entry);
        if limit.is_some() {
            out.limited.push(entry.clone());
            continue;
        }
        match mapped(name) {
            _ if name == "*" => out.all = true,
            // Stays as it is.
            _ if name == "mcp__*" => out.names.push(name.to_owned()),
            MappedTool::Tools(tools) => {
                out.names.extend(tools.iter().map(|tool| (*tool).to_owned()));
            }
            MappedTool::Server(tool) => out.names.push(tool),
            MappedTool::Absent(why) if name.eq_ignore_ascii_case("NotebookEdit") => {
                out.lost.push((entry.clone(), why.to_owned()));
            }
            // No agent has them.
            MappedTool::NotNeeded(_) | MappedTool::Absent(_) => {}
        }
    }
    let mut seen = Vec::new();
    out.names.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(listed: &[&str]) -> MappedTools {
        mapped_all(&listed.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn tools_get_the_names_that_foreword_has() {
        let tools = all(&[
            "Read",
            "Grep",
            "Glob",
            "LS",
            "Bash(git diff:*)",
            "mcp__gh__issue",
            "mcp__docs__*",
            "BashOutput",
        ]);
        assert_eq!(tools.names, ["read", "search", "list", "mcp__gh__issue", "mcp__docs"]);
        assert_eq!(
            tools.notes,
            [
                "Read → read",
                "Grep → search",
                "Glob → list",
                "LS → list",
                "mcp__docs__* → mcp__docs",
                "BashOutput: commands do not run in the background"
            ]
        );
        assert_eq!(tools.lost[0].0, "Bash(git diff:*)");
    }

    #[test]
    fn an_agent_whose_tools_are_all_lost_does_not_get_all_tools() {
        let tools = all(&["WebSearch"]);
        assert_eq!((tools.names.as_slice(), tools.lost.len()), (&["session".to_owned()][..], 1));
        assert!(all(&["*"]).all && all(&["*"]).names.is_empty());
    }

    #[test]
    fn exactly_the_denied_tools_are_taken_away() {
        let names = |listed: &[&str]| {
            denied(&listed.iter().map(ToString::to_string).collect::<Vec<_>>()).names
        };
        assert_eq!(names(&["Write", "Write"]), ["write"]);
        assert_eq!(names(&["WebFetch", "Task"]), ["web_fetch", "spawn_agent", "chain_run"]);
        assert_eq!(
            names(&["mcp__t__echo", "mcp__x__*", "mcp__*"]),
            ["mcp__t__echo", "mcp__x", "mcp__*"]
        );
        assert_eq!(names(&["WebSearch", "ExitPlanMode", "Bash(rm:*)"]), Vec::<String>::new());
        let all = denied(&["*".into(), "Bash(rm:*)".into(), "NotebookEdit".into()]);
        assert!(all.all);
        assert_eq!((all.limited.as_slice(), all.lost.len()), (&["Bash(rm:*)".to_owned()][..], 1));
    }
}
