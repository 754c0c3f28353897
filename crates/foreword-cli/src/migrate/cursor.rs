//! Cursor: rules in `.cursor/rules/` or `.cursorrules`, commands, skills, agents and MCP servers.

use super::claude_agents::{self, id_from};
use super::claude_code::add_rule;
use super::commands::{self, Placeholders, Skill, add_skill, first_line};
use super::header;
use super::ignored_files;
use super::import::Import;
use super::source::Source;
use super::walk::file_name;

const RULES: &str = ".cursor/rules";

pub(super) fn signs(source: &Source) -> Vec<&'static str> {
    let mut signs = Vec::new();
    if source.is_dir(".cursor") {
        signs.push(".cursor/");
    }
    if source.is_file(".cursorrules") {
        signs.push(".cursorrules");
    }
    signs
}

pub(super) fn migrate(import: &mut Import) {
    if import.source.exists(".cursorrules")
        && let Some(text) = import.read(".cursorrules")
    {
        let to = import.place_of_others();
        let text = import.with_imports(".cursorrules", &text, to, true);
        import.instructions.add(".cursorrules", "", &text, "as an instruction");
    }
    rules(import, RULES, "");
    import.copy_skills(".cursor/skills");
    commands::migrate(import, ".cursor/commands", &[".md"], Placeholders::Numbered);
    claude_agents::migrate(import, ".cursor/agents");
    import.take_server_file(".cursor/mcp.json");
    import.left_if_present(".cursorindexingignore", "only affects the index of Cursor");
    for name in import.source.names(".cursor").unwrap_or_default() {
        let path = format!(".cursor/{name}");
        match name.as_str() {
            "rules" | "skills" | "commands" | "agents" | "mcp.json" | ".gitignore"
            | ".DS_Store" => {}
            "hooks.json" | "hooks" => {
                import.lost(&path, "Foreword runs no hooks; put checks into your git hooks or CI");
            }
            "cli.json" | "permissions.json" => {
                import.lost(&path, "write the rules into [permissions] in foreword.toml");
            }
            _ => import.left(&path, "not part of what instructs the agent"),
        }
    }
}

/// Rules of a directory below the root: they apply to the files in it.
pub(super) fn migrate_directory(import: &mut Import, directory: &str) {
    rules(import, &format!("{directory}/{RULES}"), &format!("{directory}/**"));
    ignored_files::migrate(import, directory);
}

fn rules(import: &mut Import, dir: &str, scope: &str) {
    for path in import.files_below(dir) {
        match [".mdc", ".md"].iter().find_map(|end| file_name(&path).strip_suffix(end)) {
            // `name/RULE.md` is a rule in a folder of its name.
            Some("RULE") => {
                let folder = path.rsplit('/').nth(1).unwrap_or("RULE").to_owned();
                rule(import, &path, &folder, scope);
            }
            Some(stem) => rule(import, &path, stem, scope),
            None => import.left(&path, "not a rule"),
        }
    }
}

/// A rule that always applies, or applies to some files, is an instruction. One that the agent or the
/// person asks for is a skill.
fn rule(import: &mut Import, path: &str, stem: &str, scope: &str) {
    let Some(text) = import.read(path) else { return };
    let Ok(parts) = header::split(&text) else {
        return import.lost(path, "its header has no end");
    };
    let globs = parts.list("globs").join(", ");
    let always =
        parts.line("alwaysApply").is_some_and(|value| value == "true") || !parts.has_header();
    if always || !globs.is_empty() {
        let scope = match (always, scope) {
            (true, scope) => scope.to_owned(),
            (false, "") => globs,
            (false, scope) => format!("{globs} (in {scope})"),
        };
        let to = import.place_of_others();
        let body = import.with_imports(path, parts.body, to, true);
        return add_rule(import, path, stem, &body, &scope);
    }
    if parts.body.trim().is_empty() {
        return import.left(path, "empty");
    }
    let name = id_from(stem, "rule").to_lowercase().replace('_', "-");
    let given = parts.line("description");
    let description = given.clone().unwrap_or_else(|| {
        format!("{} Use it when the person mentions @{stem}.", first_line(parts.body))
    });
    let to = format!("skills/{name}/");
    let body = import.with_imports(path, parts.body, &to, true);
    let skill = Skill {
        name: &name,
        description: &description,
        tools: &[],
        is_for_people_only: false,
        body: &body,
    };
    if add_skill(import, path, &skill) {
        let kind = if given.is_some() {
            "a rule that the agent asks for"
        } else {
            "a rule that the person asks for"
        };
        import.mapped(path, &to, format!("{kind} → skill"));
    }
}
