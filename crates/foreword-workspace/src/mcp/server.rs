//! `[mcp.servers.NAME]`: how an MCP server is started or reached.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::command_line::command_line;
use crate::config::check::{Check, Fault};

/// Model providers accept names of 64 characters; the name of a tool has to fit behind that of its server.
const MAX_NAME_CHARS: usize = 32;
const MAX_TOOL_NAME_CHARS: usize = 64;
/// What stands in front of the names of servers' tools, as in Claude Code.
const PREFIX: &str = "mcp__";

/// `[mcp]`: servers whose tools agents get.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpSettings {
    /// The servers, by name. Default: none.
    pub servers: BTreeMap<String, McpServer>,
}

/// `[mcp.servers.NAME]`: a program that speaks MCP over its standard streams, or a server at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpServer {
    /// The program and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Its address, instead of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Variables for the program. `${NAME}` stands for one of the person's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Headers for the server. `${NAME}` stands for one of the person's variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Whether it is used. Default `true`.
    pub enabled: bool,
    /// Seconds it may take to start. Default 20.
    pub start_seconds: u64,
    /// Seconds a call may take. Default 60.
    pub call_seconds: u64,
    /// Bytes of an answer. Default 1048576 (1 MiB).
    pub max_answer_bytes: u64,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            url: None,
            env: BTreeMap::new(),
            headers: BTreeMap::new(),
            enabled: true,
            start_seconds: 20,
            call_seconds: 60,
            max_answer_bytes: 1 << 20,
        }
    }
}

/// `[[mcp.servers]]` of the person's settings: what they allow one server, wherever it is named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonalServer {
    /// The program and its arguments, exactly as workspaces name them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The address of a server, also on another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether the program runs outside the sandbox. Default `false`.
    pub outside: bool,
    /// Whether its results do not count as external content. Default `false`.
    pub exempt: bool,
    /// Variables for it, which come before those of the environment. Default: none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// `[mcp]` of the person's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonalMcp {
    /// Servers with more freedom than others have. Default: none.
    pub servers: Vec<PersonalServer>,
}

impl PersonalMcp {
    /// What the person says of a server, found by its program or address.
    #[must_use]
    pub fn of(&self, server: &McpServer) -> Option<&PersonalServer> {
        self.servers.iter().find(|known| match (&known.url, &server.url) {
            (Some(known), Some(url)) => known == url,
            (None, None) => known.command == server.command,
            _ => false,
        })
    }

    pub(crate) fn check(&self) -> Check {
        let key = || vec!["mcp", "servers"];
        for server in &self.servers {
            if server.command.is_empty() == server.url.is_none() {
                let message = "names a server by either `command` or `url`".to_owned();
                return Err(Fault { key: key(), message });
            }
            if server.outside && server.url.is_some() {
                let message = "has `outside` for a `url`, which is no program".to_owned();
                return Err(Fault { key: key(), message });
            }
        }
        Ok(())
    }
}

impl McpServer {
    /// The digest of everything that says what is started or reached. A tool list belongs to it.
    #[must_use]
    pub fn digest(&self) -> String {
        let said = (&self.command, &self.url, &self.env, &self.headers);
        let text = serde_json::to_vec(&said).unwrap_or_default();
        blake3::hash(&text).to_hex().to_string()
    }

    /// What is started or reached, on one line.
    #[must_use]
    pub fn place(&self) -> String {
        self.url.clone().unwrap_or_else(|| command_line(&self.command))
    }

    /// The person's variables that it gets, by name.
    #[must_use]
    pub fn variables(&self) -> Vec<&str> {
        let texts = self.env.values().chain(self.headers.values()).chain(&self.command);
        let mut names: Vec<&str> =
            texts.chain(&self.url).flat_map(|text| referenced(text)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What is wrong with it.
    pub(crate) fn fault(&self, name: &str) -> Option<String> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.bytes().all(is_part) {
            return Some(format!(
                "has the name `{}`; at most {MAX_NAME_CHARS} letters, digits, `_` and `-` are allowed",
                name.escape_debug()
            ));
        }
        if name.contains("__") {
            return Some(format!("has the name `{name}`, which must not contain `__`"));
        }
        match (&self.url, self.command.first()) {
            (None, None) => return Some("needs a `command` or a `url`".to_owned()),
            (Some(_), Some(_)) => return Some("has both `command` and `url`; keep one".to_owned()),
            (Some(url), None) => {
                let parsed = url::Url::parse(url);
                if !parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
                    return Some(format!("has the url `{url}`, which is not an HTTP URL"));
                }
            }
            (None, Some(program)) if program.trim().is_empty() => {
                return Some("has an empty `command`".to_owned());
            }
            (None, Some(_)) => {}
        }
        let texts = self.env.iter().chain(&self.headers).flat_map(|(name, value)| [name, value]);
        if texts.chain(&self.command).any(|text| text.contains('\0')) {
            return Some("contains a NUL character".to_owned());
        }
        for (key, value, most) in [
            ("start_seconds", self.start_seconds, 600),
            ("call_seconds", self.call_seconds, 3600),
            ("max_answer_bytes", self.max_answer_bytes, 8 << 20),
        ] {
            if !(1..=most).contains(&value) {
                return Some(format!("has {key} = {value}, it must be between 1 and {most}"));
            }
        }
        None
    }
}

impl McpSettings {
    pub(crate) fn check(&self) -> Check {
        match self.servers.iter().find_map(|(name, server)| server.fault(name)) {
            Some(message) => Err(Fault { key: vec!["mcp", "servers"], message }),
            None => Ok(()),
        }
    }
}

/// The names in `${NAME}` and `${NAME:-default}`.
fn referenced(text: &str) -> Vec<&str> {
    let starts = text.match_indices("${").filter_map(|(at, _)| text.get(at + 2..));
    starts
        .filter_map(|rest| Some(rest.split_once('}')?.0.split(":-").next().unwrap_or_default()))
        .collect()
}

/// A text with the person's variables in it; the name of one that is not set.
pub fn expand_variables(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        match lookup(name).filter(|value| !value.is_empty()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(default.ok_or_else(|| name.to_owned())?),
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// The name under which agents call a tool of a server: that of Claude Code, made to fit every provider.
#[must_use]
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain: String = tool.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let name = format!("{PREFIX}{server}__{plain}");
    if plain == tool && name.len() <= MAX_TOOL_NAME_CHARS {
        return name;
    }
    // Two tools must not get one name because what differs was changed or cut.
    let digest = blake3::hash(tool.as_bytes()).to_hex();
    let kept = name.get(..name.len().min(MAX_TOOL_NAME_CHARS - 9)).unwrap_or(&name);
    format!("{kept}_{}", digest.get(..8).unwrap_or_default())
}

/// The server part of the name of a server's tool, or of `mcp__server`, which stands for all its tools.
#[must_use]
pub fn mcp_server_of(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(PREFIX)?;
    Some(rest.split_once("__").map_or(rest, |(server, _)| server)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_from_the_person() {
        let lookup = |name: &str| (name == "TOKEN").then(|| "t0".to_owned());
        let expand = |text: &str| expand_variables(text, &lookup);
        assert_eq!(expand("Bearer ${TOKEN}!").unwrap(), "Bearer t0!");
        assert_eq!(expand("${MODE:-ro} ${ $x").unwrap(), "ro ${ $x");
        assert_eq!(expand("${GONE}").unwrap_err(), "GONE");
        let server = McpServer {
            env: BTreeMap::from([("A".into(), "${TOKEN} ${B:-x}".into())]),
            ..McpServer::default()
        };
        assert_eq!(server.variables(), ["B", "TOKEN"]);
    }

    #[test]
    fn names_fit_every_provider_and_stay_apart() {
        assert_eq!(mcp_tool_name("git", "status"), "mcp__git__status");
        let (a, b) = (mcp_tool_name("git", "a.b"), mcp_tool_name("git", "a/b"));
        assert!(a != b && a.starts_with("mcp__git__a_b_"), "{a} {b}");
        let long = mcp_tool_name("everything", &"x".repeat(200));
        assert_eq!(long.len(), 64);
        assert_eq!(mcp_server_of("mcp__git__status"), Some("git"));
        assert_eq!(mcp_server_of("mcp__git"), Some("git"));
        assert_eq!(mcp_server_of("bash"), None);
    }

    #[test]
    fn a_digest_is_of_what_is_started() {
        let server = McpServer { command: vec!["a".into()], ..McpServer::default() };
        let slow = McpServer { call_seconds: 5, ..server.clone() };
        assert_eq!(server.digest(), slow.digest());
        let other = McpServer { command: vec!["a".into(), "b".into()], ..server.clone() };
        assert_ne!(server.digest(), other.digest());
    }
}
