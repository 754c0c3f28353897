//! Claude Code: CLAUDE.md with its imports, and agents, skills, commands, rules, styles and settings in
//! `.claude/`. The directory may also be a person's own `~/.claude`, or a plugin.

use serde_json::Value;

use super::commands::Placeholders;
use super::header;
use super::import::Import;
use super::imports::Following;
use super::source::Source;
use super::walk::file_name;
use super::{claude_agents, claude_settings, commands};

/// The folder that makes a directory a plugin.
const PLUGIN: &str = ".claude-plugin";
/// What Claude Code keeps beside a person's `.claude`.
const PERSONAL: &str = ".claude.json";
const NO_HOOKS: &str = "Foreword runs no hooks; put checks into your git hooks or CI";

pub(super) fn signs(source: &Source) -> Vec<&'static str> {
    let mut signs = Vec::new();
    if source.is_file("CLAUDE.md") {
        signs.push("CLAUDE.md");
    }
    if source.is_dir(".claude") {
        signs.push(".claude/");
    }
    if source.is_dir(PLUGIN) {
        signs.push(".claude-plugin/");
    }
    if is_home(source) && source.is_file("settings.json") {
        signs.push("settings.json");
    }
    signs
}

/// Whether the directory is itself a `.claude`.
fn is_home(source: &Source) -> bool {
    source.name() == ".claude"
}

/// Where CLAUDE.md is.
pub(super) fn main_file(source: &Source) -> Option<&'static str> {
    ["CLAUDE.md", ".claude/CLAUDE.md"].into_iter().find(|path| source.exists(path))
}

pub(super) fn migrate(import: &mut Import) {
    if import.source.exists("CLAUDE.md") && import.source.is_file(".claude/CLAUDE.md") {
        second_file(import);
    }
    local_file(import);
    import.take_server_file(".mcp.json");
    if is_home(&import.source) {
        migrate_folder(import, "");
        other_files(import, "");
        personal_servers(import);
    } else {
        migrate_folder(import, ".claude/");
        other_files(import, ".claude");
    }
    if import.source.is_dir(PLUGIN) {
        migrate_folder(import, "");
        import.left(PLUGIN, "describes the plugin, not what it does");
        import.lost_if_present("hooks", NO_HOOKS);
    }
}

/// The servers that a person has in every project, in the file beside their `.claude`. The rest of the file is
/// state of Claude Code, with the person's login.
fn personal_servers(import: &mut Import) {
    let Some(text) = import.source.read_beside(PERSONAL) else { return };
    let at = format!("../{PERSONAL}");
    let value = match text.and_then(|text| super::json5::parse(&text)) {
        Ok(value) => value,
        Err(reason) => return import.lost(&at, reason),
    };
    let servers = value.get("mcpServers").and_then(Value::as_object);
    for (name, server) in servers.into_iter().flatten() {
        import.take_server(&at, name, server.clone());
    }
    let projects = value.get("projects").and_then(Value::as_object).into_iter().flatten();
    for (project, settings) in projects {
        let own = settings.get("mcpServers").and_then(Value::as_object);
        for name in own.into_iter().flat_map(serde_json::Map::keys) {
            import.left(
                &format!("{at}: projects.{project}: {name}"),
                "a server of one project; migrate the project and add it to its .mcp.json",
            );
        }
    }
    import.left(&at, "the rest is state of Claude Code and your login");
}

/// Imports what the folder at a prefix holds.
fn migrate_folder(import: &mut Import, prefix: &str) {
    let at = |name: &str| format!("{prefix}{name}");
    rules(import, &at("rules"));
    import.copy_skills(&at("skills"));
    commands::migrate(import, &at("commands"), &[".md"], Placeholders::Numbered);
    claude_agents::migrate(import, &at("agents"));
    for name in ["settings.json", "settings.local.json"] {
        claude_settings::migrate(import, &at(name));
    }
    styles(import, &at("output-styles"));
}

/// Names everything else in the folder of Claude Code.
fn other_files(import: &mut Import, folder: &str) {
    for name in import.source.names(folder).unwrap_or_default() {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match name.as_str() {
            "CLAUDE.md"
            | "rules"
            | "skills"
            | "commands"
            | "agents"
            | "settings.json"
            | "settings.local.json"
            | "output-styles"
            | ".mcp.json"
            | "CLAUDE.local.md"
            | ".gitignore"
            | ".DS_Store" => {}
            "hooks" => import.lost(&path, NO_HOOKS),
            "plugins" => import.lost(
                &path,
                "plugins are not supported; copy their skills and agents into the project",
            ),
            "agent-memory" | "agent-memory-local" => {
                import.lost(&path, "run `foreword memory import` on its files");
            }
            "projects" => {
                import.left(&path, "conversations; `foreword memory import` reads them");
            }
            _ => import.left(&path, "not part of what instructs the agent"),
        }
    }
}

/// `.claude/CLAUDE.md` beside a CLAUDE.md: Claude Code reads both.
fn second_file(import: &mut Import) {
    let path = ".claude/CLAUDE.md";
    let Some(text) = import.read(path) else { return };
    let expanded = super::imports::expand(&import.source, path, &text, Following::default());
    import.record_imports(path, &expanded);
    import.instructions.add(path, path, &expanded.text, "below the main instructions");
    import.record_included(&expanded, "CONTEXT.md");
}

/// Personal instructions for this project.
fn local_file(import: &mut Import) {
    let path = "CLAUDE.local.md";
    if !import.source.exists(path) {
        return;
    }
    if import.source.exists("USER.md") {
        return import.lost(path, "USER.md is imported; add the text to it");
    }
    let Some(text) = import.read(path) else { return };
    let expanded = super::imports::expand(&import.source, path, &text, Following::default());
    import.record_imports(path, &expanded);
    if import.add_text(path, "USER.md", expanded.text.clone()) {
        import.mapped(
            path,
            "USER.md",
            "personal; keep USER.md out of git if others use the workspace",
        );
        import.record_included(&expanded, "USER.md");
    }
}

/// Rules, which count everywhere or for some paths.
fn rules(import: &mut Import, dir: &str) {
    for path in import.files_below(dir) {
        let Some(stem) = file_name(&path).strip_suffix(".md") else {
            import.left(&path, "not a rule");
            continue;
        };
        let Some(text) = import.read(&path) else { continue };
        let Ok(parts) = header::split(&text) else {
            import.lost(&path, "its header has no end");
            continue;
        };
        let scope = parts.list("paths").join(", ");
        let to = import.place_of_others();
        let body = import.with_imports(&path, parts.body, to, false);
        add_rule(import, &path, stem, &body, &scope);
    }
}

/// Adds a rule to the instructions, with the files it is for.
pub(super) fn add_rule(import: &mut Import, path: &str, name: &str, body: &str, scope: &str) {
    if body.trim().is_empty() {
        return import.left(path, "empty");
    }
    if scope.is_empty() {
        import.instructions.add(path, &format!("Rule: {name}"), body, "as an instruction");
    } else {
        let text = format!("This applies to files that match: {scope}\n\n{}", body.trim());
        let note = format!("as an instruction for {scope}");
        import.instructions.add(path, &format!("Rule: {name}"), &text, &note);
    }
}

/// Output styles: the one in use is part of the instructions.
fn styles(import: &mut Import, dir: &str) {
    let chosen = import.settings.output_style.take();
    let mut found = false;
    for name in import.source.names(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        let Some(stem) = name.strip_suffix(".md") else { continue };
        let Some(text) = import.read(&path) else { continue };
        let Ok(parts) = header::split(&text) else { continue };
        let title = parts.line("name").unwrap_or_else(|| stem.to_owned());
        let is_chosen = chosen
            .as_deref()
            .is_some_and(|chosen| chosen.eq_ignore_ascii_case(&title) || chosen == stem);
        if is_chosen {
            found = true;
            import.instructions.add(
                &path,
                "Output style",
                parts.body,
                "the style in use, as an instruction",
            );
        } else {
            import.left(&path, "an output style that is not in use");
        }
    }
    match chosen {
        Some(chosen) if !found && !chosen.eq_ignore_ascii_case("default") => import.lost(
            "settings: outputStyle",
            format!("the style `{chosen}` is built into Claude Code; describe it in AGENTS.md"),
        ),
        _ => {}
    }
}
