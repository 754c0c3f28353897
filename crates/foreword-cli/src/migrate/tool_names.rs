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
        return Server(name.to_owned());
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
        "task" | "agent" | "sessionsspawn" => Tools(&["spawn_agent"]),
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

/// Maps the tools of an agent. `Bash(git diff:*)` is a tool with a limit.
pub(super) fn mapped_all(listed: &[String]) -> MappedTools {
    let mut out = MappedTools::default();
    for entry in listed {
        let name = match entry.split_once('(') {
            Some((name, _)) => {
                let limit = "the limit is not carried; add a rule to [permissions]";
                out.lost.push((entry.clone(), limit.to_owned()));
                name.trim()
            }
            None => entry.as_str(),
        };
        if name == "*" {
            out.all = true;
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

/// The tools of an agent that has all but some. `None` if nothing is taken away.
pub(super) fn without(denied: &[String]) -> Option<Vec<String>> {
    let denied: Vec<String> = mapped_all(denied).names;
    let every = ["read", "write", "edit", "list", "search", "bash"];
    let left: Vec<String> = every
        .iter()
        .filter(|tool| !denied.iter().any(|name| name == *tool))
        .map(|tool| (*tool).to_owned())
        .collect();
    (left.len() < every.len()).then(|| {
        let more = ["skills", "memory", "tasks", "todo", "session"];
        left.into_iter().chain(more.map(str::to_owned)).collect()
    })
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
            "BashOutput",
        ]);
        assert_eq!(tools.names, ["read", "search", "list", "bash", "mcp__gh__issue"]);
        assert_eq!(
            tools.notes,
            [
                "Read → read",
                "Grep → search",
                "Glob → list",
                "LS → list",
                "Bash → bash",
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
    fn denied_tools_are_taken_from_all() {
        let left = without(&["Write".into(), "Edit".into()]).unwrap();
        assert_eq!(left[..4], ["read", "list", "search", "bash"]);
        assert_eq!(without(&["WebSearch".into()]), None);
    }
}
