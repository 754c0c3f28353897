//! MCP servers of all layouts, together in one `.mcp.json` as Claude Code writes it.
//!
//! They stay off until the person answers the trust question.

use std::collections::BTreeMap;

use foreword_workspace::McpServer;
use serde_json::{Map, Value, json};

use super::import::Import;
use super::json5;

pub(super) const MCP_FILE: &str = ".mcp.json";
/// Providers accept 64 characters for the name of a tool with that of its server.
const MAX_NAME_CHARS: usize = 32;

/// Settings of a server that other tools know and Foreword does not.
const NOT_CARRIED: [(&str, &str); 3] = [
    ("cwd", "servers start in the workspace; write full paths into `args`"),
    ("envFile", "set its variables in your environment, and name them as ${NAME} in `env`"),
    ("headersHelper", "write the headers as ${NAME} and set the variables in your environment"),
];

#[derive(Debug, Default)]
pub(super) struct Servers {
    /// By name, with the file each comes from.
    found: BTreeMap<String, (Value, String)>,
    /// Names that the old settings turn off.
    pub(super) disabled: Vec<String>,
    /// The only file they come from, if it can be copied as it is.
    whole_file: Option<String>,
}

impl Import {
    /// Takes the servers of a JSON file: `mcpServers`, or `servers` as some editors write it.
    pub(super) fn take_server_file(&mut self, path: &str) {
        if !self.source.exists(path) {
            return;
        }
        let Some(text) = self.read(path) else { return };
        let value = match json5::parse(&text) {
            Ok(value) => value,
            Err(reason) => return self.lost(path, reason),
        };
        let list = ["mcpServers", "servers"].iter().find_map(|key| value.get(*key)?.as_object());
        let Some(list) = list else { return self.left(path, "names no servers") };
        let before = self.servers.found.len();
        for (name, server) in list {
            self.take_server(path, name, server.clone());
        }
        let strict = serde_json::from_str::<Value>(&text).is_ok();
        let is_taken = |name: &String| self.servers.found.contains_key(name);
        // A file that is copied as it is must not need a change.
        let as_is = |(name, server): (&String, &Value)| {
            self.servers.found.get(name).is_some_and(|(taken, _)| taken == server)
        };
        let all = before == 0 && list.keys().all(is_taken) && list.iter().all(as_is);
        self.servers.whole_file = (path == MCP_FILE && strict && all).then(|| path.to_owned());
    }

    /// Takes one server, unless another file has another one of its name.
    pub(super) fn take_server(&mut self, path: &str, given: &str, server: Value) {
        let source = format!("{path}: {given}");
        let server = with_our_variables(server);
        for (key, reason) in NOT_CARRIED {
            if server.get(key).is_some() {
                self.lost(&format!("{source}: {key}"), reason);
            }
        }
        if let Some(fault) = fault(&server) {
            self.servers.whole_file = None;
            return self.lost(&source, fault);
        }
        let name = plain_name(given);
        if let Err(fault) = McpServer::of_json(&name, &server) {
            self.servers.whole_file = None;
            return self.lost(&source, format!("it {fault}"));
        }
        if name != given && self.in_place && path == MCP_FILE {
            return self.lost(&source, format!("rename it to `{name}` in .mcp.json"));
        }
        if let Some((known, from)) = self.servers.found.get(&name) {
            let reason = format!("{from} has another server of this name");
            if *known != server {
                self.lost(&source, reason);
            }
            return;
        }
        if name != given {
            self.notes.push(format!("{path}: server `{given}` is called `{name}` now"));
        }
        self.servers.whole_file = None;
        self.servers.found.insert(name, (server, path.to_owned()));
    }

    /// Writes `.mcp.json` after all layouts are read.
    pub(super) fn place_servers(&mut self) {
        let Servers { mut found, disabled, whole_file } = std::mem::take(&mut self.servers);
        let mut kept_out = Vec::new();
        // In place, the file stays as it is.
        let stays = self.in_place && self.source.exists(MCP_FILE);
        if stays {
            found.retain(|name, (_, from)| {
                if from != MCP_FILE {
                    let reason = "add it to .mcp.json, which stays as it is";
                    kept_out.push((format!("{from}: {name}"), reason));
                } else if disabled.contains(name) {
                    let reason = "Claude Code has it turned off; remove it from .mcp.json";
                    kept_out.push((format!("{from}: {name}"), reason));
                }
                from == MCP_FILE && !disabled.contains(name)
            });
        }
        for (source, reason) in kept_out {
            self.lost(&source, reason);
        }
        for name in &disabled {
            if let Some((_, from)) = found.remove(name) {
                self.left(&format!("{from}: {name}"), "turned off in the settings of Claude Code");
            }
        }
        if found.is_empty() {
            return;
        }
        for (name, (server, from)) in &found {
            for variable in literal_keys(server) {
                self.notes.push(format!(
                    "{from}: server `{name}` contains a key in `{variable}`; write ${{{variable}}} there and set the variable in your environment"
                ));
            }
        }
        if !self.in_place {
            for (name, (server, from)) in &found {
                for file in self.files_of_project(server) {
                    self.notes.push(format!(
                        "{from}: server `{name}` starts `{file}` of the old project; copy it to the same place in the workspace"
                    ));
                }
            }
        }
        let whole_file = whole_file.filter(|_| stays || disabled.is_empty());
        let copied = whole_file.is_some_and(|path| {
            let Ok((bytes, _)) = self.source.read_bytes(&path) else { return false };
            let Ok(text) = String::from_utf8(bytes) else { return false };
            self.add_text(&path, MCP_FILE, text)
        });
        if !copied && !stays {
            let list: Map<String, Value> =
                found.iter().map(|(name, (server, _))| (name.clone(), server.clone())).collect();
            let text = serde_json::to_string_pretty(&json!({ "mcpServers": list }));
            let from = found.values().next().map_or(MCP_FILE, |(_, from)| from.as_str()).to_owned();
            if !self.add_text(&from, MCP_FILE, format!("{}\n", text.unwrap_or_default())) {
                return;
            }
        }
        for (name, (_, from)) in found {
            self.server_row(&format!("{from}: {name}"), from == MCP_FILE);
        }
    }
}

impl Import {
    /// The files of the old project that a server's command names. A workspace elsewhere does not have them.
    fn files_of_project(&self, server: &Value) -> Vec<String> {
        let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let words = server.get("command").into_iter().chain(args).filter_map(Value::as_str);
        let words = words.map(|word| word.trim_start_matches("./"));
        let is_file =
            |word: &&str| !word.is_empty() && !word.starts_with('/') && self.source.is_file(word);
        words.filter(is_file).map(str::to_owned).collect()
    }
}

/// Why something is not a server that Foreword can use.
fn fault(server: &Value) -> Option<&'static str> {
    let Some(server) = server.as_object() else { return Some("not the settings of an MCP server") };
    let kind = ["type", "transport"].iter().find_map(|key| server.get(*key)?.as_str());
    let has =
        |key: &str| server.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    match (has("command"), has("url")) {
        _ if kind == Some("sse") => {
            Some("the transport `sse` is not supported; use `http` if the server has it")
        }
        (false, false) if has("serverUrl") || has("httpUrl") => Some("write its address as `url`"),
        (false, false) => Some("it has neither a command nor a URL"),
        (true, true) => Some("it has both a command and a URL"),
        _ => None,
    }
}

/// A server with the variables of other tools written as ours: `${env:NAME}` is `${NAME}`, and the
/// folder of the project is where servers start.
fn with_our_variables(mut server: Value) -> Value {
    fn change(value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = text
                    .replace("${env:", "${")
                    .replace("${workspaceFolder}", ".")
                    .replace("${workspaceRoot}", ".");
            }
            Value::Array(items) => items.iter_mut().for_each(change),
            Value::Object(fields) => fields.values_mut().for_each(change),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    change(&mut server);
    server
}

/// A name that providers accept in front of a tool's name.
fn plain_name(given: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = given.chars().take(MAX_NAME_CHARS).map(plain).collect();
    let mut name = name.trim_matches('-').to_owned();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    if name.is_empty() { "server".to_owned() } else { name }
}

/// The variables and headers of a server that hold what looks like a key.
fn literal_keys(server: &Value) -> Vec<String> {
    ["env", "headers"]
        .iter()
        .filter_map(|key| server.get(*key)?.as_object())
        .flatten()
        .filter(|(_, value)| {
            let value = value.as_str().unwrap_or_default();
            !value.contains("${") && !foreword_guard::redact(value).found.is_empty()
        })
        .map(|(name, _)| name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_command_or_a_url() {
        assert_eq!(fault(&json!({"command": "x"})), None);
        assert_eq!(fault(&json!({"type": "http", "url": "https://x"})), None);
        for bad in [
            json!({}),
            json!(7),
            json!({"command": "x", "url": "y"}),
            json!({"type": "sse", "url": "x"}),
        ] {
            assert!(fault(&bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn variables_of_other_tools_become_ours() {
        let theirs = json!({"command": "x", "args": ["${env:TOKEN}", "${workspaceFolder}/y", "${Z:-1}"],
            "env": {"A": "${env:B}"}});
        let ours =
            json!({"command": "x", "args": ["${TOKEN}", "./y", "${Z:-1}"], "env": {"A": "${B}"}});
        assert_eq!(with_our_variables(theirs), ours);
    }

    #[test]
    fn names_are_made_plain() {
        assert_eq!(plain_name("github"), "github");
        assert_eq!(plain_name("My Server"), "My-Server");
        assert_eq!(plain_name("a__b"), "a_b");
        assert_eq!(plain_name("é"), "server");
        assert_eq!(plain_name(&"x".repeat(99)).len(), 32);
    }
}
