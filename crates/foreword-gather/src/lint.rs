//! Linting a workspace: one subject per agent, findings of shared files once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foreword::{Finding, Severity, Subject, lint, nearest};
use foreword_workspace::{
    Agent, CONFIG_FILE, MCP_FILE, MIGRATION_FILE, McpProblem, MigrationLoss, NamedServer,
    ProgramFile, Skill, SkillProblem, SkillScan, TOOLS_FILE, ToolEntry, Workspace, mcp_server_of,
};

use crate::collect::gather::{Base, gather_base};
use crate::collect::surfaces::{SURFACES, surface};
use crate::collect::tools::{is_built_in, no_server, servers_off, usable_servers};
use crate::error::GatherError;
use crate::request::Request;
use crate::server_checks;
use crate::warning::Warning;

/// The findings on one agent of a workspace, or on all of them. References that lead nowhere are
/// findings here, not errors, so that one run shows everything.
pub fn lint_workspace(
    root: &Path,
    agent: Option<&str>,
    blueprint: Option<&str>,
    config_dir: Option<&Path>,
) -> Result<Vec<Finding>, GatherError> {
    let workspace = Workspace::open_for(root, config_dir)?;
    let all = workspace.agent_ids()?;
    let checked: Vec<Option<String>> = match agent {
        Some(id) => vec![Some(id.to_owned())],
        None if all.is_empty() => vec![None],
        None => all.iter().cloned().map(Some).collect(),
    };
    let entries = workspace.tools()?;
    let mut known_tools: BTreeSet<String> = entries.iter().map(|tool| tool.name.clone()).collect();
    known_tools.extend(
        SURFACES.iter().flat_map(|surface| surface.tools).map(|(tool, _)| (*tool).to_owned()),
    );
    let existing = known_tools.clone();
    let servers = workspace.mcp_servers()?;
    let mut findings: Vec<Finding> = entries.iter().filter_map(uncallable).collect();
    findings.extend(entries.iter().filter_map(|tool| unusable_program(tool, &workspace)));
    findings.extend(workspace.mcp_problems()?.into_iter().map(unusable_server));
    findings.extend(crate::permission_rules::findings(&workspace, &existing, servers.keys()));
    findings.extend(server_checks::findings(&servers, config_dir)?);
    findings.extend(off_servers(&workspace, &servers)?);
    for id in &all {
        let agent = workspace.agent(id)?;
        if checked.iter().flatten().any(|checked| checked == id) {
            findings.extend(unknown_tools(&agent, &existing, &servers));
        }
        let named =
            agent.tools.into_iter().chain(agent.extensions).filter(|tool| surface(tool).is_none());
        known_tools.extend(named);
    }
    let known_tools: Vec<String> = known_tools.into_iter().collect();

    let scan = workspace.skills()?;
    findings.extend(scan.problems.iter().map(passed_over));
    findings.extend(scan.skills.iter().filter_map(broken_header));
    findings.extend(scan.skills.iter().filter_map(unreachable));
    let mut offered: BTreeSet<String> = BTreeSet::new();
    for id in checked {
        let request = Request {
            agent: id.clone(),
            blueprint: blueprint.map(str::to_owned),
            neutral: true,
            ..Request::default()
        };
        let base = gather_base(&workspace, &request, true)?;
        let names = base.context.tools.iter().map(|tool| tool.name.inspect());
        offered.extend(names.map(str::to_owned));
        let others: Vec<String> =
            all.iter().filter(|other| Some(*other) != id.as_ref()).cloned().collect();
        findings.extend(lint_agent(&base, &known_tools, &others));
        findings.extend(base.agent.iter().flat_map(|agent| absent_skills(agent, &scan)));
    }
    // One agent's tools say nothing of those that the others have.
    if agent.is_none() {
        let record = workspace.migration()?.unwrap_or_default();
        findings.extend(record.lost.iter().filter(|loss| !loss.accepted).map(migration_loss));
        findings.extend(absent_bases(&workspace, &offered, &scan));
        findings.extend(entries.iter().filter_map(|tool| unlisted(tool, &offered)));
        findings.extend(unlisted_servers(&workspace, &all, &servers)?);
    }
    let mut seen = std::collections::HashSet::new();
    findings.retain(|finding| seen.insert(finding.clone()));
    findings.sort_by(|a, b| {
        (&a.file, a.line, a.rule, &a.message).cmp(&(&b.file, b.line, b.rule, &b.message))
    });
    Ok(findings)
}

/// A tool that a run leaves out, because nothing carries it out.
fn uncallable(tool: &ToolEntry) -> Option<Finding> {
    (tool.command.is_none() && !is_built_in(&tool.name)).then(|| Finding {
        rule: "uncallable-tool",
        severity: Severity::Warning,
        file: TOOLS_FILE.to_owned(),
        line: u32::try_from(tool.line).unwrap_or(u32::MAX),
        message: format!(
            "no program carries out the tool `{}`; `run` and `chat` leave it out",
            tool.name
        ),
        hint: "add `command = [\"…\"]`, or keep it for a loop of your own that has this tool"
            .to_owned(),
    })
}

/// A program of the workspace that is not there or cannot be started.
fn unusable_program(tool: &ToolEntry, workspace: &Workspace) -> Option<Finding> {
    // Others are looked for in the sandbox, which may have other programs than this machine.
    let program = tool.command.as_ref()?.command.first().filter(|program| program.contains('/'))?;
    if program.starts_with('/') {
        return None;
    }
    let (problem, hint) = match workspace.program(program) {
        ProgramFile::Executable => return None,
        ProgramFile::Missing => (
            "does not exist",
            "create it, or correct the path; it begins at the root of the workspace".to_owned(),
        ),
        ProgramFile::NotExecutable => (
            "is not executable",
            format!("run `chmod +x {program}`, or name its interpreter first"),
        ),
    };
    Some(Finding {
        rule: "uncallable-tool",
        severity: Severity::Warning,
        file: TOOLS_FILE.to_owned(),
        line: u32::try_from(tool.line).unwrap_or(u32::MAX),
        message: format!("the program `{program}` of the tool `{}` {problem}", tool.name),
        hint,
    })
}

/// A tool that no agent lists, so that none can call it.
fn unlisted(tool: &ToolEntry, offered: &BTreeSet<String>) -> Option<Finding> {
    (!offered.contains(&tool.name) && !is_built_in(&tool.name)).then(|| Finding {
        rule: "unlisted-tool",
        severity: Severity::Warning,
        file: TOOLS_FILE.to_owned(),
        line: u32::try_from(tool.line).unwrap_or(u32::MAX),
        message: format!("no agent has the tool `{}`", tool.name),
        hint: format!("add `{}` to `tools:` in the AGENT.md of the agents that need it", tool.name),
    })
}

/// Servers whose tools no agent lists, so that none can call them.
fn unlisted_servers(
    workspace: &Workspace,
    agents: &[String],
    servers: &BTreeMap<String, NamedServer>,
) -> Result<Vec<Finding>, GatherError> {
    // A main agent without a header has all tools.
    if workspace.config().agent.is_none() || servers.is_empty() {
        return Ok(Vec::new());
    }
    let mut listed: BTreeSet<String> = BTreeSet::new();
    for id in agents {
        let agent = workspace.agent(id)?;
        if agent.tools.is_empty() && agent.extensions.is_empty() {
            return Ok(Vec::new());
        }
        let names = agent.tools.iter().chain(&agent.extensions);
        listed.extend(names.filter_map(|name| mcp_server_of(name)).map(str::to_owned));
    }
    let unlisted =
        servers.iter().filter(|(name, named)| named.server.enabled && !listed.contains(*name));
    let findings = unlisted.map(|(name, named)| Finding {
        rule: "unlisted-tool",
        severity: Severity::Warning,
        file: named.file.to_owned(),
        line: u32::try_from(named.line).unwrap_or(u32::MAX),
        message: format!("no agent has the tools of the MCP server `{name}`"),
        hint: format!("add `mcp__{name}` to `tools:` in the AGENT.md of the agents that need them"),
    });
    Ok(findings.collect())
}

/// A server of another program's file that cannot be used.
fn unusable_server(problem: McpProblem) -> Finding {
    Finding {
        rule: "mcp-server",
        severity: Severity::Warning,
        file: MCP_FILE.to_owned(),
        line: u32::try_from(problem.line).unwrap_or(u32::MAX),
        message: problem.message,
        hint: "correct it there, or name the server under [mcp.servers] in foreword.toml"
            .to_owned(),
    }
}

/// Servers that stay off, whatever the person answers to the trust question.
fn off_servers(
    workspace: &Workspace,
    servers: &BTreeMap<String, NamedServer>,
) -> Result<Vec<Finding>, GatherError> {
    let (_, waiting) = usable_servers(workspace)?;
    let warnings = servers_off(workspace, waiting)?;
    let findings = warnings.into_iter().filter_map(|warning| {
        // What is on another machine is a finding of its own, with the lines to write.
        let Warning::ServerFailed { name, .. } = &warning else { return None };
        let named = servers.get(name)?;
        Some(Finding {
            rule: "mcp-server",
            severity: Severity::Warning,
            file: named.file.to_owned(),
            line: u32::try_from(named.line).unwrap_or(u32::MAX),
            message: warning.to_string(),
            hint: "`foreword trust` starts it again".to_owned(),
        })
    });
    Ok(findings.collect())
}

/// Names in an agent's list of tools that stand for nothing.
fn unknown_tools(
    agent: &Agent,
    existing: &BTreeSet<String>,
    servers: &BTreeMap<String, NamedServer>,
) -> Vec<Finding> {
    let disallowed = agent.disallowed_tools.iter().filter(|name| !name.starts_with("mcp__"));
    let disallowed: Vec<String> = disallowed.cloned().collect();
    let lists = [
        ("tools", &agent.tools),
        ("extensions", &agent.extensions),
        // A server that is not there now may come back.
        ("disallowed_tools", &disallowed),
    ];
    let named =
        lists.into_iter().flat_map(|(key, names)| names.iter().map(move |name| (key, name)));
    let unknown = named.filter(|(_, name)| surface(name).is_none() && !existing.contains(*name));
    // Whether a server has a tool is known once its list was reviewed.
    let unknown = unknown
        .filter(|(_, name)| mcp_server_of(name).is_none_or(|server| !servers.contains_key(server)));
    unknown
        .map(|(key, name)| {
            let surfaces = SURFACES.iter().map(|surface| surface.name);
            let near = nearest(name, existing.iter().map(String::as_str).chain(surfaces));
            let near = near.map(|near| format!("did you mean `{near}`? Otherwise "));
            let (problem, hint) = match mcp_server_of(name) {
                Some(server) => (
                    format!("but {}", no_server(server, servers.keys())),
                    format!(
                        "name the server in {MCP_FILE} or under [mcp.servers] in {CONFIG_FILE}"
                    ),
                ),
                None => (
                    "which is not a tool".to_owned(),
                    format!("{}describe it in {TOOLS_FILE}", near.unwrap_or_default()),
                ),
            };
            Finding {
                rule: "unknown-tool",
                severity: Severity::Error,
                file: agent.file.clone(),
                line: u32::try_from(agent.asked_by(key).line.unwrap_or(1)).unwrap_or(u32::MAX),
                message: format!("`{key}` lists `{name}`, {problem}"),
                hint,
            }
        })
        .collect()
}

/// A skill that no prompt has, though its file is there.
fn passed_over(problem: &SkillProblem) -> Finding {
    let (severity, file, hint) = match problem {
        SkillProblem::Shadowed { path, .. } | SkillProblem::CaseClash { path, .. } => {
            (Severity::Warning, path.as_str(), "rename or remove one of the two".to_owned())
        }
        SkillProblem::Unreadable(error) => {
            (Severity::Error, error.path().unwrap_or("skills"), error.hint())
        }
        SkillProblem::OverTotal { path } => {
            (Severity::Error, path.as_str(), "remove skills, or shorten them".to_owned())
        }
        SkillProblem::RootNotAllowed { .. } => {
            (Severity::Warning, CONFIG_FILE, "run `foreword trust` to allow it".to_owned())
        }
        _ => (Severity::Error, "skills", String::new()),
    };
    let line = match problem {
        SkillProblem::Unreadable(error) => error.line().unwrap_or(1),
        _ => 1,
    };
    // The place stands in a finding's own fields.
    let message = problem.to_string();
    let message = [format!("{file}:{line}: "), format!("{file}: ")]
        .iter()
        .find_map(|place| message.strip_prefix(place))
        .unwrap_or(&message);
    Finding {
        rule: "skill-passed-over",
        severity,
        file: file.to_owned(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        message: message.to_owned(),
        hint,
    }
}

/// Something of another tool's setup that the workspace does not do.
fn migration_loss(loss: &MigrationLoss) -> Finding {
    Finding {
        rule: "migration-loss",
        severity: Severity::Error,
        file: MIGRATION_FILE.to_owned(),
        line: u32::try_from(loss.line).unwrap_or(u32::MAX),
        message: format!("{} was not migrated: {}", loss.source, loss.reason),
        hint: "replace it or do without it, then set `accepted = true` for it".to_owned(),
    }
}

/// A skill whose header is not YAML: a prompt has the skill, with what could be read of its header.
fn broken_header(skill: &Skill) -> Option<Finding> {
    let note = skill.broken_header.as_ref()?;
    Some(Finding {
        rule: "skill-header",
        severity: Severity::Warning,
        file: skill.body.path.clone(),
        line: u32::try_from(note.line).unwrap_or(u32::MAX),
        message: format!("the header is not valid YAML: {}", note.message),
        hint: "correct the line; `foreword skill lint` checks the whole format".to_owned(),
    })
}

/// A skill that neither an agent nor a person can ask for.
fn unreachable(skill: &Skill) -> Option<Finding> {
    let is_offered = skill.invocation.model || skill.invocation.people;
    (!is_offered).then(|| Finding {
        rule: "unreachable-skill",
        severity: Severity::Warning,
        file: skill.body.path.clone(),
        line: 1,
        message: format!("nobody can ask for the skill `{}`", skill.name),
        hint: "remove `disable-model-invocation: true` or `user-invocable: false` from its header"
            .to_owned(),
    })
}

/// Tools and skills that a mode is to start with and no agent has.
fn absent_bases(
    workspace: &Workspace,
    offered: &BTreeSet<String>,
    scan: &SkillScan,
) -> Vec<Finding> {
    let modes = &workspace.config().modes;
    let mut findings = Vec::new();
    for (mode, set) in [("plan", &modes.plan), ("act", &modes.act), ("review", &modes.review)] {
        let tools = set.base_tools.iter().filter(|name| !offered.contains(*name));
        let skills = set.base_skills.iter();
        let skills = skills.filter(|name| !scan.skills.iter().any(|skill| skill.name == **name));
        let absent = tools.map(|name| ("base_tools", "tool", name));
        for (key, what, name) in absent.chain(skills.map(|name| ("base_skills", "skill", name))) {
            let line = workspace.config_asked_by(&["modes", mode, key]).line.unwrap_or(1);
            findings.push(Finding {
                rule: "missing-reference",
                severity: Severity::Warning,
                file: CONFIG_FILE.to_owned(),
                line: u32::try_from(line).unwrap_or(u32::MAX),
                message: format!(
                    "`modes.{mode}.{key}` names the {what} `{name}`, which no agent has"
                ),
                hint: "correct the name, or remove it from the list".to_owned(),
            });
        }
    }
    findings
}

/// Skills that an agent's list names and nobody wrote.
fn absent_skills<'a>(agent: &'a Agent, scan: &'a SkillScan) -> impl Iterator<Item = Finding> + 'a {
    let listed = agent.skills.iter().flatten().filter(|_| agent.allow_skills);
    let absent = listed.filter(|name| !scan.skills.iter().any(|skill| skill.name == **name));
    absent.map(|name| Finding {
        rule: "missing-reference",
        severity: Severity::Error,
        file: agent.file.clone(),
        line: u32::try_from(agent.asked_by("skills").line.unwrap_or(1)).unwrap_or(u32::MAX),
        message: format!("`skills` lists `{name}`, which does not exist"),
        hint: format!("create skills/{name}/SKILL.md, or remove the name from the list"),
    })
}

fn lint_agent(base: &Base, known_tools: &[String], other_agents: &[String]) -> Vec<Finding> {
    let context = &base.context;
    let agent = base.agent.as_ref();
    lint(&Subject {
        agent: agent.map_or("", |agent| &agent.id),
        agent_file: agent.map_or("foreword.toml", |agent| &agent.file),
        blueprint: &base.blueprint,
        blueprint_file: &base.blueprint_file,
        context,
        refs: agent.and_then(|agent| agent.prompts.as_deref()).unwrap_or_default(),
        agent_body: &context.identity_files.agent,
        persona_file: Some(&context.persona).filter(|persona| !persona.is_blank()),
        known_tools,
        other_agents,
        missing: &base.missing,
    })
}
