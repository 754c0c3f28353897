//! MCP servers of all layouts, together in one `.mcp.json` as Claude Code writes it.
//!
//! They stay off until the person answers the trust question.

use std::collections::BTreeMap;

use foreword_gather::{remote_url, settings_lines, variable_for, written_keys};
use foreword_workspace::{McpServer, mcp_tool_name};
use serde_json::{Map, Value, json};

use super::import::Import;
use super::json5;
use super::permissions::{Decision, Rule};

pub(super) const MCP_FILE: &str = ".mcp.json";
/// Providers accept 64 characters for the name of a tool with that of its server.
const MAX_NAME_CHARS: usize = 32;

/// Seconds that a server may take to start and to answer, unless foreword.toml says otherwise.
const START: (&str, f64) = ("start_seconds", 20.0);
const CALL: (&str, f64) = ("call_seconds", 60.0);

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
        if server.get("enabled").and_then(Value::as_bool) == Some(false) {
            self.servers.whole_file = None;
            if self.in_place && path == MCP_FILE {
                let why = "it is turned off with `enabled`; write \"disabled\": true there";
                self.lost(&source, why);
            } else {
                self.left(&source, "turned off");
            }
            return;
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
        self.other_settings(&source, &name, &server);
        self.servers.found.insert(name, (server, path.to_owned()));
    }

    /// Rows and rules for what other tools set for a server and `.mcp.json` does not.
    fn other_settings(&mut self, source: &str, name: &str, server: &Value) {
        for (key, value) in server.as_object().into_iter().flatten() {
            let at = format!("{source}: {key}");
            match other_setting(key, value) {
                OtherSetting::Known => {}
                OtherSetting::Denied(tools) => {
                    let rules = tools.iter().map(|tool| Rule {
                        decision: Decision::Deny,
                        pattern: mcp_tool_name(name, tool),
                        source: format!("{at} {tool}"),
                        is_for_one_agent: false,
                    });
                    self.permissions.rules.extend(rules);
                }
                OtherSetting::Only => {
                    self.permissions.rules.push(Rule {
                        decision: Decision::Ask,
                        pattern: format!("mcp__{name}"),
                        source: at.clone(),
                        is_for_one_agent: false,
                    });
                    self.lost(
                        &format!("{at} (the other tools)"),
                        "they are not turned off; Foreword asks about every call of the server. Add the other tools to `deny` in [permissions], and remove the server from `ask`",
                    );
                }
                OtherSetting::Seconds((ours, usual), seconds) if seconds <= usual => {
                    self.left(&at, format!("`{ours}` is {usual} by default"));
                }
                OtherSetting::Seconds((ours, _), seconds) => self.lost(
                    &at,
                    format!(
                        "name the server in foreword.toml instead: [mcp.servers.{name}] with `{ours} = {}`",
                        seconds.ceil()
                    ),
                ),
                OtherSetting::Left(reason) => self.left(&at, reason),
                OtherSetting::Lost(reason) => self.lost(&at, reason),
            }
        }
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
            let Ok(server) = McpServer::of_json(name, server) else { continue };
            for place in written_keys(&server) {
                self.notes.push(format!(
                    "{from}: server `{name}` contains a key in {place}; write ${{{}}} there and set the variable in your environment",
                    variable_for(&place)
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
                found.iter().map(|(name, (server, _))| (name.clone(), known(server))).collect();
            let text = serde_json::to_string_pretty(&json!({ "mcpServers": list }));
            let from = found.values().next().map_or(MCP_FILE, |(_, from)| from.as_str()).to_owned();
            if !self.add_text(&from, MCP_FILE, format!("{}\n", text.unwrap_or_default())) {
                return;
            }
        }
        for (name, (server, from)) in found {
            let server = McpServer::of_json(&name, &server).unwrap_or_default();
            let keys = written_keys(&server);
            let note = match remote_url(&server) {
                _ if !keys.is_empty() => format!(
                    "off until you move the key in {} to your environment and trust the workspace",
                    keys.join(" and ")
                ),
                // What is written there is the person's to decide, so it is never done for them.
                Some(url) => {
                    let [table, entry] = settings_lines(url);
                    format!(
                        "off, because it is on another machine: add `{table}` and below it `{entry}` to your settings.toml, then trust the workspace"
                    )
                }
                None => "off until you trust the workspace".to_owned(),
            };
            self.server_row(&format!("{from}: {name}"), from == MCP_FILE, note);
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

/// A server without the settings that `.mcp.json` does not have.
fn known(server: &Value) -> Value {
    let fields = server.as_object().into_iter().flatten();
    let known = fields.filter(|(key, value)| other_setting(key, value) == OtherSetting::Known);
    Value::Object(known.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// What becomes of a key in the settings of a server.
#[derive(Debug, PartialEq)]
enum OtherSetting {
    /// `.mcp.json` has it, too.
    Known,
    /// Tools that are turned off.
    Denied(Vec<String>),
    /// Only some tools are turned on.
    Only,
    /// A limit: ours with its default, and theirs in seconds.
    Seconds((&'static str, f64), f64),
    Left(&'static str),
    Lost(&'static str),
}

fn other_setting(key: &str, value: &Value) -> OtherSetting {
    use OtherSetting::{Denied, Known, Left, Lost, Only, Seconds};
    let names = || {
        let items = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        items.map(str::to_owned).collect::<Vec<_>>()
    };
    let number = value.as_f64().unwrap_or(f64::INFINITY);
    let plain = key.to_ascii_lowercase().replace(['_', '-'], "");
    match plain.as_str() {
        "type" | "transport" | "command" | "args" | "env" | "url" | "headers" | "disabled"
        | "enabled" => Known,
        "disabledtools" | "excludetools" => Denied(names()),
        "enabledtools" | "includetools" | "allowedtools" => Only,
        "startuptimeoutsec" | "startuptimeoutseconds" => Seconds(START, number),
        "startuptimeoutms" => Seconds(START, number / 1000.0),
        "tooltimeoutsec" | "tooltimeoutseconds" => Seconds(CALL, number),
        // Claude Code, Cursor and others count milliseconds.
        "timeout" | "timeoutms" => Seconds(CALL, number / 1000.0),
        "cwd" => Lost("servers start in the workspace; write full paths into `args`"),
        "envfile" => {
            Lost("set its variables in your environment, and name them as ${NAME} in `env`")
        }
        "headershelper" => {
            Lost("write the headers as ${NAME} and set the variables in your environment")
        }
        "oauth" | "auth" | "scopes" | "oauthresource" => Lost(
            "Foreword does not log in; write a header with ${NAME} and set the variable in your environment",
        ),
        "autoapprove" | "alwaysallow" | "trust" => {
            Lost("add the tools to `allow` in [permissions] if you want no questions about them")
        }
        "description"
        | "title"
        | "icon"
        | "gallery"
        | "version"
        | "$schema"
        | "required"
        | "name"
        | "note"
        | "comment"
        | "alwaysload"
        | "supportsparalleltoolcalls" => Left("does not change what the server does"),
        _ => Lost("unknown setting of an MCP server"),
    }
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
    fn what_other_tools_set_for_a_server_is_never_passed_over() {
        let of = |key: &str, value: Value| other_setting(key, &value);
        assert_eq!(of("args", json!([])), OtherSetting::Known);
        assert_eq!(of("disabled_tools", json!(["x"])), OtherSetting::Denied(vec!["x".into()]));
        assert_eq!(of("enabledTools", json!(["x"])), OtherSetting::Only);
        assert_eq!(of("startup_timeout_sec", json!(40)), OtherSetting::Seconds(START, 40.0));
        assert_eq!(of("timeout", json!(90_000)), OtherSetting::Seconds(CALL, 90.0));
        for key in ["cwd", "oauth", "anything"] {
            assert!(matches!(of(key, json!("x")), OtherSetting::Lost(_)), "{key}");
        }
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
