//! Sub-agents of Claude Code and Cursor: one Markdown file each, with a header.

use super::header::{self, Parts};
use super::import::{Import, SubAgent};
use super::model_names;
use super::source::is_portable;
use super::tool_names::{self, MappedTools};
use super::walk::file_name;

const MAX_HEADER_BYTES: usize = 60 << 10;

/// Imports every agent of a directory, also from subfolders.
pub(super) fn migrate(import: &mut Import, dir: &str) {
    for path in import.files_below(dir) {
        let name = file_name(&path);
        match name.strip_suffix(".md") {
            Some(stem) if !name.eq_ignore_ascii_case("README.md") => {
                migrate_agent(import, &path, stem);
            }
            _ => import.left(&path, "not an agent"),
        }
    }
}

fn migrate_agent(import: &mut Import, path: &str, stem: &str) {
    let Some(text) = import.read(path) else { return };
    let parts = match header::split(&text) {
        Ok(parts) if parts.has_header() => parts,
        Ok(_) => return import.left(path, "not an agent: it has no header"),
        Err(_) => return import.lost(path, "its header has no end"),
    };
    let id = id_from(parts.line("name").as_deref().unwrap_or(stem), stem);
    let description = parts.line("description").unwrap_or_default();
    let mut notes = Vec::new();
    let mut lost = Vec::new();
    let tools = tools(&parts, &mut notes, &mut lost);
    let model = parts.line("model");
    let mapped = model.as_deref().and_then(model_names::mapped);
    if let (Some(given), Some(mapped)) = (&model, &mapped)
        && *given != mapped.name
    {
        notes.push(format!("model {given} → {}", mapped.name));
    }
    let mode = match parts.line("permissionMode").as_deref() {
        None | Some("default") => None,
        Some("plan") => {
            notes.push("permissionMode plan → mode plan".to_owned());
            Some("plan")
        }
        Some(other) => {
            let reason = format!("permission mode `{other}`: [permissions] decides what is asked");
            lost.push(("permissionMode".to_owned(), reason));
            None
        }
    };
    let skills = parts.list("skills");
    let head = AgentHeader {
        id: &id,
        description: &description,
        model: mapped.as_ref().map(|model| model.name.as_str()),
        mode,
        tools: &tools,
        skills: &skills,
    }
    .text();
    if head.len() > MAX_HEADER_BYTES {
        return import.lost(path, "its header is too long");
    }
    other_keys(&parts, &mut notes, &mut lost);
    let to = format!("agents/{id}/AGENT.md");
    let agent = SubAgent { id, description };
    if !import.add_agent(path, &to, agent, format!("{head}\n{}", parts.body)) {
        return;
    }
    import.mapped(path, &to, if notes.is_empty() { "agent".to_owned() } else { notes.join("; ") });
    for (what, reason) in lost {
        import.lost(&format!("{path}: {what}"), reason);
    }
}

fn tools(
    parts: &Parts<'_>,
    notes: &mut Vec<String>,
    lost: &mut Vec<(String, String)>,
) -> Vec<String> {
    let listed = parts.list("tools");
    let denied = parts.list("disallowedTools");
    let readonly = parts.line("readonly").is_some_and(|value| value == "true");
    let MappedTools { mut names, notes: mapped, lost: not_mapped, all } =
        tool_names::mapped_all(&listed);
    notes.extend(mapped);
    lost.extend(not_mapped.into_iter().map(|(tool, reason)| (format!("tool {tool}"), reason)));
    if !denied.is_empty() {
        let taken = tool_names::mapped_all(&denied).names;
        if names.is_empty() {
            names = tool_names::without(&denied).unwrap_or_default();
        } else {
            names.retain(|name| !taken.contains(name));
        }
        notes.push(format!("without {}", denied.join(", ")));
    }
    if readonly {
        notes.push("readonly".to_owned());
        if names.is_empty() {
            names = vec!["readonly".to_owned(), "skills".to_owned(), "session".to_owned()];
        } else {
            names.retain(|name| !matches!(name.as_str(), "write" | "edit" | "bash"));
        }
    }
    // An agent without tools would get all of them.
    let is_limited = readonly || !(listed.is_empty() || all);
    if names.is_empty() && is_limited {
        names.push("session".to_owned());
    }
    names
}

/// What becomes of the other keys of the header.
fn other_keys(parts: &Parts<'_>, notes: &mut Vec<String>, lost: &mut Vec<(String, String)>) {
    let mut seen = Vec::new();
    for key in parts.keys() {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let reason = match key {
            "name" | "description" | "model" | "tools" | "disallowedTools" | "permissionMode"
            | "skills" | "readonly" => continue,
            "color" | "background" | "is_background" | "effort" => {
                notes.push(format!("`{key}` left out: it does not change what the agent is told"));
                continue;
            }
            "hooks" => "Foreword runs no hooks",
            "mcpServers" => "MCP servers are set for the workspace, in .mcp.json",
            "maxTurns" => "set `host.max_steps` in foreword.toml",
            "memory" => "memories are kept for the workspace; see `foreword memory`",
            "isolation" => "agents work in the workspace itself, in a sandbox",
            _ => "unknown key",
        };
        lost.push((key.to_owned(), reason.to_owned()));
    }
}

/// The header of an AGENT.md.
pub(super) struct AgentHeader<'a> {
    pub(super) id: &'a str,
    pub(super) description: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) mode: Option<&'a str>,
    pub(super) tools: &'a [String],
    pub(super) skills: &'a [String],
}

impl AgentHeader<'_> {
    pub(super) fn text(&self) -> String {
        let mut head = format!("---\nid: {}\n", header::quoted(self.id));
        if !self.description.is_empty() {
            head.push_str(&format!("description: {}\n", header::quoted(self.description)));
        }
        for (key, value) in [("model", self.model), ("mode", self.mode)] {
            if let Some(value) = value {
                head.push_str(&format!("{key}: {}\n", header::quoted(value)));
            }
        }
        for (key, names) in [("tools", self.tools), ("skills", self.skills)] {
            if !names.is_empty() {
                head.push_str(&format!("{key}:\n"));
                for name in names {
                    head.push_str(&format!("  - {}\n", header::quoted(name)));
                }
            }
        }
        head.push_str("---\n");
        head
    }
}

/// An id that is a valid folder name, made from the agent's name or its file.
pub(super) fn id_from(name: &str, stem: &str) -> String {
    let slug = |text: &str| {
        let letters = text.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' });
        let letters: String = letters.collect();
        letters.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
    };
    [slug(name), slug(stem)]
        .into_iter()
        .find(|id| is_portable(id))
        .unwrap_or_else(|| "agent".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_of_any_name() {
        assert_eq!(id_from("code-reviewer", "x"), "code-reviewer");
        assert_eq!(id_from("Code Reviewer!", "x"), "Code-Reviewer");
        assert_eq!(id_from("../../etc", "x"), "etc");
        assert_eq!(id_from("...", "stem"), "stem");
        assert_eq!(id_from("con", "nul"), "agent");
    }

    #[test]
    fn tools_are_never_widened() {
        let names = |header: &str| {
            let text = format!("---\nname: a\n{header}\n---\nX\n");
            tools(&header::split(&text).unwrap(), &mut Vec::new(), &mut Vec::new())
        };
        assert_eq!(names("model: opus"), Vec::<String>::new(), "all tools");
        assert_eq!(names("tools: '*'"), Vec::<String>::new(), "all tools");
        assert_eq!(names("tools: WebSearch"), ["session"]);
        assert_eq!(names("tools: Bash\ndisallowedTools: Bash"), ["session"]);
        assert_eq!(names("tools: Read, Bash\nreadonly: true"), ["read"]);
        assert_eq!(names("tools: Bash\nreadonly: true"), ["session"]);
        assert_eq!(names("disallowedTools: WebSearch"), Vec::<String>::new(), "all tools");
        assert!(!names("disallowedTools: Bash").contains(&"bash".to_owned()));
    }
}
