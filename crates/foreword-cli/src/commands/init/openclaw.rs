//! OpenClaw: SOUL.md and other identity files at the root, skills, and agents in folders.

use super::header;
use super::import::Import;
use super::source::{Source, is_portable};

/// Identity files, at the root and in an agent's folder.
const IDENTITY: [&str; 8] = [
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "USER_BOOTSTRAP.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "CONTEXT.md",
];
const SURE: [&str; 3] = ["SOUL.md", "IDENTITY.md", "TOOLS.md"];
const WEAK: [&str; 4] = ["AGENTS.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"];
const MEMORIES: &str = "memories are not imported; run `foreword memory import`";
/// The known keys of an agent's header.
const KEYS: [&str; 14] = [
    "id",
    "namespace",
    "description",
    "tools",
    "extensions",
    "capabilities",
    "prompts",
    "blueprint",
    "model",
    "allow_skills",
    "skills",
    "channel",
    "mode",
    "prompt_mode",
];

pub(super) fn sure_signs(source: &Source) -> Vec<&'static str> {
    SURE.into_iter().filter(|name| source.is_file(name)).collect()
}

/// Files that mean OpenClaw only if no other layout matches.
pub(super) fn weak_signs(source: &Source) -> Vec<&'static str> {
    let mut signs: Vec<_> = WEAK.into_iter().filter(|name| source.is_file(name)).collect();
    let below = |dir: &str| source.names(dir).unwrap_or_default();
    if below("skills").iter().any(|name| source.is_file(&format!("skills/{name}/SKILL.md"))) {
        signs.push("skills/*/SKILL.md");
    }
    if below("agents").iter().any(|name| {
        let has = |file: &&str| source.is_file(&format!("agents/{name}/{file}"));
        ["AGENT.md", "AGENTS.md"].iter().chain(&IDENTITY).any(has)
    }) {
        signs.push("agents/*/");
    }
    signs
}

/// Imports the directory and returns its blueprint.
pub(super) fn import(import: &mut Import) -> &'static str {
    let agents_file = import.copy_if_present("AGENTS.md", "AGENTS.md");
    if agents_file {
        import.skip_if_present("CLAUDE.md", "AGENTS.md is imported instead");
    } else {
        import.copy_if_present("CLAUDE.md", "CLAUDE.md");
    }
    for name in IDENTITY {
        import.copy_if_present(name, name);
    }
    import.copy_skills("skills");
    import_agents(import);
    for name in ["MEMORY.md", "memory.md", "memory"] {
        import.skip_if_present(name, MEMORIES);
    }
    import.skip_if_present("openclaw.json", "settings are not imported; see foreword.toml");
    import.skip_if_present(".claude", "imported as OpenClaw; copy what you need by hand");
    if sure_signs(&import.source).is_empty() { "standard" } else { "companion" }
}

/// Imports `agents/<id>/` and `agents/<id>.md`.
pub(super) fn import_agents(import: &mut Import) {
    if !import.source.is_dir("agents") {
        return;
    }
    let names = match import.source.names("agents") {
        Ok(names) => names,
        Err(reason) => return import.skip("agents", reason),
    };
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let path = format!("agents/{name}");
        if import.source.is_dir(&path) {
            import_folder(import, &path, name);
        } else if name.eq_ignore_ascii_case("README.md") || !name.ends_with(".md") {
            import.skip(&path, "not an agent");
        } else {
            let id = name.strip_suffix(".md").unwrap_or(name);
            import_agent_file(import, &path, &path, id);
        }
    }
}

/// Imports an agent's folder: its header, identity and users.
fn import_folder(import: &mut Import, dir: &str, id: &str) {
    let own = ["AGENT.md", "AGENTS.md"]
        .into_iter()
        .find(|name| import.source.is_file(&format!("{dir}/{name}")));
    let has_identity = IDENTITY.iter().any(|name| import.source.is_file(&format!("{dir}/{name}")));
    let to = format!("agents/{id}/AGENT.md");
    let taken = match own {
        Some(own) => import_agent_file(import, &format!("{dir}/{own}"), &to, id),
        None if !has_identity => {
            import.skip(dir, "no AGENT.md, AGENTS.md or identity file in it");
            false
        }
        None => {
            let text = format!("---\nid: {}\n---\n", header::quoted(id));
            accept_agent(import, dir, &to, id, text)
        }
    };
    if !taken {
        return;
    }
    for name in import.source.names(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        match name.as_str() {
            _ if own == Some(name.as_str()) => {}
            known if IDENTITY.contains(&known) => {
                import.copy(&path, &path);
            }
            "users" => import_users(import, &path),
            "MEMORY.md" | "memory.md" | "memory" => import.skip(&path, MEMORIES),
            _ => import.skip(&path, "not used in an agent's folder"),
        }
    }
}

fn import_users(import: &mut Import, dir: &str) {
    match import.source.names(dir) {
        Ok(users) => {
            for user in users {
                let path = format!("{dir}/{user}/USER.md");
                import.copy_if_present(&path, &path);
            }
        }
        Err(reason) => import.skip(dir, reason),
    }
}

/// Imports an agent's file without its unknown header keys.
fn import_agent_file(import: &mut Import, from: &str, to: &str, id: &str) -> bool {
    let Some(text) = import.read(from) else { return false };
    let Ok(parts) = header::split(&text) else {
        import.skip(from, "its header has no end");
        return false;
    };
    let same_id = parts.line("id").is_none_or(|said| said == id);
    let (known, unknown): (Vec<&str>, Vec<&str>) = parts.keys().partition(|key| KEYS.contains(key));
    if same_id && unknown.is_empty() {
        return accept_agent(import, from, to, id, text);
    }
    let mut out = format!("---\nid: {}\n", header::quoted(id));
    for raw in known.iter().filter(|key| **key != "id").filter_map(|key| parts.raw(key)) {
        out.push_str(raw.trim_end());
        out.push('\n');
    }
    out.push_str("---\n\n");
    out.push_str(parts.body);
    let dropped: Vec<&str> = unknown.iter().copied().filter(|key| *key != "name").collect();
    let taken = accept_agent(import, from, to, id, out);
    if taken && !dropped.is_empty() {
        let keys = dropped.join("`, `");
        import.skip(from, format!("unknown header keys `{keys}`; the rest is imported"));
    }
    taken
}

/// Adds an agent, if its id is valid and free.
pub(super) fn accept_agent(
    import: &mut Import,
    from: &str,
    to: &str,
    id: &str,
    text: String,
) -> bool {
    if !is_portable(id) {
        import.skip(from, "its id is not a valid file name on every platform");
        return false;
    }
    if import.agent_is_known(id) {
        import.skip(from, format!("agent `{id}` already exists"));
        return false;
    }
    let taken = import.add_text(from, to, text);
    if taken {
        import.add_agent(id);
    }
    taken
}
