//! The tools of an agent, and what carries each of them out.
//!
//! A tool is built in, a program that `tools.toml` names, or offered by an MCP server. What a runner is
//! given is what it can call: a tool that nothing carries out is left out of a run and named in the
//! manifest. A prompt for a loop of one's own has them all, since that loop may know them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foreword::{Context, Filtered, Line, RunnerKind, Tool};
use foreword_workspace::{
    Agent, AskedBy, SkillProvider, TOOLS_FILE, ToolCommand, ToolEntry, Workspace,
};

use crate::collect::surfaces::{description, surface};
use crate::error::GatherError;
use crate::request::Request;
use crate::warning::Warning;

/// Who asks for the packs of tools that no file names.
pub(crate) const THE_HOST: &str = "the host";

const NOT_CALLABLE: &str = "nothing carries it out: give it a `command` in tools.toml";

/// What carries out a tool that is not built in.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolSource {
    /// A program that `tools.toml` names, inside the sandbox.
    Command(ToolCommand),
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
    for name in asked {
        let names: Vec<&str> = match surface(name) {
            Some(surface) if !by_name.contains_key(name) => {
                let pack = surface.pack.filter(|_| default.iter().any(|given| given == name));
                let pack = pack.map(|pack| (pack.to_owned(), AskedBy::whole(THE_HOST)));
                gathered.packs.extend(pack);
                surface.tools.iter().map(|(tool, _)| *tool).collect()
            }
            _ => vec![name],
        };
        for name in names {
            // Nobody can propose what nobody can change.
            let is_offered = name != "skill_propose"
                || workspace.config().skills.provider != SkillProvider::ReadOnly;
            if !is_offered || !seen.insert(name) {
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

/// Adds what a runner offers to every agent: a way to report to the audit log and, until there is an
/// identity, a way to propose one.
pub(crate) fn add_standing_tools(context: &mut Context, runner: RunnerKind) {
    let bootstrap = context.is_bootstrap().then_some("identity_propose");
    for name in [Some("audit_report"), bootstrap].into_iter().flatten() {
        if !context.has_tool(name) {
            Arc::make_mut(&mut context.tools).push(built_in_tool(name, Some(runner)));
        }
    }
}
