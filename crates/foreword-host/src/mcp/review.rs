//! Tool lists: read from servers, judged by the scanner, reviewed by a person.

use std::collections::BTreeMap;
use std::thread;

use foreword_gather::{usable_servers, without_written_keys};
use foreword_guard::{Provenance, ScanVerdict, scan_input};
use foreword_mcp::OfferedTool;
use foreword_sandbox::Limits;
use foreword_store::{Event, Outcome};
use foreword_workspace::{McpServer, NamedServer, ReviewedTools, ServerTool, Settings, ToolLists};
use serde::Serialize;
use serde_json::{Value, json};

use super::ServerFault;
use super::pool::KnownServer;
use super::process::ServerPlace;
use crate::error::HostError;
use crate::host::Host;
use crate::turn::warning::Warning;

/// Servers that are started at the same time to read their tools.
const MAX_STARTING: usize = 16;

/// A server whose tools a person has to review, with what it offers now.
#[derive(Clone, Debug)]
pub struct ServerReview {
    pub name: String,
    /// What it is, and where it runs.
    pub server: DisclosedServer,
    /// What it offers now, or why that is not known.
    pub offer: Result<ReviewedTools, String>,
    /// Tools that cannot be used, each with what is wrong.
    pub left_out: Vec<String>,
    /// What the person reviewed before.
    pub before: Option<ReviewedTools>,
}

/// An MCP server, by everything that trusting it gives away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisclosedServer {
    pub name: String,
    /// The file that names it.
    pub file: &'static str,
    /// The program with its arguments, or the URL.
    pub place: String,
    /// The person's variables that it gets.
    pub variables: Vec<String>,
    /// What it sets, by name and value.
    pub env: BTreeMap<String, String>,
    pub headers: BTreeMap<String, String>,
    /// Whether it runs outside the sandbox, as the person's settings say.
    pub outside: bool,
    pub enabled: bool,
    /// The digest of the reviewed tool list.
    pub tools: Option<String>,
}

/// The list of a server's tools, ready to be compared and kept.
pub(super) fn offered(server: &McpServer, tools: Vec<OfferedTool>) -> ReviewedTools {
    let tools = tools.into_iter().map(|tool| ServerTool {
        name: tool.name,
        description: tool.description,
        input_schema: tool.input_schema,
        withheld: None,
    });
    ReviewedTools::new(server.digest(), tools.collect())
}

impl Host {
    /// The MCP servers of the workspace, for the trust question.
    pub fn disclosed_servers(&self) -> Result<Vec<DisclosedServer>, HostError> {
        let workspace = self.workspace()?;
        let lists = ToolLists::open(&self.options.config_dir, &self.root)?.load()?;
        let settings = self.settings()?;
        let servers = workspace.mcp_servers()?;
        let reviewed = |name: &str, server: &McpServer| {
            let list = lists.get(name).filter(|list| list.is_of(server));
            list.map(|list| list.digest.clone())
        };
        Ok(servers
            .iter()
            .map(|(name, named)| {
                let tools = reviewed(name, &named.server);
                disclosed(name, named, &settings, tools)
            })
            .collect())
    }

    /// The servers whose tools a person has to review: new ones, changed ones, and those that offer
    /// other tools than before. Starts those that were never listed, in a sandbox that cannot write.
    pub fn servers_to_review(&self, all: bool) -> Result<Vec<ServerReview>, HostError> {
        let workspace = self.workspace()?;
        let servers = workspace.mcp_servers()?;
        let used: Vec<_> = servers.into_iter().filter(|(_, named)| named.server.enabled).collect();
        if used.is_empty() {
            return Ok(Vec::new());
        }
        let lists = ToolLists::open(&self.options.config_dir, &self.root)?.load()?;
        let settings = self.settings()?;
        let mut asked = Vec::new();
        for (name, named) in used {
            let before = lists.get(&name).filter(|list| list.is_reviewed()).cloned();
            let is_known = before.as_ref().is_some_and(|list| list.is_of(&named.server));
            if all || !is_known {
                asked.push((name, named, before, is_known));
            }
        }
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let place = self.reading_place(workspace.config().host.sandbox)?;
        let servers: Vec<&McpServer> = asked.iter().map(|(_, named, ..)| &named.server).collect();
        let offers = self.read_all_tools(&servers, &settings, &place);
        let mut reviews = Vec::new();
        for ((name, named, before, is_known), offer) in asked.into_iter().zip(offers) {
            let mut left_out = Vec::new();
            let offer = offer.map(|(list, faulty)| {
                left_out = faulty;
                list
            });
            if let Err(fault) = &offer
                && !matches!(fault, ServerFault::Elsewhere { .. } | ServerFault::Key(_))
            {
                // `run` says why the server is off.
                let lists = ToolLists::open(&self.options.config_dir, &self.root)?;
                lists.note_fault(&named.server, &name, &fault.to_string())?;
            }
            let offer = offer.map_err(|fault| fault.to_string());
            let is_same = offer.as_ref().is_ok_and(|offer| {
                before
                    .as_ref()
                    .is_some_and(|list| list.digest == offer.digest && list.server == offer.server)
            });
            if is_same {
                // A server that offered something else for a while is back at what was reviewed.
                if let (false, Ok(offer)) = (is_known, &offer) {
                    self.accept_tools(&name, offer)?;
                }
                continue;
            }
            let server = disclosed(&name, &named, &settings, None);
            reviews.push(ServerReview { name, server, offer, left_out, before });
        }
        Ok(reviews)
    }

    /// Reads the tools of several servers side by side, so that a slow one costs its own time only.
    fn read_all_tools(
        &self,
        servers: &[&McpServer],
        settings: &Settings,
        place: &ServerPlace,
    ) -> Vec<Result<(ReviewedTools, Vec<String>), ServerFault>> {
        let read = |server| self.read_tools(server, settings, place);
        let together = servers.chunks(MAX_STARTING).flat_map(|servers| {
            thread::scope(|scope| {
                let started: Vec<_> =
                    servers.iter().map(|server| scope.spawn(|| read(server))).collect();
                let gone = |_| Err(ServerFault::Start("its thread ended".to_owned()));
                started.into_iter().map(|it| it.join().unwrap_or_else(gone)).collect::<Vec<_>>()
            })
        });
        together.collect()
    }

    /// The servers that agents cannot use now, because their tools were not reviewed or a key is written out.
    pub fn servers_off(&self) -> Result<Vec<String>, HostError> {
        let (_, waiting) = usable_servers(&self.workspace()?)?;
        Ok(waiting.into_iter().map(|server| server.name).collect())
    }

    /// Keeps a tool list that the person accepted.
    pub fn accept_tools(&self, server: &str, list: &ReviewedTools) -> Result<(), HostError> {
        let lists = ToolLists::open(&self.options.config_dir, &self.root)?;
        lists.accept(server, list.clone())?;
        let event = Event::new(&self.options.person, "mcp.trust", server, Outcome::Done);
        self.record_durably(event.with_detail(json!({
            "tools": list.tools.len(), "digest": list.digest, "server": list.server,
        })))
    }

    /// Notes that a server offers other tools than those that were reviewed.
    pub(super) fn tool_list_changed(&self, server: &str) {
        let noted = ToolLists::open(&self.options.config_dir, &self.root)
            .and_then(|lists| lists.mark_changed(server));
        if let Err(error) = noted {
            tracing::warn!("cannot note that the tools of `{server}` changed: {error}");
        }
        let event = Event::new("host", "mcp.tools_changed", server, Outcome::Refused);
        self.record(event);
        self.warn_later(Warning::ToolListChanged { server: server.to_owned() });
    }

    /// The servers that a turn may use: those whose tools were reviewed.
    pub(crate) fn known_servers(&self) -> Result<BTreeMap<String, KnownServer>, HostError> {
        let workspace = self.workspace()?;
        let (reviewed, _) = usable_servers(&workspace)?;
        if reviewed.is_empty() {
            return Ok(BTreeMap::new());
        }
        let settings = self.settings()?;
        let servers = workspace.mcp_servers()?;
        let known = reviewed.into_iter().filter_map(|(name, list)| {
            let server = servers.get(&name)?.server.clone();
            let personal = settings.mcp.of(&server).cloned();
            Some((name, KnownServer { server, personal, digest: list.digest }))
        });
        Ok(known.collect())
    }

    fn read_tools(
        &self,
        server: &McpServer,
        settings: &Settings,
        place: &ServerPlace,
    ) -> Result<(ReviewedTools, Vec<String>), ServerFault> {
        let running = self.start_server(server, settings.mcp.of(server), place)?;
        let tools = running.client.tools().map_err(|error| running.fault(error))?;
        let mut list = offered(server, tools.tools);
        let scanner = self.scanner()?;
        for tool in &mut list.tools {
            let said = texts_of(&tool.input_schema, &tool.description);
            let scanned = scan_input(scanner, &said, Provenance::ToolResult);
            if scanned.verdict != ScanVerdict::Pass {
                tool.withheld = Some(scanned.reason);
            }
        }
        Ok((list, tools.left_out))
    }

    /// Where servers run while their lists are read: nothing there can be written.
    fn reading_place(&self, choice: foreword::SandboxChoice) -> Result<ServerPlace, HostError> {
        let protected = self.protected_paths(&self.root)?;
        let mut private = protected.private;
        private.push(self.options.config_dir.clone());
        Ok(ServerPlace {
            sandbox: self.sandbox(choice)?,
            writable: false,
            governed: protected.read_only,
            private,
            limits: Limits::default().set(&self.settings()?.sandbox),
        })
    }
}

fn disclosed(
    name: &str,
    named: &NamedServer,
    settings: &Settings,
    tools: Option<String>,
) -> DisclosedServer {
    let server = &named.server;
    let shown = |text: &str| without_written_keys(server, text);
    let all_shown = |values: &BTreeMap<String, String>| {
        values.iter().map(|(name, value)| (name.clone(), shown(value))).collect()
    };
    DisclosedServer {
        name: name.to_owned(),
        file: named.file,
        place: shown(&server.place()),
        variables: server.variables().into_iter().map(str::to_owned).collect(),
        env: all_shown(&server.env),
        headers: all_shown(&server.headers),
        outside: settings.mcp.of(server).is_some_and(|personal| personal.outside),
        enabled: server.enabled,
        tools,
    }
}

/// Everything that a tool's description and schema say in words.
fn texts_of(schema: &Value, description: &str) -> String {
    let mut texts = vec![description.to_owned()];
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if text.contains(' ') => texts.push(text.clone()),
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            _ => {}
        }
    }
    texts.join("\n")
}
