//! OpenClaw and its kin: SOUL.md and the other identity files at the root, skills, and agents in
//! folders of their own.

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
const MEMORIES: &str =
    "memories are not files of a prompt; `foreword memory import` will take them";
/// The keys of an agent's header that a workspace knows.
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

/// Files that only mean OpenClaw where nothing else claims the directory.
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

/// Takes the directory; gives the blueprint it goes with.
pub(super) fn take(import: &mut Import) -> &'static str {
    let agents_file = import.take_if_there("AGENTS.md", "AGENTS.md");
    if agents_file {
        import.refuse_if_there("CLAUDE.md", "AGENTS.md is there and is read in its place");
    } else {
        import.take_if_there("CLAUDE.md", "CLAUDE.md");
    }
    for name in IDENTITY {
        import.take_if_there(name, name);
    }
    import.take_skills("skills");
    take_agents(import);
    for name in ["MEMORY.md", "memory.md", "memory"] {
        import.refuse_if_there(name, MEMORIES);
    }
    import.refuse_if_there("openclaw.json", "its settings have no counterpart; see foreword.toml");
    import.refuse_if_there(".claude", "this is taken over as OpenClaw; copy what you need by hand");
    if sure_signs(&import.source).is_empty() { "standard" } else { "companion" }
}

/// Takes `agents/<id>/` and `agents/<id>.md`.
pub(super) fn take_agents(import: &mut Import) {
    if !import.source.is_dir("agents") {
        return;
    }
    let names = match import.source.names("agents") {
        Ok(names) => names,
        Err(reason) => return import.refuse("agents", reason),
    };
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let path = format!("agents/{name}");
        if import.source.is_dir(&path) {
            take_folder(import, &path, name);
        } else if name.eq_ignore_ascii_case("README.md") || !name.ends_with(".md") {
            import.refuse(&path, "is not an agent");
        } else {
            let id = name.strip_suffix(".md").unwrap_or(name);
            take_agent_file(import, &path, &path, id);
        }
    }
}

/// An agent's own folder: who it is, and for whom.
fn take_folder(import: &mut Import, dir: &str, id: &str) {
    let own = ["AGENT.md", "AGENTS.md"]
        .into_iter()
        .find(|name| import.source.is_file(&format!("{dir}/{name}")));
    let has_identity = IDENTITY.iter().any(|name| import.source.is_file(&format!("{dir}/{name}")));
    let to = format!("agents/{id}/AGENT.md");
    let taken = match own {
        Some(own) => take_agent_file(import, &format!("{dir}/{own}"), &to, id),
        None if !has_identity => {
            import.refuse(dir, "there is no AGENT.md, AGENTS.md or identity file in it");
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
                import.take(&path, &path);
            }
            "users" => take_users(import, &path),
            "MEMORY.md" | "memory.md" | "memory" => import.refuse(&path, MEMORIES),
            _ => import.refuse(&path, "has no place in the folder of an agent"),
        }
    }
}

fn take_users(import: &mut Import, dir: &str) {
    match import.source.names(dir) {
        Ok(users) => {
            for user in users {
                let path = format!("{dir}/{user}/USER.md");
                import.take_if_there(&path, &path);
            }
        }
        Err(reason) => import.refuse(dir, reason),
    }
}

/// Takes an agent's file, without the keys of its header that a workspace does not know.
fn take_agent_file(import: &mut Import, from: &str, to: &str, id: &str) -> bool {
    let Some(text) = import.read(from) else { return false };
    let Ok(parts) = header::split(&text) else {
        import.refuse(from, "its header is never closed");
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
        import.refuse(from, format!("of its header, `{keys}`: not known here; the rest is taken"));
    }
    taken
}

/// Adds an agent under an id that is free and can be one.
pub(super) fn accept_agent(
    import: &mut Import,
    from: &str,
    to: &str,
    id: &str,
    text: String,
) -> bool {
    if !is_portable(id) {
        import.refuse(from, "its id does not work as a file name on every platform");
        return false;
    }
    if import.agent_is_known(id) {
        import.refuse(from, format!("there is an agent `{id}` already"));
        return false;
    }
    let taken = import.take_text(from, to, text);
    if taken {
        import.add_agent(id);
    }
    taken
}
