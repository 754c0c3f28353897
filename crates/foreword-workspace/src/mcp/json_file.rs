//! `.mcp.json`, as Claude Code writes it, and all servers of a workspace.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::config::settings::{SETTINGS_FILE, Settings};
use crate::error::WorkspaceError;
use crate::mcp::server::{McpServer, PersonalMcp};
use crate::mcp::tool_list::{ReviewedTools, ToolLists};
use crate::read::SourceFile;
use crate::rel_path::RelPath;
use crate::workspace::Workspace;

/// The file in which Claude Code keeps the servers of a project.
pub const MCP_FILE: &str = ".mcp.json";

#[derive(Deserialize)]
struct McpFile {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, Value>,
}

/// A server in `.mcp.json`. Keys that other programs add are theirs.
#[derive(Deserialize)]
struct JsonServer {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

/// Why a server of `.mcp.json` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpProblem {
    /// The line of the file.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A server of a workspace, and where it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedServer {
    /// How it is started or reached.
    pub server: McpServer,
    /// `foreword.toml` or `.mcp.json`.
    pub file: &'static str,
    /// The line of that file.
    pub line: usize,
}

/// A server that is off until the person does something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingServer {
    /// Its name.
    pub name: String,
    /// What it is, and where it is named.
    pub named: NamedServer,
    /// Why its tools could not be read when the person last reviewed them.
    pub fault: Option<String>,
}

/// What `.mcp.json` says: servers that can be used, and why others cannot. It is another program's file,
/// so what is wrong with it keeps nothing else from working.
fn parse(file: &SourceFile) -> (BTreeMap<String, McpServer>, Vec<McpProblem>) {
    let parsed: McpFile = match serde_json::from_str(&file.text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let message = format!("not valid JSON of MCP servers: {error}");
            return (BTreeMap::new(), vec![McpProblem { line: error.line().max(1), message }]);
        }
    };
    let (mut servers, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, json) in parsed.servers {
        match McpServer::of_json(&name, &json) {
            Err(fault) => {
                let message = format!("the server `{}` {fault}", name.escape_debug());
                problems.push(McpProblem { line: line_of(file, &name), message });
            }
            Ok(server) => _ = servers.insert(name, server),
        }
    }
    (servers, problems)
}

fn line_of(file: &SourceFile, name: &str) -> usize {
    let at = file.text.find(&format!("\"{name}\"")).unwrap_or_default();
    1 + file.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

impl McpServer {
    /// Reads one entry of `.mcp.json`; the error completes "the server `name` …".
    pub fn of_json(name: &str, json: &Value) -> Result<Self, String> {
        let json = JsonServer::deserialize(json)
            .map_err(|error| format!("is not one that can be used: {error}"))?;
        if json.kind.as_deref() == Some("sse") {
            let fault = "uses the transport `sse`, which MCP has replaced; use `http` if it has it";
            return Err(fault.to_owned());
        }
        let server = Self {
            command: json.command.into_iter().chain(json.args).collect(),
            url: json.url,
            env: json.env,
            headers: json.headers,
            enabled: !json.disabled,
            ..Self::default()
        };
        server.fault(name).map_or(Ok(server), Err)
    }
}

impl Workspace {
    /// The MCP servers that `foreword.toml` and `.mcp.json` name. Of two of one name, that of
    /// `foreword.toml` counts.
    pub fn mcp_servers(&self) -> Result<BTreeMap<String, NamedServer>, WorkspaceError> {
        let mut servers = BTreeMap::new();
        let file = self.read(&RelPath::listed("", MCP_FILE))?;
        if let Some(file) = &file {
            servers.extend(parse(file).0.into_iter().map(|(name, server)| {
                let line = line_of(file, &name);
                (name, NamedServer { server, file: MCP_FILE, line })
            }));
        }
        let own = self.config().mcp.servers.iter();
        servers.extend(own.map(|(name, server)| {
            let line = self.config_asked_by(&["mcp", "servers", name]).line.unwrap_or(1);
            let named = NamedServer { server: server.clone(), file: crate::CONFIG_FILE, line };
            (name.clone(), named)
        }));
        Ok(servers)
    }

    /// What is wrong with `.mcp.json`. Servers with a problem are left out.
    pub fn mcp_problems(&self) -> Result<Vec<McpProblem>, WorkspaceError> {
        let file = self.read(&RelPath::listed("", MCP_FILE))?;
        Ok(file.as_ref().map(|file| parse(file).1).unwrap_or_default())
    }

    /// The tools of the servers that are in use, as the person reviewed them; and the servers that wait
    /// for a review. Starts no server.
    pub fn reviewed_tools(
        &self,
    ) -> Result<(BTreeMap<String, ReviewedTools>, Vec<WaitingServer>), WorkspaceError> {
        let servers = self.mcp_servers()?;
        let used = servers.into_iter().filter(|(_, named)| named.server.enabled);
        let used: Vec<(String, NamedServer)> = used.collect();
        if used.is_empty() {
            return Ok((BTreeMap::new(), Vec::new()));
        }
        let mut known = match &self.config_dir {
            Some(config_dir) => ToolLists::open(config_dir, self.root())?.load()?,
            None => BTreeMap::new(),
        };
        let mut waiting = Vec::new();
        let mut reviewed = BTreeMap::new();
        for (name, named) in used {
            match known.remove(&name) {
                Some(list) if list.is_of(&named.server) => _ = reviewed.insert(name, list),
                list => {
                    let list = list.filter(|list| list.server == named.server.digest());
                    let fault = list.and_then(|list| list.fault);
                    waiting.push(WaitingServer { name, named, fault });
                }
            }
        }
        Ok((reviewed, waiting))
    }

    /// What the person's settings say about MCP servers; nothing where there are no settings.
    pub fn personal_mcp(&self) -> Result<PersonalMcp, WorkspaceError> {
        match &self.config_dir {
            Some(config_dir) => Ok(Settings::load(config_dir)?.mcp),
            None => Ok(PersonalMcp::default()),
        }
    }

    /// The person's settings file, if this workspace is opened for a person.
    #[must_use]
    pub fn settings_file(&self) -> Option<PathBuf> {
        self.config_dir.as_ref().map(|config_dir| config_dir.join(SETTINGS_FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn both_files_name_servers_and_ours_wins() {
        let scratch = Scratch::new(&[
            (
                ".mcp.json",
                r#"{"mcpServers": {
                "files": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "${A}"}},
                "docs": {"type": "http", "url": "https://docs.example/mcp", "headers": {"X": "1"}, "more": 1},
                "both": {"command": "theirs"}}}"#,
            ),
            ("foreword.toml", "[mcp.servers.both]\ncommand = ['ours']\ncall_seconds = 5\n"),
        ]);
        let servers = scratch.open().mcp_servers().unwrap();
        assert_eq!(servers["files"].server.command, ["npx", "-y", "x"]);
        assert_eq!(servers["files"].server.variables(), ["A"]);
        assert_eq!(servers["docs"].server.url.as_deref(), Some("https://docs.example/mcp"));
        assert_eq!(servers["both"].server.place(), "ours");
        assert_eq!(servers["both"].file, "foreword.toml");
        let (reviewed, waiting) = scratch.open().reviewed_tools().unwrap();
        assert!(reviewed.is_empty());
        let waiting: Vec<&str> = waiting.iter().map(|waiting| waiting.name.as_str()).collect();
        assert_eq!(waiting, ["both", "docs", "files"]);
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, message) in [
            ("{", ".mcp.json:1: not valid JSON of MCP servers"),
            (
                "{\"mcpServers\": {\n\"a b\": {\"command\": \"x\"}}}",
                ".mcp.json:2: the server `a b` has the name",
            ),
            (
                "{\"mcpServers\": {\"a\": {}}}",
                ".mcp.json:1: the server `a` needs a `command` or a `url`",
            ),
            (
                "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"url\": \"http://x\"}}}",
                "uses the transport `sse`",
            ),
        ] {
            let scratch = Scratch::new(&[(".mcp.json", text)]);
            let workspace = scratch.open();
            assert!(workspace.mcp_servers().unwrap().is_empty());
            let McpProblem { line, message: said } = workspace.mcp_problems().unwrap().remove(0);
            assert!(format!(".mcp.json:{line}: {said}").contains(message), "{said}");
        }
        let scratch = Scratch::new(&[("foreword.toml", "[mcp.servers.a]\nurl = 'ftp://x'\n")]);
        let error = Workspace::open(scratch.path()).unwrap_err();
        assert!(error.to_string().contains("has the url `ftp://x`"), "{error}");
    }
}
