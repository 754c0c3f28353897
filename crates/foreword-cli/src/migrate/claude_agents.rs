//! Sub-agents of Claude Code and Cursor: one Markdown file each, with a header.

use super::header::{self, Parts};
use super::import::{Import, SubAgent};
use super::imports::{self, Following};
use super::model_names;
use super::permissions::{self, Decision, MappedRule, Rule};
use super::source::is_portable;
use super::tool_names::{self, DeniedTools, MappedTools};
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
    let mut tools = AgentTools::of(&parts, &mut notes, &mut lost);
    let limits = std::mem::take(&mut tools.limits);
    let rules = limits.iter().flat_map(|limit| tools.deny_limited(path, limit, &mut lost));
    let rules: Vec<Rule> = rules.collect();
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
        tools: &tools.names,
        disallowed: &tools.disallowed,
        skills: &skills,
        allow_skills: tools.allow_skills,
    }
    .text();
    if head.len() > MAX_HEADER_BYTES {
        return import.lost(path, "its header is too long");
    }
    other_keys(&parts, &mut notes, &mut lost);
    let to = format!("agents/{id}/AGENT.md");
    let agent = SubAgent { id, description };
    let how = Following { from_root: true, ..Following::default() };
    let expanded = imports::expand(&import.source, path, parts.body, how);
    if !import.add_agent(path, &to, agent, format!("{head}\n{}", expanded.text)) {
        return;
    }
    import.record_imports(path, &expanded);
    import.record_included(&expanded, &to);
    import.permissions.rules.extend(rules);
    import.mapped(path, &to, if notes.is_empty() { "agent".to_owned() } else { notes.join("; ") });
    for (what, reason) in lost {
        import.lost(&format!("{path}: {what}"), reason);
    }
}

/// What an agent that only reads does not get. An agent that it starts could write.
pub(super) const NOT_READONLY: [&str; 5] = ["write", "edit", "bash", "spawn_agent", "chain_run"];

/// The tools of an agent. It gets none that it did not have, and loses none without a word.
#[derive(Debug, PartialEq, Eq)]
struct AgentTools {
    /// Its tools; empty for all.
    names: Vec<String>,
    /// Those that it does not get of them.
    disallowed: Vec<String>,
    /// Limits on the arguments of tools that it keeps, such as `Bash(rm:*)`.
    limits: Vec<String>,
    allow_skills: bool,
}

impl AgentTools {
    fn of(parts: &Parts<'_>, notes: &mut Vec<String>, lost: &mut Vec<(String, String)>) -> Self {
        let listed = parts.list("tools");
        let denied = parts.list("disallowedTools");
        let readonly = parts.line("readonly").is_some_and(|value| value == "true");
        let MappedTools { names, notes: mapped, lost: not_mapped, all } =
            tool_names::mapped_all(&listed);
        notes.extend(mapped);
        lost.extend(not_mapped.into_iter().map(|(tool, reason)| (format!("tool {tool}"), reason)));
        // A list that is empty gives nothing, and no list gives everything.
        let is_limited = parts.lines("tools").is_some() && !all;
        if is_limited && listed.is_empty() {
            notes.push("`tools` is empty → session".to_owned());
        }
        let DeniedTools { names: mut taken, limited: limits, lost: kept, all: takes_all } =
            tool_names::denied(&denied);
        lost.extend(kept.into_iter().map(|(tool, why)| (format!("disallowedTools {tool}"), why)));
        let whole: Vec<&str> =
            denied.iter().filter(|entry| !limits.contains(*entry)).map(String::as_str).collect();
        if !whole.is_empty() {
            notes.push(format!("without {}", whole.join(", ")));
        }
        if readonly {
            notes.push(format!("readonly: without {}", NOT_READONLY.join(", ")));
            taken.extend(NOT_READONLY.map(str::to_owned));
        }
        // Without the tool that reads them, a list of skills is of no use.
        let allow_skills = !taken.iter().any(|tool| tool == "skill_read");
        let mut tools = Self { names, disallowed: Vec::new(), limits, allow_skills };
        tools.take(&taken, is_limited || takes_all, takes_all);
        tools
    }

    /// Takes tools away: from the list if there is one, or from all.
    fn take(&mut self, taken: &[String], is_limited: bool, takes_all: bool) {
        let server_of = foreword_workspace::mcp_server_of;
        let is_whole = |name: &str| server_of(name).is_some_and(|s| name == format!("mcp__{s}"));
        let covers = |taken: &str, name: &str| {
            taken == name
                || (server_of(name).is_some()
                    && (taken == "mcp__*"
                        || is_whole(taken) && server_of(taken) == server_of(name)))
        };
        self.names.retain(|name| !takes_all && !taken.iter().any(|taken| covers(taken, name)));
        // A server on the list keeps its other tools.
        let on_list = |taken: &String| {
            self.names.iter().any(|name| is_whole(name) && server_of(taken) == server_of(name))
        };
        let is_skill = |name: &&String| name.starts_with("skill_");
        self.disallowed = taken
            .iter()
            .filter(|taken| !is_skill(taken) && (!is_limited || on_list(taken)))
            .cloned()
            .collect();
        // An agent without tools would get all of them.
        if self.names.is_empty() && is_limited {
            self.names.push("session".to_owned());
        }
    }

    /// A rule against a call with some arguments. There are none for one agent, so it counts for all. What no
    /// rule can say takes the whole tool away.
    fn deny_limited(
        &mut self,
        path: &str,
        entry: &str,
        lost: &mut Vec<(String, String)>,
    ) -> Vec<Rule> {
        let source = format!("{path}: disallowedTools {entry}");
        let reason = match permissions::mapped_rule(entry) {
            MappedRule::Patterns(patterns) => {
                let rule = |pattern| Rule {
                    decision: Decision::Deny,
                    pattern,
                    source: source.clone(),
                    is_for_one_agent: true,
                };
                return patterns.into_iter().map(rule).collect();
            }
            MappedRule::WebHost(_) => "`host.web_hosts` is for every agent".to_owned(),
            MappedRule::Outside(why) | MappedRule::Lost(why) => why,
        };
        let (name, _) = tool_names::limit_of(entry);
        let taken = tool_names::denied(&[name.to_owned()]).names;
        let is_limited = !self.names.is_empty();
        let before = std::mem::take(&mut self.disallowed);
        self.take(&taken, is_limited, false);
        self.disallowed.extend(before);
        lost.push((
            format!("disallowedTools {entry}"),
            format!("{reason}; the agent does not get {name} at all"),
        ));
        Vec::new()
    }
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
    /// Empty for all tools.
    pub(super) tools: &'a [String],
    pub(super) disallowed: &'a [String],
    pub(super) skills: &'a [String],
    pub(super) allow_skills: bool,
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
        let lists =
            [("tools", self.tools), ("disallowed_tools", self.disallowed), ("skills", self.skills)];
        for (key, names) in lists {
            if !names.is_empty() {
                head.push_str(&format!("{key}:\n"));
                for name in names {
                    head.push_str(&format!("  - {}\n", header::quoted(name)));
                }
            }
        }
        if !self.allow_skills {
            head.push_str("allow_skills: false\n");
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

    fn tools(header: &str) -> AgentTools {
        let text = format!("---\nname: a\n{header}\n---\nX\n");
        AgentTools::of(&header::split(&text).unwrap(), &mut Vec::new(), &mut Vec::new())
    }

    #[test]
    fn tools_are_never_widened() {
        let names = |header: &str| tools(header).names;
        assert_eq!(names("model: opus"), Vec::<String>::new(), "all tools");
        assert_eq!(names("tools: '*'"), Vec::<String>::new(), "all tools");
        assert_eq!(names("tools: WebSearch"), ["session"]);
        assert_eq!(names("tools: []"), ["session"]);
        assert_eq!(names("tools:"), ["session"]);
        assert_eq!(names("tools: Bash(git diff:*)"), ["session"]);
        assert_eq!(names("tools: Bash\ndisallowedTools: Bash"), ["session"]);
        assert_eq!(names("disallowedTools: '*'"), ["session"]);
        assert_eq!(names("tools: Read, Bash\nreadonly: true"), ["read"]);
        assert_eq!(names("tools: Bash\nreadonly: true"), ["session"]);
        assert_eq!(names("tools: Read, mcp__t__echo\ndisallowedTools: mcp__t"), ["read"]);
    }

    #[test]
    fn only_what_is_disallowed_is_taken_away() {
        let taken = |header: &str| {
            let tools = tools(header);
            assert_eq!(tools.names, Vec::<String>::new(), "{header}");
            tools.disallowed
        };
        assert_eq!(taken("disallowedTools: mcp__t__echo"), ["mcp__t__echo"]);
        assert_eq!(taken("disallowedTools: Write"), ["write"]);
        assert_eq!(
            taken("disallowedTools: WebFetch, Task"),
            ["web_fetch", "spawn_agent", "chain_run"]
        );
        assert_eq!(taken("disallowedTools: WebSearch, Bash(rm:*)"), Vec::<String>::new());
        assert_eq!(tools("disallowedTools: WebSearch, Bash(rm:*)").limits, ["Bash(rm:*)"]);
        assert_eq!(taken("readonly: true"), NOT_READONLY);
        let without = tools("disallowedTools: Skill");
        assert_eq!((without.disallowed.len(), without.allow_skills), (0, false));
        let listed = tools("tools: Read, mcp__t\ndisallowedTools: mcp__t__echo, Write");
        assert_eq!(listed.names, ["read", "mcp__t"]);
        assert_eq!(listed.disallowed, ["mcp__t__echo"]);
    }

    #[test]
    fn a_limit_is_a_rule_or_takes_the_tool_away() {
        let mut lost = Vec::new();
        let mut some = tools("disallowedTools: Bash(rm:*), Task(planner)");
        let rules = some.deny_limited("a.md", "Bash(rm:*)", &mut lost);
        assert_eq!((rules[0].pattern.as_str(), lost.len()), ("bash(rm:*)", 0));
        assert_eq!(some.deny_limited("a.md", "Task(planner)", &mut lost), []);
        assert_eq!((some.disallowed.len(), lost.len()), (2, 1));
    }
}
