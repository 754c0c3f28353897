//! Codex: AGENTS.md, and settings, prompts, skills and agents in `.codex/`. The directory may also be a
//! person's own `~/.codex`.

use foreword_workspace::ProviderName;
use serde_json::{Map, Value, json};

use super::claude_agents::{AgentHeader, NOT_READONLY, id_from};
use super::commands::{self, Placeholders};
use super::import::{Import, SubAgent};
use super::instructions::AGENTS;
use super::model_names;
use super::permissions::{Decision, Rule};
use super::source::Source;

/// Rules of one file.
const MAX_RULES: usize = 1_000;
const OVERRIDE: &str = "AGENTS.override.md";

pub(super) fn signs(source: &Source) -> Vec<&'static str> {
    let mut signs = Vec::new();
    if source.is_dir(".codex") {
        signs.push(".codex/");
    }
    if source.is_file(OVERRIDE) {
        signs.push(OVERRIDE);
    }
    if is_home(source) && source.is_file("config.toml") {
        signs.push("config.toml");
    }
    signs
}

fn is_home(source: &Source) -> bool {
    source.name() == ".codex"
}

/// The file that Codex reads as AGENTS.md.
pub(super) fn main_file(source: &Source) -> Option<&'static str> {
    [OVERRIDE, AGENTS].into_iter().find(|path| source.exists(path))
}

pub(super) fn migrate(import: &mut Import) {
    if import.source.is_file(OVERRIDE) && import.source.exists(AGENTS) {
        import.left(AGENTS, format!("{OVERRIDE} replaces it"));
    }
    let home = is_home(&import.source);
    let folder = if home { "" } else { ".codex" };
    let at = |name: &str| if home { name.to_owned() } else { format!(".codex/{name}") };
    config(import, &at("config.toml"));
    import.copy_skills(&at("skills"));
    commands::migrate(import, &at("prompts"), &[".md"], Placeholders::Named);
    agents(import, &at("agents"));
    rules(import, &at("rules"));
    if !home && !import.source.is_dir(".codex") {
        return;
    }
    for name in import.source.names(folder).unwrap_or_default() {
        match name.as_str() {
            "config.toml" | "skills" | "prompts" | "agents" | "rules" | "AGENTS.md"
            | "AGENTS.override.md" | ".gitignore" | ".DS_Store" => {}
            "auth.json" => import.left(&at(&name), "your login; set a key as docs/models.md says"),
            "hooks" | "hooks.json" => import.lost(&at(&name), "Foreword runs no hooks"),
            "memories" => import.lost(&at(&name), "run `foreword memory import` on its files"),
            _ => import.left(&at(&name), "not part of what instructs the agent"),
        }
    }
}

fn config(import: &mut Import, path: &str) {
    if !import.source.exists(path) {
        return;
    }
    let Some(text) = import.read(path) else { return };
    let table: toml::Table = match toml::from_str(&text) {
        Ok(table) => table,
        Err(error) => return import.lost(path, format!("not valid TOML: {}", error.message())),
    };
    for (key, value) in &table {
        let at = format!("{path}: {key}");
        match key.as_str() {
            "model" => {
                let given = value.as_str().unwrap_or_default();
                let Some(mut model) = model_names::mapped(given) else {
                    import.left(&at, "the default model is used");
                    continue;
                };
                model.provider = model.provider.or(Some(ProviderName::OpenAi));
                import.mapped(&at, "foreword.toml", format!("model.name = \"{}\"", model.name));
                import.settings.set_model(model);
            }
            "mcp_servers" => {
                for (name, server) in value.as_table().into_iter().flatten() {
                    match server_json(server) {
                        Some(server) => import.take_server(&at, name, server),
                        None => import.left(&format!("{path}: mcp_servers.{name}"), "turned off"),
                    }
                }
            }
            "developer_instructions" | "instructions" => {
                if let Some(text) = value.as_str() {
                    import.instructions.add(&at, "", text, "as an instruction");
                }
            }
            "model_instructions_file" | "experimental_instructions_file" => {
                import.lost(
                    &at,
                    "it replaces the base prompt of Codex; put its text into prompts/base.md",
                );
            }
            "sandbox_mode" if value.as_str() == Some("read-only") => {
                let tools = ["write", "edit", "bash"];
                import.permissions.rules.extend(tools.map(|tool| Rule {
                    decision: Decision::Ask,
                    pattern: tool.to_owned(),
                    source: at.clone(),
                    is_for_one_agent: false,
                }));
            }
            "approval_policy"
            | "sandbox_mode"
            | "sandbox_workspace_write"
            | "default_permissions"
            | "permissions"
            | "approvals_reviewer" => {
                import.left(
                    &at,
                    "Foreword runs every command in a sandbox and asks for what cannot be undone",
                );
            }
            "project_doc_fallback_filenames" => {
                for name in value.as_array().into_iter().flatten().filter_map(toml::Value::as_str) {
                    if import.source.is_file(name) && name != "CLAUDE.md" && !import.has(AGENTS) {
                        let Some(text) = import.read(name) else { continue };
                        import.instructions.add(name, "", &text, "Codex reads it as AGENTS.md");
                    }
                }
            }
            "model_provider" | "model_providers" | "openai_base_url" => {
                import.lost(&at, "set the server in your own settings.toml; see docs/models.md");
            }
            "notify" | "hooks" => import.lost(&at, "Foreword runs no hooks"),
            "profiles" | "profile" => import.lost(&at, "profiles have no equivalent; use agents"),
            "agents" => {
                // Limits are plain values; a table is an agent.
                let tables = value.as_table().into_iter().flatten();
                for (name, _) in tables.filter(|(_, agent)| agent.is_table()) {
                    import.lost(
                        &format!("{at}.{name}"),
                        format!("describe the agent in agents/{name}/AGENT.md"),
                    );
                }
            }
            "web_search" => search_setting(import, &at, value),
            "tools" | "features" => {
                for (name, value) in value.as_table().into_iter().flatten() {
                    let at = format!("{at}.{name}");
                    if name.starts_with("web_search") {
                        search_setting(import, &at, value);
                    } else if key == "tools" && value.as_bool() != Some(false) {
                        import.lost(&at, "no tool of this name");
                    } else {
                        import.left(&at, "only affects how Codex itself runs");
                    }
                }
            }
            "shell_environment_policy" => {
                import.lost(&at, "set the variables of commands in your own environment");
            }
            "skills" => {
                import.lost(
                    &at,
                    "delete the skills that it turns off; agents are offered every skill",
                );
            }
            _ => import.left(&at, "only affects how Codex itself runs"),
        }
    }
}

fn search_setting(import: &mut Import, at: &str, value: &toml::Value) {
    if value.as_bool() == Some(false) || value.as_str() == Some("disabled") {
        import.left(at, "turned off");
    } else {
        import.lost(at, "no tool searches the web; use an MCP server");
    }
}

/// A server as `.mcp.json` writes it, with the other settings that Codex has for it; `None` if it is turned
/// off.
fn server_json(server: &toml::Value) -> Option<Value> {
    if server.get("enabled").and_then(toml::Value::as_bool) == Some(false) {
        return None;
    }
    let mut out = Map::new();
    // The keys that are written in another way below.
    let ours = ["http_headers", "env_http_headers", "bearer_token_env_var", "env_vars", "enabled"];
    for (key, value) in server.as_table().into_iter().flatten() {
        if !ours.contains(&key.as_str())
            && let Ok(value) = serde_json::to_value(value)
        {
            out.insert(key.clone(), value);
        }
    }
    if out.contains_key("url") {
        out.insert("type".to_owned(), json!("http"));
    }
    let mut headers = Map::new();
    let given = server.get("http_headers").and_then(toml::Value::as_table);
    for (name, value) in given.into_iter().flatten() {
        headers.insert(name.clone(), json!(value.as_str().unwrap_or_default()));
    }
    let from_env = server.get("env_http_headers").and_then(toml::Value::as_table);
    for (name, value) in from_env.into_iter().flatten() {
        headers.insert(name.clone(), json!(format!("${{{}}}", value.as_str().unwrap_or_default())));
    }
    if let Some(variable) = server.get("bearer_token_env_var").and_then(toml::Value::as_str) {
        headers.insert("Authorization".to_owned(), json!(format!("Bearer ${{{variable}}}")));
    }
    if !headers.is_empty() {
        out.insert("headers".to_owned(), Value::Object(headers));
    }
    // Variables that are passed on by name.
    let names = server.get("env_vars").and_then(toml::Value::as_array);
    if let Some(names) = names {
        let env = out.entry("env").or_insert_with(|| json!({}));
        for name in names.iter().filter_map(toml::Value::as_str) {
            if let Some(env) = env.as_object_mut() {
                env.insert(name.to_owned(), json!(format!("${{{name}}}")));
            }
        }
    }
    Some(Value::Object(out))
}

/// Agents in TOML files.
fn agents(import: &mut Import, dir: &str) {
    for name in import.source.names(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        let Some(stem) = name.strip_suffix(".toml") else {
            import.left(&path, "not an agent");
            continue;
        };
        let Some(text) = import.read(&path) else { continue };
        let table: toml::Table = match toml::from_str(&text) {
            Ok(table) => table,
            Err(error) => {
                import.lost(&path, format!("not valid TOML: {}", error.message()));
                continue;
            }
        };
        let string = |key: &str| table.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        let id = id_from(string("name"), stem);
        let model = model_names::mapped(string("model"));
        let readonly = string("sandbox_mode") == "read-only";
        let disallowed: Vec<String> =
            if readonly { NOT_READONLY.map(str::to_owned).to_vec() } else { Vec::new() };
        let head = AgentHeader {
            id: &id,
            description: string("description"),
            model: model.as_ref().map(|model| model.name.as_str()),
            mode: None,
            tools: &[],
            disallowed: &disallowed,
            skills: &[],
            allow_skills: true,
        };
        let to = format!("agents/{id}/AGENT.md");
        let text = format!("{}\n{}\n", head.text(), string("developer_instructions").trim());
        let agent = SubAgent { id, description: string("description").to_owned() };
        if !import.add_agent(&path, &to, agent, text) {
            continue;
        }
        let note = if readonly {
            format!("agent; read-only sandbox → without {}", NOT_READONLY.join(", "))
        } else {
            "agent".to_owned()
        };
        import.mapped(&path, &to, note);
        for key in table.keys() {
            match key.as_str() {
                "name"
                | "description"
                | "developer_instructions"
                | "model"
                | "nickname_candidates"
                | "model_reasoning_effort"
                | "sandbox_mode" => {}
                "mcp_servers" => import.lost(
                    &format!("{path}: {key}"),
                    "MCP servers are set for the workspace, in .mcp.json",
                ),
                _ => import.lost(&format!("{path}: {key}"), "agents have no such setting"),
            }
        }
    }
}

/// Command rules: `prefix_rule(pattern = ["git", "push"], decision = "prompt")`.
fn rules(import: &mut Import, dir: &str) {
    for name in import.source.names(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        if !name.ends_with(".rules") {
            import.left(&path, "not a file of rules");
            continue;
        }
        let Some(text) = import.read(&path) else { continue };
        let mut rest = text.as_str();
        let mut number = 0;
        while let Some((_, after)) = rest.split_once("prefix_rule(") {
            number += 1;
            if number > MAX_RULES {
                import.lost(&path, format!("more than {MAX_RULES} rules; the rest is skipped"));
                break;
            }
            let (inside, next) =
                after.split_once("\n)").or_else(|| after.split_once(')')).unwrap_or((after, ""));
            rest = next;
            match prefix_rule(inside) {
                Some((words, decision)) => import.permissions.rules.push(Rule {
                    decision,
                    pattern: format!("bash({words}:*)"),
                    source: format!("{path}: {words}"),
                    is_for_one_agent: false,
                }),
                None => import.lost(
                    &format!("{path}: rule {number}"),
                    "not a plain prefix; add a rule to [permissions]",
                ),
            }
        }
    }
}

pub(super) fn prefix_rule(text: &str) -> Option<(String, Decision)> {
    let (_, after) = text.split_once("pattern")?;
    let list = after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('[')?;
    let (list, rest) = list.split_once(']')?;
    if list.contains('[') {
        return None;
    }
    let words: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let decision = if rest.contains("\"forbidden\"") {
        Decision::Deny
    } else if rest.contains("\"prompt\"") {
        Decision::Ask
    } else {
        Decision::Allow
    };
    (!words.is_empty()).then(|| (words.join(" "), decision))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_rule_is_a_pattern_and_a_list_of_choices_is_not() {
        let rule = "\n  pattern = [\"git\", \"push\"],\n  decision = \"prompt\",";
        assert_eq!(prefix_rule(rule), Some(("git push".into(), Decision::Ask)));
        assert_eq!(prefix_rule("pattern=[\"ls\"]"), Some(("ls".into(), Decision::Allow)));
        assert_eq!(prefix_rule("pattern = [\"gh\", [\"pr\", \"issue\"]]"), None);
    }

    #[test]
    fn a_server_is_written_as_claude_code_does() {
        let table: toml::Table = toml::from_str(
            "url = 'https://mcp.example.com'\nbearer_token_env_var = 'TOKEN'\nenv_vars = ['A']",
        )
        .unwrap();
        assert_eq!(
            server_json(&toml::Value::Table(table)),
            Some(json!({"url": "https://mcp.example.com", "type": "http",
                "headers": {"Authorization": "Bearer ${TOKEN}"}, "env": {"A": "${A}"}}))
        );
        let more = "command = 'x'\ncwd = '/a'\ndisabled_tools = ['y']\nstartup_timeout_sec = 9";
        let more: toml::Table = toml::from_str(more).unwrap();
        assert_eq!(
            server_json(&toml::Value::Table(more)),
            Some(
                json!({"command": "x", "cwd": "/a", "disabled_tools": ["y"], "startup_timeout_sec": 9})
            )
        );
        let off: toml::Table = toml::from_str("command = 'x'\nenabled = false").unwrap();
        assert_eq!(server_json(&toml::Value::Table(off)), None);
    }
}
