//! Claude Code: CLAUDE.md, and sub-agents and skills in `.claude/`.

use super::header;
use super::import::Import;
use super::openclaw::accept_agent;
use super::source::{Source, is_portable};

const AGENTS: &str = ".claude/agents";
const MAX_HEADER_BYTES: usize = 60 << 10;

pub(super) fn signs(source: &Source) -> Vec<&'static str> {
    let mut signs = Vec::new();
    if source.is_file("CLAUDE.md") {
        signs.push("CLAUDE.md");
    }
    if source.is_dir(".claude") {
        signs.push(".claude/");
    }
    signs
}

/// Imports the directory and returns its blueprint.
pub(super) fn import(import: &mut Import) -> &'static str {
    import_instructions(import);
    import.copy_skills(".claude/skills");
    import_agents(import, AGENTS);
    for name in import.source.names(".claude").unwrap_or_default() {
        if let Some(reason) = skip_reason(&name) {
            import.skip(&format!(".claude/{name}"), reason);
        }
    }
    import.skip_if_present("CLAUDE.local.md", "personal settings, not part of the project");
    import.skip_if_present(
        ".mcp.json",
        "MCP servers are not imported; list their tools in tools.toml",
    );
    "standard"
}

/// Why a file in `.claude/` is skipped; `None` if it is imported.
fn skip_reason(name: &str) -> Option<&'static str> {
    Some(match name {
        "agents" | "skills" | "CLAUDE.md" => return None,
        "commands" => "slash commands are not part of a prompt; convert them to skills",
        "settings.json" | "settings.local.json" => {
            "permissions and hooks are not imported; see foreword.toml"
        }
        "hooks" => "a workspace has no hooks",
        "rules" | "output-styles" => "no equivalent; move the rules to AGENTS.md or CONTEXT.md",
        _ => "unknown file",
    })
}

/// Imports CLAUDE.md under its own name: it is read if there is no AGENTS.md.
fn import_instructions(import: &mut Import) {
    let from =
        ["CLAUDE.md", ".claude/CLAUDE.md"].into_iter().find(|path| import.source.is_file(path));
    let Some(from) = from else {
        import.copy_if_present("AGENTS.md", "AGENTS.md");
        return;
    };
    if !import.copy(from, "CLAUDE.md") {
        return;
    }
    if from == "CLAUDE.md" {
        import.skip_if_present(".claude/CLAUDE.md", "CLAUDE.md is imported instead");
    }
    let text = import.read(from).unwrap_or_default();
    let imports: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix('@'))
        .filter(|path| !path.is_empty() && !path.contains(char::is_whitespace))
        .collect();
    let wants_agents = imports.iter().any(|path| path.trim_start_matches("./") == "AGENTS.md");
    if wants_agents && import.copy_if_present("AGENTS.md", "AGENTS.md") {
        import.notes.push(
            "CLAUDE.md imports AGENTS.md; both are imported but only AGENTS.md is read: move the rest of CLAUDE.md into it".to_owned(),
        );
    } else {
        import.skip_if_present(
            "AGENTS.md",
            "Claude Code reads CLAUDE.md, which an AGENTS.md would override",
        );
    }
    for path in imports.iter().filter(|path| path.trim_start_matches("./") != "AGENTS.md") {
        import.skip(path, "`@` imports of CLAUDE.md are not followed; move the text to CONTEXT.md");
    }
}

/// Imports every sub-agent, also from subfolders.
fn import_agents(import: &mut Import, dir: &str) {
    if !import.source.is_dir(dir) {
        return;
    }
    let names = match import.source.names(dir) {
        Ok(names) => names,
        Err(reason) => return import.skip(dir, reason),
    };
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let path = format!("{dir}/{name}");
        if import.source.is_dir(&path) {
            // One level of subfolders, so that a link cannot lead in circles.
            if dir == AGENTS {
                import_agents(import, &path);
            } else {
                import.skip(&path, "nested too deep in .claude/agents");
            }
        } else if name.ends_with(".md") {
            import_agent(import, &path, name.strip_suffix(".md").unwrap_or(name));
        } else {
            import.skip(&path, "not an agent");
        }
    }
}

fn import_agent(import: &mut Import, path: &str, stem: &str) {
    let Some(text) = import.read(path) else { return };
    let parts = match header::split(&text) {
        Ok(parts) if parts.has_header() => parts,
        Ok(_) => return import.skip(path, "not an agent: it has no header"),
        Err(_) => return import.skip(path, "its header has no end"),
    };
    let id = id_from(parts.line("name").as_deref().unwrap_or(stem), stem);
    let mut head = format!("---\nid: {}\n", header::quoted(&id));
    if let Some(description) = parts.line("description") {
        head.push_str(&format!("description: {}\n", header::quoted(&description)));
    }
    let model = parts.line("model");
    if let Some(model) = model.as_deref().and_then(|model| model.split_whitespace().next())
        && model != "inherit"
    {
        head.push_str(&format!("model: {}\n", header::quoted(model)));
    }
    let (tools, limited) = tools(&parts.list("tools"));
    if !tools.is_empty() {
        head.push_str("tools:\n");
        for tool in &tools {
            head.push_str(&format!("  - {}\n", header::quoted(tool)));
        }
    }
    if head.len() > MAX_HEADER_BYTES {
        return import.skip(path, "its header is too long");
    }
    let text = format!("{head}---\n\n{}", parts.body);
    if !accept_agent(import, path, &format!("agents/{id}/AGENT.md"), &id, text) {
        return;
    }
    let known = ["name", "description", "model", "tools", "color"];
    let mut dropped: Vec<&str> = parts.keys().filter(|key| !known.contains(key)).collect();
    dropped.dedup();
    if !dropped.is_empty() {
        let keys = dropped.join("`, `");
        import.skip(path, format!("unknown header keys `{keys}`; the rest is imported"));
    }
    for tool in limited {
        import.skip(
            path,
            format!("the limits of the tool `{tool}` are not imported; the host enforces limits"),
        );
    }
}

/// The names of tools, and the tools that have limits. `*` is not a name.
fn tools(listed: &[String]) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let mut limited = Vec::new();
    for tool in listed {
        let name = match tool.split_once('(') {
            Some((name, _)) => {
                limited.push(tool.clone());
                name.trim()
            }
            None => tool.as_str(),
        };
        if !name.is_empty() && name != "*" && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    (names, limited)
}

/// An id that is a valid folder name, made from the agent's name or its file.
fn id_from(name: &str, stem: &str) -> String {
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
    fn tools_are_names_without_their_limits() {
        let listed = ["Read", "Bash(git add:*)", "Bash(ls)", "*"].map(str::to_owned);
        let (names, limited) = tools(&listed);
        assert_eq!(names, ["Read", "Bash"]);
        assert_eq!(limited, ["Bash(git add:*)", "Bash(ls)"]);
    }
}
