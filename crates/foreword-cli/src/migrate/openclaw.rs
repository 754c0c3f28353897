//! OpenClaw: SOUL.md and other identity files at the root, skills, and agents in folders. The directory
//! may also be a whole `~/.openclaw`, with the workspace in it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::header;
use super::import::{Import, SubAgent};
use super::instructions::CONTEXT;
use super::permissions::{Decision, Rule};
use super::source::Source;
use super::tool_names::{MappedTool, mapped};
use super::{json5, model_names};

/// Identity files, at the root and in an agent's folder.
const IDENTITY: [&str; 8] = [
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "USER_BOOTSTRAP.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    CONTEXT,
];
const SURE: [&str; 3] = ["SOUL.md", "IDENTITY.md", "TOOLS.md"];
const WEAK: [&str; 3] = ["USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"];
const MEMORIES: &str =
    "memories are kept in the database: run `foreword memory import FILE --kind fact`";
const CRON: &str = "run each job with `foreword run` from your own cron, or ask an agent with the `schedule` tools";
/// The known keys of an agent's header.
const KEYS: [&str; 15] = [
    "id",
    "namespace",
    "description",
    "tools",
    "extensions",
    "disallowed_tools",
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

/// The directory of the workspace, if the source is a whole OpenClaw home.
pub(super) fn workspace_below(source: &Source) -> Option<&'static str> {
    (source.is_file("openclaw.json") && source.is_dir("workspace")).then_some("workspace")
}

pub(super) fn sure_signs(source: &Source) -> Vec<&'static str> {
    SURE.into_iter().filter(|name| source.is_file(name)).collect()
}

pub(super) fn signs(source: &Source) -> Vec<&'static str> {
    let mut signs = sure_signs(source);
    signs.extend(WEAK.into_iter().filter(|name| source.is_file(name)));
    let below = |dir: &str| source.names(dir).unwrap_or_default();
    if below("agents").iter().any(|name| {
        let has = |file: &&str| source.is_file(&format!("agents/{name}/{file}"));
        ["AGENT.md", "AGENTS.md"].iter().chain(&IDENTITY).any(has)
    }) {
        signs.push("agents/*/");
    }
    signs
}

pub(super) fn migrate(import: &mut Import) {
    for name in IDENTITY.into_iter().filter(|name| *name != CONTEXT) {
        import.copy_if_present(name, name);
    }
    if import.source.exists(CONTEXT) {
        import.instructions.context = import.read(CONTEXT);
    }
    import.copy_skills("skills");
    migrate_agents(import);
    for name in ["MEMORY.md", "memory.md", "memory"] {
        import.lost_if_present(name, MEMORIES);
    }
    import.lost_if_present(
        "BOOT.md",
        "ran at the start of the gateway; run it with `foreword run` when your machine starts",
    );
    import.lost_if_present("hooks", "Foreword runs no hooks");
    import.left_if_present("canvas", "pages of the OpenClaw app");
    import.lost_if_present(
        "openclaw.json",
        "it belongs beside the workspace: migrate the directory that holds both, such as ~/.openclaw",
    );
}

/// The settings of a whole OpenClaw home, beside its workspace.
pub(super) fn migrate_home(import: &mut Import, home: &Source) {
    for name in home.names("").unwrap_or_default() {
        match name.as_str() {
            "workspace" => {}
            "openclaw.json" => match home.read(&name).and_then(|text| json5::parse(&text)) {
                Ok(value) => settings(import, &value),
                Err(reason) => import.lost("openclaw.json", reason),
            },
            "credentials" | "identity" | "devices" => {
                import.left(
                    &name,
                    "logins and keys; set a key in your environment, such as ANTHROPIC_API_KEY",
                );
            }
            "cron" => import.lost(&name, CRON),
            "memory" => import.lost(&name, MEMORIES),
            "skills" => {
                import.lost(&name, "shared skills: run `foreword skill import` on the folder");
            }
            "hooks" | "extensions" => import.lost(&name, "Foreword runs no hooks or extensions"),
            name if name.starts_with("workspace-") => {
                import.lost(name, "the workspace of another agent; migrate it by itself");
            }
            _ => import.left(&name, "state of OpenClaw itself"),
        }
    }
}

fn settings(import: &mut Import, value: &Value) {
    let at = |key: &str| format!("openclaw.json: {key}");
    let model = value.pointer("/agents/defaults/model");
    let model = model.and_then(|model| model.as_str().or_else(|| model.get("primary")?.as_str()));
    if let Some((given, model)) = model.and_then(|given| Some((given, model_names::mapped(given)?)))
    {
        let note = format!("{given} → model.name = \"{}\"", model.name);
        import.mapped(&at("agents.defaults.model"), "foreword.toml", note);
        import.settings.set_model(model);
    }
    let servers = value.pointer("/mcp/servers").and_then(Value::as_object);
    for (name, server) in servers.into_iter().flatten() {
        import.take_server("openclaw.json", name, server.clone());
    }
    for key in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
        match key.as_str() {
            "agents" => agents(import, &at(key), value.get(key).unwrap_or(&Value::Null)),
            "mcp" | "$schema" | "meta" | "wizard" => {}
            "channels" | "messages" | "bindings" => {
                import.lost(&at(key), "Foreword talks on the terminal; connect channels through `foreword serve` or MCP");
            }
            "tools" => tools(import, &at(key), value.get(key).unwrap_or(&Value::Null)),
            "cron" => import.lost(&at(key), CRON),
            "hooks" => import.lost(&at(key), "Foreword runs no hooks"),
            "env" => environment(import, &at(key), value.get(key)),
            "skills" => skills(import, &at(key), value.get(key).unwrap_or(&Value::Null)),
            _ => import.left(&at(key), "only affects how OpenClaw itself runs"),
        }
    }
}

/// Settings of agents. With one agent, its own are those of the workspace.
fn agents(import: &mut Import, at: &str, value: &Value) {
    for (key, value) in value.get("defaults").and_then(Value::as_object).into_iter().flatten() {
        agent_setting(import, &format!("{at}.defaults.{key}"), key, value);
    }
    let list = value.get("list").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let at = format!("{at}.list");
    match list {
        [] => {}
        [agent] => {
            for (key, value) in agent.as_object().into_iter().flatten() {
                match key.as_str() {
                    "id" | "default" | "name" => {}
                    "model" => {
                        import.lost(&format!("{at}.{key}"), "set `model.name` in foreword.toml");
                    }
                    _ => agent_setting(import, &format!("{at}.{key}"), key, value),
                }
            }
        }
        _ => import.lost(&at, "one workspace per agent; migrate each by itself"),
    }
}

fn agent_setting(import: &mut Import, at: &str, key: &str, value: &Value) {
    match key {
        // The first model is a row of its own.
        "model" => {
            let others = value.get("fallbacks").and_then(Value::as_array);
            if others.is_some_and(|others| !others.is_empty()) {
                import.lost(&format!("{at}.fallbacks"), "an agent has one model");
            }
        }
        "heartbeat" => import.lost(at, "run `foreword run --heartbeat` from a timer"),
        "identity" => import.lost(at, "write it into IDENTITY.md"),
        "skills" => import.lost(at, "agents see all skills; list some in an agent's header"),
        "tools" => tools(import, at, value),
        _ => import.left(at, "only affects how OpenClaw itself runs"),
    }
}

/// The skills that are turned off in a home's settings.
pub(super) fn disabled_skills(home: &Source) -> BTreeSet<String> {
    let text = home.read("openclaw.json").unwrap_or_default();
    let value = json5::parse(&text).unwrap_or_default();
    let entries = value.pointer("/skills/entries").and_then(Value::as_object);
    let entries = entries.into_iter().flatten();
    let is_off = |entry: &Value| entry.get("enabled").and_then(Value::as_bool) == Some(false);
    entries.filter(|(_, entry)| is_off(entry)).map(|(name, _)| name.clone()).collect()
}

/// Settings of skills. Those that are turned off have a row of their own where their files are.
fn skills(import: &mut Import, at: &str, value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        if key != "entries" {
            import.lost(&at, "settings of skills; list roots in `skills.roots`");
            continue;
        }
        for (name, entry) in value.as_object().into_iter().flatten() {
            for (key, value) in entry.as_object().into_iter().flatten() {
                let at = format!("{at}.{name}.{key}");
                match key.as_str() {
                    "enabled" => {}
                    "env" => environment(import, &at, Some(value)),
                    "apiKey" => import.lost(&at, "set the key in your own environment"),
                    _ => import.lost(&at, "skills have no settings; write it into SKILL.md"),
                }
            }
        }
    }
}

/// Variables, which Foreword takes from the person's own environment. Their values are not shown.
fn environment(import: &mut Import, at: &str, value: Option<&Value>) {
    let names =
        value.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str());
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        import.lost(at, format!("set in your own environment: {}", names.join(", ")));
    }
}

/// Tools that are denied stay denied. The others are settings of OpenClaw's own tools.
fn tools(import: &mut Import, at: &str, value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        if key != "deny" {
            let why = "list an agent's tools in its header, and rules in [permissions]";
            import.lost(&at, why);
            continue;
        }
        for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let source = format!("{at} {name}");
            match mapped(name) {
                MappedTool::Tools(tools) => {
                    import.permissions.rules.extend(tools.iter().map(|tool| Rule {
                        decision: Decision::Deny,
                        pattern: (*tool).to_owned(),
                        source: source.clone(),
                        is_for_one_agent: false,
                    }));
                }
                _ if name.contains([':', '*']) => {
                    import.lost(
                        &source,
                        "a group of tools; add its tools to `deny` in [permissions]",
                    );
                }
                _ => import.left(&source, "no tool does this"),
            }
        }
    }
}

/// Imports `agents/<id>/` and `agents/<id>.md`.
pub(super) fn migrate_agents(import: &mut Import) {
    if !import.source.is_dir("agents") {
        return;
    }
    let names = match import.source.names("agents") {
        Ok(names) => names,
        Err(reason) => return import.lost("agents", reason),
    };
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let path = format!("agents/{name}");
        if import.source.is_dir(&path) {
            migrate_folder(import, &path, name);
        } else if name.eq_ignore_ascii_case("README.md") || !name.ends_with(".md") {
            import.left(&path, "not an agent");
        } else {
            let id = name.strip_suffix(".md").unwrap_or(name);
            migrate_agent_file(import, &path, &path, id);
        }
    }
}

/// Imports an agent's folder: its header, identity and users.
fn migrate_folder(import: &mut Import, dir: &str, id: &str) {
    let own = ["AGENT.md", "AGENTS.md"]
        .into_iter()
        .find(|name| import.source.is_file(&format!("{dir}/{name}")));
    let has_identity = IDENTITY.iter().any(|name| import.source.is_file(&format!("{dir}/{name}")));
    let to = format!("agents/{id}/AGENT.md");
    let taken = match own {
        Some(own) => migrate_agent_file(import, &format!("{dir}/{own}"), &to, id),
        None if !has_identity => {
            import.left(dir, "no AGENT.md, AGENTS.md or identity file in it");
            false
        }
        None => {
            let text = format!("---\nid: {}\n---\n", header::quoted(id));
            let agent = SubAgent { id: id.to_owned(), description: String::new() };
            import.add_agent(dir, &to, agent, text)
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
            "users" => migrate_users(import, &path),
            "MEMORY.md" | "memory.md" | "memory" => import.lost(&path, MEMORIES),
            _ => import.left(&path, "not used in an agent's folder"),
        }
    }
}

fn migrate_users(import: &mut Import, dir: &str) {
    match import.source.names(dir) {
        Ok(users) => {
            for user in users {
                let path = format!("{dir}/{user}/USER.md");
                import.copy_if_present(&path, &path);
            }
        }
        Err(reason) => import.lost(dir, reason),
    }
}

/// Imports an agent's file without its unknown header keys.
fn migrate_agent_file(import: &mut Import, from: &str, to: &str, id: &str) -> bool {
    let Some(text) = import.read(from) else { return false };
    let Ok(parts) = header::split(&text) else {
        import.lost(from, "its header has no end");
        return false;
    };
    let description = parts.line("description").unwrap_or_default();
    let agent = SubAgent { id: id.to_owned(), description };
    let same_id = parts.line("id").is_none_or(|said| said == id);
    let (known, unknown): (Vec<&str>, Vec<&str>) = parts.keys().partition(|key| KEYS.contains(key));
    if same_id && unknown.is_empty() {
        let taken = import.add_agent(from, to, agent, text);
        if taken {
            import.carried(from, to);
        }
        return taken;
    }
    let mut out = format!("---\nid: {}\n", header::quoted(id));
    for raw in known.iter().filter(|key| **key != "id").filter_map(|key| parts.raw(key)) {
        out.push_str(raw.trim_end());
        out.push('\n');
    }
    out.push_str("---\n\n");
    out.push_str(parts.body);
    let taken = import.add_agent(from, to, agent, out);
    if taken {
        import.mapped(from, to, "with the keys that Foreword knows");
        for key in unknown.iter().filter(|key| **key != "name") {
            import.lost(&format!("{from}: {key}"), "agents have no such setting");
        }
    }
    taken
}
