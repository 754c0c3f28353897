//! Recognises the layouts in a directory and migrates them all together.

use std::path::Path;

use super::blueprint::{self, Base};
use super::import::Import;
use super::instructions::{AGENTS, CLAUDE};
use super::permissions::{Decision, Rule};
use super::row::{Outcome, Row};
use super::source::Source;
use super::write::{NewFile, Written};
use super::{
    claude_code, codex, cosmonauts, cursor, ignored_files, nested, openclaw, record, settings,
};
use crate::error::CliError;

/// Characters of an agent's description that the main agent sees.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// A known layout. Several may be in one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Cosmonauts,
    OpenClaw,
    ClaudeCode,
    Codex,
    Cursor,
    /// What several tools read.
    AgentsMd,
}

impl Layout {
    const ALL: [Self; 6] = [
        Self::Cosmonauts,
        Self::OpenClaw,
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::AgentsMd,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Cosmonauts => "Cosmonauts",
            Self::OpenClaw => "OpenClaw",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::AgentsMd => "AGENTS.md",
        }
    }

    /// The files that identify it.
    fn signs(self, source: &Source) -> Vec<&'static str> {
        match self {
            Self::Cosmonauts => cosmonauts::signs(source),
            // Cosmonauts has folders of agents, too.
            Self::OpenClaw if !cosmonauts::signs(source).is_empty() => openclaw::sure_signs(source),
            Self::OpenClaw => openclaw::signs(source),
            Self::ClaudeCode => claude_code::signs(source),
            Self::Codex => codex::signs(source),
            Self::Cursor => cursor::signs(source),
            Self::AgentsMd => {
                let mut signs = Vec::new();
                if source.exists(AGENTS) {
                    signs.push(AGENTS);
                }
                let skills = source.names("skills").unwrap_or_default();
                if skills.iter().any(|name| source.is_file(&format!("skills/{name}/SKILL.md"))) {
                    signs.push("skills/*/SKILL.md");
                }
                if source.is_dir(".agents/skills") {
                    signs.push(".agents/skills/");
                }
                signs
            }
        }
    }

    fn migrate(self, import: &mut Import) {
        match self {
            Self::Cosmonauts => cosmonauts::migrate(import),
            Self::OpenClaw => openclaw::migrate(import),
            Self::ClaudeCode => claude_code::migrate(import),
            Self::Codex => codex::migrate(import),
            Self::Cursor => cursor::migrate(import),
            Self::AgentsMd => {}
        }
    }
}

/// The files to write, and what became of the old ones.
pub(crate) struct Migration {
    pub(crate) layouts: Vec<&'static str>,
    /// The files that identify the layouts.
    pub(crate) signs: Vec<&'static str>,
    pub(crate) blueprint: String,
    /// Sorted by path, with `foreword.toml`.
    pub(crate) files: Vec<NewFile>,
    /// Ids of agents, sorted.
    pub(crate) agents: Vec<String>,
    /// The table, sorted.
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<String>,
}

/// Whether a workspace is made in the directory of the old setup itself.
pub(crate) fn is_in_place(from: &Path, workspace: &Path) -> bool {
    match (from.canonicalize(), workspace.canonicalize()) {
        (Ok(from), Ok(workspace)) => from == workspace,
        _ => false,
    }
}

/// Reads a directory with known layouts, for a workspace. Writes nothing.
///
/// Files that an earlier migration wrote into the same directory are not part of the old setup.
pub(crate) fn read(from: &Path, workspace: &Path) -> Result<Migration, CliError> {
    let mut source = Source::open(from)?;
    let in_place = is_in_place(from, workspace);
    // A record that cannot be read hides no files.
    let earlier = record::earlier(from).ok().flatten();
    if let Some(earlier) = earlier.filter(|earlier| earlier.in_place) {
        source.hide(earlier.files.into_keys().collect());
    }
    let home = openclaw::workspace_below(&source);
    let (source, home) = match home {
        Some(below) => (source.below(below)?, Some(source)),
        None => (source, None),
    };
    let mut found: Vec<(Layout, Vec<&'static str>)> = Layout::ALL
        .into_iter()
        .map(|layout| (layout, layout.signs(&source)))
        .filter(|(_, signs)| !signs.is_empty())
        .collect();
    if home.is_some() && !found.iter().any(|(layout, _)| *layout == Layout::OpenClaw) {
        found.push((Layout::OpenClaw, vec!["openclaw.json"]));
    }
    if found.is_empty() {
        return Err(unknown(from));
    }
    let known: Vec<Layout> = found.iter().map(|(layout, _)| *layout).collect();
    let has = |layout| known.contains(&layout);
    let mut import = Import::new(source, in_place);
    let agents_file = codex::main_file(&import.source);
    let claude_file = claude_code::main_file(&import.source);
    import.place_main(agents_file, claude_file);
    // In a person's own directory of a tool, other folders are its state.
    if ![".claude", ".codex", ".openclaw"].contains(&import.source.name()) {
        nested::migrate(&mut import);
    }
    if let Some(home) = &home {
        import.disabled_skills = openclaw::disabled_skills(home);
    }
    for (layout, _) in &found {
        layout.migrate(&mut import);
    }
    if let Some(home) = &home {
        openclaw::migrate_home(&mut import, home);
    }
    import.copy_skills("skills");
    import.copy_skills(".agents/skills");
    nested::migrate_claude(&mut import);
    ignored_files::migrate(&mut import, "");
    others(&mut import);
    import.place_instructions();
    import.place_servers();

    let base = if has(Layout::Cosmonauts) {
        Base::Roles
    } else if has(Layout::OpenClaw) && !openclaw::sure_signs(&import.source).is_empty() {
        Base::Companion
    } else {
        Base::Standard
    };
    choose_main(&mut import, has(Layout::ClaudeCode) || has(Layout::Cursor) || has(Layout::Codex));
    let blueprint = blueprint::place(&mut import, base);
    if base != Base::Roles {
        place_tools(&mut import);
    }
    settings::place(&mut import, &blueprint);

    let mut agents: Vec<String> = import.agents.iter().map(|agent| agent.id.clone()).collect();
    agents.sort();
    let notes = std::mem::take(&mut import.notes);
    let (rows, files) = import.finish();
    // AGENTS.md is part of what these tools read.
    if [Layout::Cosmonauts, Layout::OpenClaw, Layout::Codex].into_iter().any(has) {
        found.retain(|(layout, _)| *layout != Layout::AgentsMd);
    }
    Ok(Migration {
        layouts: found.iter().map(|(layout, _)| layout.name()).collect(),
        signs: found.into_iter().flat_map(|(_, signs)| signs).collect(),
        blueprint,
        files: files.into_values().collect(),
        agents,
        rows,
        notes,
    })
}

fn unknown(from: &Path) -> CliError {
    CliError::usage(format!("{}: unknown layout", from.display()))
        .hint("Claude Code: CLAUDE.md or .claude/")
        .hint("Codex: AGENTS.md or .codex/")
        .hint("Cursor: .cursor/ or .cursorrules")
        .hint("OpenClaw: SOUL.md, IDENTITY.md, TOOLS.md, skills/*/SKILL.md, agents/*/, or openclaw.json with workspace/")
        .hint("Cosmonauts: prompts/cosmonauts.md, prompts/capabilities/, prompts/agents/*/, or prompts/base/coding.md with prompts/roles/")
        .hint("omit `--from` to create a workspace from a template")
}

/// The main agent stays the main agent: where the directory itself instructs one, no sub-agent takes
/// its place.
fn choose_main(import: &mut Import, is_coding_tool: bool) {
    let identity = [AGENTS, CLAUDE, "SOUL.md", "IDENTITY.md", "BOOTSTRAP.md"];
    let has_main = identity.iter().any(|path| import.has(path)) && !import.has_below("prompts/");
    if import.settings.agent.is_some() || has_main || is_coding_tool {
        return;
    }
    match import.agents.as_slice() {
        [one] => import.settings.agent = Some(one.id.clone()),
        [first, _, ..] => import.notes.push(format!(
            "no agent is the main one; pass `--agent {}`, or set `agent` in foreword.toml",
            first.id
        )),
        [] => {}
    }
}

/// Instructions of tools that are not migrated.
fn others(import: &mut Import) {
    for path in [
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".windsurfrules",
        ".windsurf",
        ".clinerules",
        ".roo",
        ".aider.conf.yml",
        ".junie",
        ".kiro",
    ] {
        import.left_if_present(
            path,
            "belongs to a tool that is not migrated; add its text to CONTEXT.md if you need it",
        );
    }
    import.left_if_present("foreword.toml", "settings of a workspace are not migrated");
}

/// `tools.toml`: what the main agent needs beside the tools that every agent has.
fn place_tools(import: &mut Import) {
    const TOOLS: &str = "tools.toml";
    let agents = std::mem::take(&mut import.agents);
    let mut text = String::new();
    if !agents.is_empty() {
        let known: Vec<String> = agents
            .iter()
            .map(|agent| match agent.description.as_str() {
                "" => agent.id.clone(),
                description => {
                    let short: String = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
                    let more = if short.len() < description.len() { "…" } else { "" };
                    format!("{} ({short}{more})", agent.id)
                }
            })
            .collect();
        let what = format!("Start another agent on a piece of work. Agents: {}", known.join("; "));
        text.push_str(&tool("spawn_agent", &what, Some("spawning")));
        text.push_str(&tool("chain_run", "Run agents one after another.", Some("spawning")));
    }
    let wants_web = agents.iter().any(|agent| {
        let file = format!("agents/{}/AGENT.md", agent.id);
        import.text_of(&file).is_some_and(|text| text.contains("- \"web_fetch\"\n"))
    });
    let has_hosts = import.settings.has_web_hosts();
    if has_hosts {
        text.push_str(&tool("web_fetch", "Fetch a page from a host the workspace allows.", None));
    }
    let is_for_all = |rule: &Rule| rule.decision == Decision::Allow && rule.pattern == "web_fetch";
    if let Some(rule) = import.permissions.rules.iter().find(|rule| is_for_all(rule)) {
        let source = format!("{}: other hosts", rule.source);
        import.lost(&source, "`web_fetch` fetches only from hosts in `host.web_hosts`; list them");
    } else if wants_web && !has_hosts {
        import.lost(
            "WebFetch",
            "`web_fetch` is off until `host.web_hosts` in foreword.toml lists hosts",
        );
    }
    import.agents = agents;
    if text.is_empty() {
        return;
    }
    let text = format!("# Tools of the main agent beside those that every agent has.\n{text}");
    import.add_text(TOOLS, TOOLS, text);
}

fn tool(name: &str, description: &str, capability: Option<&str>) -> String {
    let quoted = |text: &str| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        toml::Value::String(line).to_string()
    };
    let pack = capability.map(|pack| format!("capability = {}\n", quoted(pack)));
    format!(
        "\n[[tool]]\nname = {}\ndescription = {}\n{}",
        quoted(name),
        quoted(description),
        pack.unwrap_or_default()
    )
}

impl Migration {
    /// Turns rows into losses whose file the workspace keeps in its own version.
    pub(crate) fn settle(&mut self, written: &Written) {
        let kept = written.kept.iter().map(|path| {
            (path, format!("{path} exists in the workspace and differs; `foreword sync --from DIR` compares them"))
        });
        let blocked = written.blocked.iter().map(|(path, reason)| (path, reason.clone()));
        for (path, reason) in kept.chain(blocked) {
            let mut named = false;
            for row in &mut self.rows {
                let is_target = row.to.as_ref().is_some_and(|to| {
                    to == path || (to.ends_with('/') && path.starts_with(to.as_str()))
                });
                if is_target {
                    named = true;
                    row.outcome = Outcome::Lost;
                    row.to = None;
                    row.note = Some(reason.clone());
                }
            }
            if !named {
                let source = path.clone();
                let note = Some(reason.clone());
                self.rows.push(Row { source, outcome: Outcome::Lost, to: None, note });
            }
        }
        self.rows.sort();
        self.rows.dedup();
    }
}
