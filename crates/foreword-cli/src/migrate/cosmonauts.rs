//! Cosmonauts: `prompts/` with a base, capability packs and personas, or the older layout with a coding base
//! and roles.

use super::header;
use super::import::{Import, SubAgent};
use super::openclaw::migrate_agents;
use super::source::Source;

const CORE: &str = "capabilities/core";
/// The agent that people talk to.
const MAIN: &str = "cosmo";

/// The capability packs of the five built-in agents of Cosmonauts.
const KNOWN: [(&str, &[&str]); 5] = [
    ("cosmo", &["core", "coding-readwrite", "tasks", "spawning", "todo"]),
    ("planner", &["core", "coding-readonly"]),
    ("task-manager", &["core", "tasks"]),
    ("coordinator", &["core", "tasks", "spawning"]),
    ("worker", &["core", "coding-readwrite", "tasks", "todo"]),
];

/// Capability packs and their tool surfaces.
const SURFACES: [(&str, &str); 5] = [
    ("capabilities/coding-readwrite", "coding"),
    ("capabilities/coding-readonly", "readonly"),
    ("capabilities/tasks", "tasks"),
    ("capabilities/spawning", "spawning"),
    ("capabilities/todo", "todo"),
];

pub(super) fn signs(source: &Source) -> Vec<&'static str> {
    let layered = layered_signs(source);
    if layered.is_empty() && is_legacy(source) {
        return vec!["prompts/base/coding.md", "prompts/roles/"];
    }
    layered
}

fn layered_signs(source: &Source) -> Vec<&'static str> {
    let mut signs = Vec::new();
    if source.is_file("prompts/cosmonauts.md") {
        signs.push("prompts/cosmonauts.md");
    }
    if source.is_dir("prompts/capabilities") {
        signs.push("prompts/capabilities/");
    }
    let namespaces = source.names("prompts/agents").unwrap_or_default();
    if namespaces.iter().any(|name| source.is_dir(&format!("prompts/agents/{name}"))) {
        signs.push("prompts/agents/*/");
    }
    signs
}

fn is_legacy(source: &Source) -> bool {
    source.is_file("prompts/base/coding.md") && source.is_dir("prompts/roles")
}

pub(super) fn migrate(import: &mut Import) {
    if layered_signs(&import.source).is_empty() {
        migrate_legacy(import);
    } else {
        import.copy_folder("prompts", "prompts");
        import.carried("prompts/", "prompts/");
    }
    migrate_agents(import);
    for (namespace, id) in personas(import) {
        describe(import, &namespace, &id);
    }
    import.copy_skills("skills");
    for name in ["lib", "extensions"] {
        import.lost_if_present(name, "code of Cosmonauts; its tools have no equivalent here");
    }
    if import.agents.iter().any(|agent| agent.id == MAIN) {
        import.settings.agent = Some(MAIN.to_owned());
    }
}

/// The older layout: one base with an identity, and roles on top of it.
fn migrate_legacy(import: &mut Import) {
    for name in import.source.names("prompts").unwrap_or_default() {
        let path = format!("prompts/{name}");
        match name.as_str() {
            "base" | "roles" => migrate_legacy_folder(import, &path),
            _ if name.starts_with('.') => import.left(&path, "hidden file"),
            _ if import.source.is_dir(&path) => {
                import.copy_folder(&path, &path);
                import.carried(&format!("{path}/"), &format!("{path}/"));
            }
            _ => {
                import.copy(&path, &path);
            }
        }
    }
    import.notes.push(
        "every role inherits the identity in the base of the older layout; run `foreword lint` to check for identity bleed".to_owned(),
    );
}

fn migrate_legacy_folder(import: &mut Import, dir: &str) {
    let names = match import.source.names(dir) {
        Ok(names) => names,
        Err(reason) => return import.lost(dir, reason),
    };
    for name in names {
        let path = format!("{dir}/{name}");
        let to = if path == "prompts/base/coding.md" {
            "prompts/base.md".to_owned()
        } else if dir == "prompts/roles" && name.ends_with(".md") && !name.starts_with('.') {
            format!("prompts/agents/coding/{name}")
        } else {
            import.left(&path, "not part of the layered layout");
            continue;
        };
        import.copy(&path, &to);
    }
}

/// Namespaces and ids of the imported personas.
fn personas(import: &Import) -> Vec<(String, String)> {
    let below = import.paths().filter_map(|path| path.strip_prefix("prompts/agents/"));
    below
        .filter_map(|path| {
            let (namespace, file) = path.split_once('/')?;
            let id = file.strip_suffix(".md").filter(|id| !id.contains('/'))?;
            let is_agent = !id.is_empty() && !id.eq_ignore_ascii_case("README");
            is_agent.then(|| (namespace.to_owned(), id.to_owned()))
        })
        .collect()
}

/// Writes the agent of a persona, with the parts of its prompt and its tools.
fn describe(import: &mut Import, namespace: &str, id: &str) {
    let to = format!("agents/{id}/AGENT.md");
    if import.has(&to) || import.has(&format!("agents/{id}.md")) {
        return;
    }
    let prompts = references(namespace, id, |name| import.has(&format!("prompts/{name}.md")));
    let surfaces: Vec<&str> = SURFACES
        .iter()
        .filter(|(pack, _)| prompts.iter().any(|name| name == pack))
        .map(|(_, surface)| *surface)
        .collect();
    let mut text =
        format!("---\nid: {}\nnamespace: {}\n", header::quoted(id), header::quoted(namespace));
    if !surfaces.is_empty() {
        text.push_str(&format!("tools: [{}]\n", surfaces.join(", ")));
    }
    text.push_str("prompts:\n");
    for name in &prompts {
        text.push_str(&format!("  - {}\n", header::quoted(name)));
    }
    text.push_str("---\n");
    let from = format!("prompts/agents/{namespace}/{id}.md");
    let agent = SubAgent { id: id.to_owned(), description: String::new() };
    if import.add_agent(&from, &to, agent, text) {
        let packs = prompts.iter().filter_map(|name| name.strip_prefix("capabilities/"));
        let packs: Vec<&str> = packs.collect();
        import.mapped(&from, &to, format!("agent with the packs {}", packs.join(", ")));
    }
}

/// The existing parts of an agent's prompt, in the order of the layers.
fn references(namespace: &str, id: &str, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let base = ["cosmonauts", "base"].into_iter().find(|name| is_there(name)).map(str::to_owned);
    let packs: Vec<String> = KNOWN.iter().find(|(known, _)| *known == id).map_or_else(
        || vec![CORE.to_owned()],
        |(_, packs)| packs.iter().map(|pack| format!("capabilities/{pack}")).collect(),
    );
    base.into_iter()
        .chain(packs.into_iter().filter(|name| is_there(name)))
        .chain(std::iter::once(format!("agents/{namespace}/{id}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_agents_have_the_lists_of_cosmonauts() {
        let all = |id| references("coding", id, |_| true);
        assert_eq!(
            all("cosmo"),
            [
                "cosmonauts",
                "capabilities/core",
                "capabilities/coding-readwrite",
                "capabilities/tasks",
                "capabilities/spawning",
                "capabilities/todo",
                "agents/coding/cosmo"
            ]
        );
        assert_eq!(
            all("planner"),
            [
                "cosmonauts",
                "capabilities/core",
                "capabilities/coding-readonly",
                "agents/coding/planner"
            ]
        );
        assert_eq!(
            all("task-manager"),
            ["cosmonauts", "capabilities/core", "capabilities/tasks", "agents/coding/task-manager"]
        );
    }

    #[test]
    fn what_is_not_there_is_not_referred_to() {
        let legacy = references("coding", "worker", |name| name == "base");
        assert_eq!(legacy, ["base", "agents/coding/worker"]);
        let other = references("ops", "pilot", |name| name != "base");
        assert_eq!(other, ["cosmonauts", "capabilities/core", "agents/ops/pilot"]);
    }
}
