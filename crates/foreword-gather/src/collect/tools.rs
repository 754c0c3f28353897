//! The tools of an agent, and what carries each of them out.
//!
//! A tool is built in, a program that `tools.toml` names, or offered by an MCP server. What a runner is
//! given is what it can call: a tool that nothing carries out is left out of a run and named in the
//! manifest. A prompt for a loop of one's own has them all, since that loop may know them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foreword::{Context, Filtered, Line, RunnerKind, Tool, nearest};
use foreword_workspace::{
    Agent, AskedBy, Config, MCP_FILE, NamedServer, ReviewedTools, ServerTool, SkillProvider,
    TOOLS_FILE, ToolCommand, ToolEntry, WaitingServer, Workspace, WorkspaceError, mcp_server_of,
    mcp_tool_name,
};

use crate::collect::surfaces::{description, surface};
use crate::error::GatherError;
use crate::request::Request;
use crate::select::embedders::is_loopback;
use crate::server_checks::written_key_fault;
use crate::warning::Warning;

/// Who asks for the packs of tools that no file names.
pub(crate) const THE_HOST: &str = "the host";

/// The tool that reads a shortened result again.
const RESULT_READ: &str = "result_read";
const NOT_CALLABLE: &str = "nothing carries it out: give it a `command` in tools.toml";
/// A description is one line of an index; servers write whole pages.
const MAX_DESCRIPTION_CHARS: usize = 400;

/// What carries out a tool that is not built in.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolSource {
    /// A program that `tools.toml` names, inside the sandbox.
    Command(ToolCommand),
    /// An MCP server, with the tool as the person reviewed it.
    Server {
        /// The server's name in the workspace.
        server: String,
        /// The tool as the server describes it.
        tool: ServerTool,
    },
}

/// Packs of tools, and who asks for each.
pub(crate) type ToolPacks = Vec<(String, AskedBy)>;

/// The tools of an agent.
#[derive(Debug, Default)]
pub(crate) struct GatheredTools {
    pub(crate) tools: Vec<Tool>,
    pub(crate) packs: ToolPacks,
    pub(crate) sources: BTreeMap<String, ToolSource>,
    pub(crate) left_out: Vec<Filtered>,
}

/// The tools of an agent: its surfaces and names, else all of tools.toml; and the packs they ask for.
pub(crate) fn gather_tools(
    workspace: &Workspace,
    agent: Option<&Agent>,
    request: &Request,
    warnings: &mut Vec<Warning>,
) -> Result<GatheredTools, GatherError> {
    let default = &request.default_tools;
    let offered = workspace.tools()?;
    let by_name: BTreeMap<&str, &ToolEntry> =
        offered.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let asked: Vec<&str> = match agent {
        Some(agent) if !(agent.tools.is_empty() && agent.extensions.is_empty()) => {
            agent.tools.iter().chain(&agent.extensions).map(String::as_str).collect()
        }
        _ => {
            let offered = offered.iter().map(|entry| entry.name.as_str());
            offered.chain(default.iter().map(String::as_str)).collect()
        }
    };
    let mut gathered = GatheredTools::default();
    let mut uncallable = Vec::new();
    let mut seen = BTreeSet::new();
    for name in asked.iter().copied() {
        let names: Vec<&str> = match surface(name) {
            Some(surface) if !by_name.contains_key(name) => {
                let is_whole = || surface.tools.iter().all(|(tool, _)| !is_disallowed(agent, tool));
                let is_default = default.iter().any(|given| given == name);
                // A pack names every tool of its surface.
                let pack = surface.pack.filter(|_| is_default && is_whole());
                let pack = pack.map(|pack| (pack.to_owned(), AskedBy::whole(THE_HOST)));
                gathered.packs.extend(pack);
                surface.tools.iter().map(|(tool, _)| *tool).collect()
            }
            _ => vec![name],
        };
        for name in names {
            if !is_offered(workspace.config(), agent, name) || !seen.insert(name) {
                continue;
            }
            // Tools of servers come below, with what their servers say of them.
            if mcp_server_of(name).is_some() && !by_name.contains_key(name) {
                continue;
            }
            let entry = by_name.get(name).copied();
            let command = entry.and_then(|entry| entry.command.as_ref());
            if request.runner.is_some() && command.is_none() && !is_built_in(name) {
                uncallable.push(name.to_owned());
                continue;
            }
            gathered.add(name, entry, request.runner)?;
        }
    }
    let is_listed =
        agent.is_some_and(|agent| !(agent.tools.is_empty() && agent.extensions.is_empty()));
    // A list of tools is reviewed by a person, and what is neutral does not depend on one.
    if !request.neutral {
        let names = is_listed.then(|| asked.iter().copied().collect());
        gathered.add_servers(workspace, names.as_ref(), request, warnings)?;
        gathered.tools.retain(|tool| !is_disallowed(agent, tool.name.inspect()));
        gathered.sources.retain(|name, _| !is_disallowed(agent, name));
    }
    if !uncallable.is_empty() {
        gathered.left_out.extend(uncallable.iter().map(|name| Filtered {
            kind: "tool".to_owned(),
            id: name.clone(),
            reason: NOT_CALLABLE.to_owned(),
        }));
        warnings.push(Warning::UncallableTools { names: uncallable });
    }
    Ok(gathered)
}

impl GatheredTools {
    /// Adds the tools of MCP servers: those that an agent's list names, by tool or by server, or all.
    fn add_servers(
        &mut self,
        workspace: &Workspace,
        listed: Option<&BTreeSet<&str>>,
        request: &Request,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), GatherError> {
        let (reviewed, waiting) = usable_servers(workspace)?;
        let reviewed_servers: BTreeSet<String> = reviewed.keys().cloned().collect();
        let mut found = BTreeSet::new();
        for (server, list) in reviewed {
            for tool in list.tools {
                let name = mcp_tool_name(&server, &tool.name);
                if let Some(listed) = listed {
                    let by: Vec<&str> = listed
                        .iter()
                        .copied()
                        .filter(|entry| lists(entry, &server, &name))
                        .collect();
                    if by.is_empty() {
                        continue;
                    }
                    found.extend(by);
                }
                let description = match &tool.withheld {
                    Some(_) => "(description withheld: it looks like prompt injection)".to_owned(),
                    None => tool.description.chars().take(MAX_DESCRIPTION_CHARS).collect(),
                };
                self.tools.push(Tool {
                    name: Line::new(&name),
                    called: request.runner.and_then(|runner| call_name(&name, runner)),
                    description: Line::new(description),
                    ..Tool::default()
                });
                let source = ToolSource::Server { server: server.clone(), tool };
                self.sources.insert(name, source);
            }
        }
        if request.runner.is_some() {
            for problem in workspace.mcp_problems()? {
                let problem = format!("{MCP_FILE}:{}: {}", problem.line, problem.message);
                warnings.push(Warning::McpServer { problem });
            }
            let named = listed.into_iter().flatten().filter(|name| mcp_server_of(name).is_some());
            let missing = named.filter(|name| !found.contains(**name) && !self.has(name));
            let missing: Vec<&&str> = missing.collect();
            let named = workspace.mcp_servers()?;
            for name in missing {
                let server = mcp_server_of(name).unwrap_or_default();
                let problem = match named.get(server) {
                    None => Some(no_server(server, named.keys())),
                    Some(known) if !known.server.enabled => {
                        Some(format!("MCP server `{server}` is disabled in {}", known.file))
                    }
                    Some(_) if reviewed_servers.contains(server) => {
                        Some(format!("MCP server `{server}` offers no such tool"))
                    }
                    // Why it is off is a warning of its own.
                    Some(_) => None,
                };
                self.left_out.push(Filtered {
                    kind: "tool".to_owned(),
                    id: (*name).to_owned(),
                    reason: problem
                        .clone()
                        .unwrap_or_else(|| format!("MCP server `{server}` is off")),
                });
                let name = (*name).to_owned();
                warnings.extend(problem.map(|problem| Warning::ServerTool { name, problem }));
            }
            warnings.extend(servers_off(workspace, waiting)?);
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name.inspect() == name)
    }

    fn add(
        &mut self,
        name: &str,
        entry: Option<&ToolEntry>,
        runner: Option<RunnerKind>,
    ) -> Result<(), GatherError> {
        let Some(entry) = entry else {
            self.tools.push(built_in_tool(name, runner));
            return Ok(());
        };
        if let Some(pack) = &entry.capability {
            self.packs.push((pack.clone(), AskedBy::new(TOOLS_FILE, entry.line)));
        }
        if let Some(command) = &entry.command {
            if is_built_in(name) {
                let (name, asked_by) = (name.to_owned(), AskedBy::new(TOOLS_FILE, entry.line));
                return Err(GatherError::BuiltInTool { name, asked_by });
            }
            self.sources.insert(name.to_owned(), ToolSource::Command(command.clone()));
        }
        let is_ours = is_built_in(name) || entry.command.is_some();
        self.tools.push(Tool {
            name: Line::new(&entry.name),
            called: runner.filter(|_| is_ours).and_then(|runner| call_name(&entry.name, runner)),
            description: Line::new(&entry.description),
            modes: entry.modes.iter().map(|mode| Line::new(mode.as_str())).collect(),
            capability: entry.capability.as_deref().map(Line::new),
        });
        Ok(())
    }
}

/// Whether an agent's header takes a tool away: by name, by surface, or by server.
fn is_disallowed(agent: Option<&Agent>, tool: &str) -> bool {
    let Some(agent) = agent else { return false };
    agent.disallowed_tools.iter().any(|name| {
        let in_surface =
            || surface(name).is_some_and(|surface| surface.tools.iter().any(|(t, _)| *t == tool));
        // `mcp__server` and `mcp__server__*` are all tools of a server, and `mcp__*` those of every one.
        let of_server = || {
            let server = mcp_server_of(tool);
            let whole = name.strip_suffix("__*").unwrap_or(name);
            server.is_some()
                && (name == "mcp__*"
                    || server.is_some_and(|server| whole == format!("mcp__{server}")))
        };
        name == tool || in_surface() || of_server()
    })
}

/// Whether an entry of an agent's list names a tool of a server: by its name, by its server, or by a start of
/// the name and `*`, as permission rules do.
fn lists(entry: &str, server: &str, tool: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(start) => tool.starts_with(start) && mcp_server_of(entry) == Some(server),
        None => entry == tool || entry.strip_prefix("mcp__") == Some(server),
    }
}

/// What is wrong with the name of a server that the workspace does not name.
pub(crate) fn no_server<'n>(server: &str, known: impl Iterator<Item = &'n String>) -> String {
    let near = nearest(server, known.map(String::as_str));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("there is no MCP server `{server}`{near}")
}

/// The tools of the servers that agents may use, and the servers that are off. One with a key written out is
/// off, whether its tools were reviewed or not.
pub fn usable_servers(
    workspace: &Workspace,
) -> Result<(BTreeMap<String, ReviewedTools>, Vec<WaitingServer>), WorkspaceError> {
    let (mut reviewed, mut waiting) = workspace.reviewed_tools()?;
    if !reviewed.is_empty() {
        for (name, named) in workspace.mcp_servers()? {
            if written_key_fault(&named.server).is_some() && reviewed.remove(&name).is_some() {
                waiting.push(WaitingServer { name, named, fault: None });
            }
        }
    }
    Ok((reviewed, waiting))
}

/// Why servers are off, and what the person can do about each.
pub(crate) fn servers_off(
    workspace: &Workspace,
    waiting: Vec<WaitingServer>,
) -> Result<Vec<Warning>, GatherError> {
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let personal = workspace.personal_mcp()?;
    let (mut warnings, mut not_reviewed) = (Vec::new(), Vec::new());
    for WaitingServer { name, named: NamedServer { server, file, line }, fault } in waiting {
        if let Some(reason) = written_key_fault(&server) {
            warnings.push(Warning::ServerKey { name, file, line, reason });
            continue;
        }
        let url = server.url.as_ref().filter(|url| !is_loopback(url));
        let url = url.filter(|_| personal.of(&server).is_none());
        match (url, fault, workspace.settings_file()) {
            (Some(url), _, Some(settings)) => {
                let url = url.clone();
                warnings.push(Warning::ServerElsewhere { name, url, settings });
            }
            (None, Some(fault), _) => {
                warnings.push(Warning::ServerFailed { name, reason: fault });
            }
            _ => not_reviewed.push(name),
        }
    }
    if !not_reviewed.is_empty() {
        warnings.push(Warning::ServersNotReviewed { names: not_reviewed });
    }
    Ok(warnings)
}

/// Whether a tool can be offered at all: none that the agent's header takes away, none for skills where these
/// are off, and none to change what nobody can change.
pub fn is_offered(config: &Config, agent: Option<&Agent>, tool: &str) -> bool {
    let skills = &config.skills;
    let about_skills = surface("skills")
        .is_some_and(|surface| surface.tools.iter().any(|(name, _)| *name == tool));
    let allowed = skills.allow_skills && agent.is_none_or(|agent| agent.allow_skills);
    let can_change = skills.provider != SkillProvider::ReadOnly;
    let is_possible = !about_skills || allowed && (can_change || tool != "skill_propose");
    is_possible && !is_disallowed(agent, tool)
}

/// Whether the agent or the host carries out a tool of this name.
pub(crate) fn is_built_in(name: &str) -> bool {
    description(name).is_some()
}

/// What a runner calls a tool of ours, where that is not its name. In a prompt for a loop of one's own,
/// tools that are not Foreword's have the name that tools.toml gives them.
fn call_name(name: &str, runner: RunnerKind) -> Option<Line> {
    runner.tool_name(name).map(Line::new)
}

fn built_in_tool(name: &str, runner: Option<RunnerKind>) -> Tool {
    let runner = runner.filter(|_| is_built_in(name));
    Tool {
        name: Line::new(name),
        called: runner.and_then(|runner| call_name(name, runner)),
        description: Line::new(description(name).unwrap_or_default()),
        ..Tool::default()
    }
}

/// Adds what a runner offers to every agent: a way to report to the audit log, until there is an identity
/// a way to propose one, and in the native loop, which shortens large results, a way to read them again.
///
/// None of it depends on the task, so that the list is the same in every turn of a session.
pub(crate) fn add_standing_tools(context: &mut Context, agent: Option<&Agent>, runner: RunnerKind) {
    let bootstrap = context.is_bootstrap().then_some("identity_propose");
    let shortens = runner == RunnerKind::Native && !is_disallowed(agent, RESULT_READ);
    let reading = shortens.then_some(RESULT_READ);
    for name in [Some("audit_report"), bootstrap, reading].into_iter().flatten() {
        if !context.has_tool(name) {
            Arc::make_mut(&mut context.tools).push(built_in_tool(name, Some(runner)));
        }
    }
}
