//! Claude Code: CLAUDE.md, sub-agents and skills below `.claude/`.

use super::header;
use super::import::Import;
use super::openclaw::accept_agent;
use super::source::{Source, is_portable};

const AGENTS: &str = ".claude/agents";
/// No header of a workspace is longer.
const LONGEST_HEADER: usize = 60 << 10;

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

/// Takes the directory; gives the blueprint it goes with.
pub(super) fn take(import: &mut Import) -> &'static str {
    take_instructions(import);
    import.take_skills(".claude/skills");
    take_agents(import, AGENTS);
    for name in import.source.names(".claude").unwrap_or_default() {
        if let Some(reason) = left_out(&name) {
            import.refuse(&format!(".claude/{name}"), reason);
        }
    }
    import.refuse_if_there("CLAUDE.local.md", "is one person's own and not the project's");
    import.refuse_if_there(
        ".mcp.json",
        "servers are not started here; name their tools in tools.toml",
    );
    "standard"
}

/// Why something in `.claude/` is not taken; `None` for what is.
fn left_out(name: &str) -> Option<&'static str> {
    Some(match name {
        "agents" | "skills" | "CLAUDE.md" => return None,
        "commands" => {
            "commands are typed by a person and are no part of a prompt; as skills they are"
        }
        "settings.json" | "settings.local.json" => {
            "permissions and hooks are the host's; see foreword.toml for settings of the prompt"
        }
        "hooks" => "hooks run programs, which a workspace does not",
        "rules" | "output-styles" => {
            "has no counterpart; put what should always hold in AGENTS.md or CONTEXT.md"
        }
        _ => "is not known here",
    })
}

/// CLAUDE.md under its name: it is read where AGENTS.md is absent.
fn take_instructions(import: &mut Import) {
    let from =
        ["CLAUDE.md", ".claude/CLAUDE.md"].into_iter().find(|path| import.source.is_file(path));
    let Some(from) = from else {
        import.take_if_there("AGENTS.md", "AGENTS.md");
        return;
    };
    if !import.take(from, "CLAUDE.md") {
        return;
    }
    if from == "CLAUDE.md" {
        import.refuse_if_there(".claude/CLAUDE.md", "CLAUDE.md is there and is taken");
    }
    let text = import.read(from).unwrap_or_default();
    let imports: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix('@'))
        .filter(|path| !path.is_empty() && !path.contains(char::is_whitespace))
        .collect();
    let wants_agents = imports.iter().any(|path| path.trim_start_matches("./") == "AGENTS.md");
    if wants_agents && import.take_if_there("AGENTS.md", "AGENTS.md") {
        import.notes.push(
            "CLAUDE.md imports AGENTS.md: both are taken, and AGENTS.md is the one that is read; move what else CLAUDE.md says into it".to_owned(),
        );
    } else {
        import.refuse_if_there(
            "AGENTS.md",
            "CLAUDE.md is what Claude Code reads, and AGENTS.md would hide it",
        );
    }
    for path in imports.iter().filter(|path| path.trim_start_matches("./") != "AGENTS.md") {
        import.refuse(
            path,
            "CLAUDE.md imports it with `@`, and imports are not followed; use CONTEXT.md",
        );
    }
}

/// Takes every sub-agent, those in folders that sort them included.
fn take_agents(import: &mut Import, dir: &str) {
    if !import.source.is_dir(dir) {
        return;
    }
    let names = match import.source.names(dir) {
        Ok(names) => names,
        Err(reason) => return import.refuse(dir, reason),
    };
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let path = format!("{dir}/{name}");
        if import.source.is_dir(&path) {
            // One level of folders is enough for sorting, and keeps a link from leading in circles.
            if dir == AGENTS {
                take_agents(import, &path);
            } else {
                import.refuse(&path, "is too deep in .claude/agents");
            }
        } else if name.ends_with(".md") {
            take_agent(import, &path, name.strip_suffix(".md").unwrap_or(name));
        } else {
            import.refuse(&path, "is not an agent");
        }
    }
}

fn take_agent(import: &mut Import, path: &str, stem: &str) {
    let Some(text) = import.read(path) else { return };
    let parts = match header::split(&text) {
        Ok(parts) if parts.has_header() => parts,
        Ok(_) => return import.refuse(path, "has no header, so it is not an agent"),
        Err(_) => return import.refuse(path, "its header is never closed"),
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
    if head.len() > LONGEST_HEADER {
        return import.refuse(path, "its header is too long");
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
        import.refuse(path, format!("of its header, `{keys}`: not known here; the rest is taken"));
    }
    for tool in limited {
        import
            .refuse(path, format!("of its tools, the limits of `{tool}`: the host enforces those"));
    }
}

/// The names of tools, and those that came with a pattern of what they may do. All tools is no list.
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

/// An id that can be a folder: the name itself, or what is left of it in letters and hyphens.
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
