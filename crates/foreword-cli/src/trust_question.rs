//! What the trust question shows: everything that "yes" gives away, by name and value.

use std::fmt::Write as _;

use foreword::{visible, visible_line};
use foreword_gather::{hide_key_of, hide_keys};
use foreword_host::{
    DisclosedModel, DisclosedServer, DisclosedSkill, Disclosure, ServerReview, what_it_gives_away,
};
use foreword_skills::unified;
use foreword_workspace::{
    CONFIG_FILE, Concern, GovernedFile, ReviewedTools, ServerTool, SettingChange, TOOLS_FILE,
    TrustChange, TrustChanges,
};

use crate::terminal::{counted, plain_line};

/// Skills that are listed one by one.
const MAX_SKILLS: usize = 100;
/// Files of a skill that are named.
const MAX_SKILL_FILES: usize = 20;
/// Programs of `tools.toml` that are listed one by one.
const MAX_COMMANDS: usize = 200;
/// Tools of one server that are listed one by one.
const MAX_TOOLS: usize = 200;

/// What the person sees before they trust a workspace for the first time.
pub(crate) fn first_time(disclosure: &Disclosure) -> String {
    let workspace = visible_line(&disclosure.workspace);
    format!("{workspace} is not trusted yet.\n{}", everything(disclosure))
}

/// Everything that trusting a workspace gives away.
pub(crate) fn everything(disclosure: &Disclosure) -> String {
    let mut out = String::new();
    files(disclosure, &mut out);
    skills("It has these skills:", &disclosure.skills, &mut out);
    settings(disclosure, &mut out);
    commands(disclosure, &mut out);
    servers(disclosure, &mut out);
    let _ = match &disclosure.model {
        DisclosedModel::Server { server, key: Some(key) } => writeln!(
            out,
            "Prompts and messages would go to {} with your key from {}",
            visible_line(server),
            visible_line(key)
        ),
        DisclosedModel::Server { server, key: None } => {
            writeln!(out, "Prompts and messages would go to {} without a key", visible_line(server))
        }
        DisclosedModel::Unavailable { reason } => {
            writeln!(out, "No model is set up yet: {}", visible_line(reason))
        }
    };
    visible(&out)
}

/// The full list: trust covers only what was shown.
fn files(disclosure: &Disclosure, out: &mut String) {
    if disclosure.files.is_empty() {
        out.push_str("It has no files that instruct the model.\n");
        return;
    }
    out.push_str("These files instruct the model:\n");
    for file in &disclosure.files {
        let size = match file.lines {
            Some(lines) => {
                let lines = counted(u64::try_from(lines).unwrap_or(u64::MAX), "line");
                format!("{lines}, {}", counted(file.bytes, "byte"))
            }
            None => counted(file.bytes, "byte"),
        };
        let _ = writeln!(out, "  {} ({}, {size})", visible_line(&file.path), file.group);
    }
}

fn skills(title: &str, skills: &[DisclosedSkill], out: &mut String) {
    if skills.is_empty() {
        return;
    }
    let _ = writeln!(out, "{title}");
    for skill in skills.iter().take(MAX_SKILLS) {
        let approval = skill.approval;
        let (name, path) = (visible_line(&skill.name), visible_line(&skill.path));
        if let Some(problem) = &skill.problem {
            let problem = visible_line(problem);
            let _ = writeln!(out, "  {name} ({path}, not covered by trust: {problem})");
            continue;
        }
        let verdict = skill.verdict.unwrap_or("not screened");
        let _ = writeln!(out, "  {name} ({path}, {approval}, screening: {verdict})");
        skill_files(skill, out);
    }
    let more = skills.len().saturating_sub(MAX_SKILLS);
    if more > 0 {
        let _ = writeln!(out, "  … and {more} more; `foreword skill list` shows all");
    }
}

/// The files that a skill brings along, which trust covers too.
fn skill_files(skill: &DisclosedSkill, out: &mut String) {
    if skill.files.is_empty() {
        return;
    }
    let named = skill.files.iter().take(MAX_SKILL_FILES).map(|file| {
        let mark = if file.is_binary { " (binary)" } else { "" };
        format!("{}{mark}", visible_line(&file.path))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = skill.files.len().saturating_sub(MAX_SKILL_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let _ = writeln!(out, "    with {named}{more}");
}

fn settings(disclosure: &Disclosure, out: &mut String) {
    if disclosure.settings.is_empty() {
        return;
    }
    let _ = writeln!(out, "{CONFIG_FILE} sets:");
    for setting in &disclosure.settings {
        let (key, value) = (visible_line(&setting.key), visible_line(&setting.value));
        let _ = write!(out, "  {key} = {value}{}", note(setting.concern));
        out.push_str(if setting.allowed_by_settings {
            " (allowed by your settings)\n"
        } else {
            "\n"
        });
    }
}

/// Whether there is only something new, and what was trusted is as it was.
pub(crate) fn is_only_new(changes: &TrustChanges) -> bool {
    changes.settings.iter().all(|change| change.old.is_none())
        && changes.files.iter().all(|change| change.old.is_none())
}

/// The programs that agents may start as tools.
fn commands(disclosure: &Disclosure, out: &mut String) {
    if disclosure.commands.is_empty() {
        return;
    }
    let _ = writeln!(out, "{TOOLS_FILE} lets agents run these programs in the sandbox:");
    for tool in disclosure.commands.iter().take(MAX_COMMANDS) {
        let _ = writeln!(out, "  {}: {}", visible_line(&tool.name), visible_line(&tool.command));
    }
    let more = disclosure.commands.len().saturating_sub(MAX_COMMANDS);
    if more > 0 {
        let _ = writeln!(out, "  … and {more} more; see {TOOLS_FILE}");
    }
}

fn servers(disclosure: &Disclosure, out: &mut String) {
    if disclosure.servers.is_empty() {
        return;
    }
    out.push_str("It uses these MCP servers, whose tools you review separately:\n");
    for server in &disclosure.servers {
        let _ =
            writeln!(out, "  {} ({}): {}", visible_line(&server.name), server.file, about(server));
    }
}

/// What a server is, where it runs and what it gets.
fn about(server: &DisclosedServer) -> String {
    let mut text = visible_line(&server.place);
    if !server.enabled {
        text.push_str("; disabled");
    } else if server.outside {
        text.push_str("; runs outside the sandbox, as your settings say");
    }
    if !server.variables.is_empty() {
        text.push_str(&format!("; gets your {}", visible_line(&server.variables.join(", "))));
    }
    for (name, value) in server.env.iter().chain(&server.headers) {
        let value = hide_key_of(name, value);
        text.push_str(&format!("; sets {} = {}", visible_line(name), visible_line(&value)));
    }
    text
}

/// What the person sees before agents may use the tools of a server.
pub(crate) fn server(review: &ServerReview, list: &ReviewedTools) -> String {
    let mut out = String::new();
    let name = visible_line(&review.name);
    let count = counted(list.tools.len() as u64, "tool");
    let _ = writeln!(out, "MCP server `{name}`: {}", about(&review.server));
    let shown: Vec<&ServerTool> = match &review.before {
        Some(before) => {
            let (added, changed, gone) = list.changes_since(before);
            let _ = writeln!(
                out,
                "It offers {count} now: {} new, {} changed, {} gone (list {}).",
                added.len(),
                changed.len(),
                gone.len(),
                short(&list.digest)
            );
            for name in gone {
                let _ = writeln!(out, "  - {}", visible_line(name));
            }
            let is_shown = |tool: &&ServerTool| {
                added.contains(&tool.name.as_str()) || changed.contains(&tool.name.as_str())
            };
            list.tools.iter().filter(is_shown).collect()
        }
        None => {
            let _ = writeln!(out, "It offers {count} (list {}):", short(&list.digest));
            list.tools.iter().collect()
        }
    };
    for tool in shown.iter().take(MAX_TOOLS) {
        let _ =
            writeln!(out, "  {}: {}", visible_line(&tool.name), plain_line(&tool.description, 160));
        if let Some(reason) = &tool.withheld {
            let _ = writeln!(
                out,
                "    looks like prompt injection, withheld from agents: {}",
                plain_line(reason, 160)
            );
        }
    }
    if shown.len() > MAX_TOOLS {
        let _ = writeln!(out, "  … and {} more", shown.len() - MAX_TOOLS);
    }
    for fault in review.left_out.iter().take(MAX_TOOLS) {
        let _ = writeln!(out, "  {}", plain_line(fault, 240));
    }
    visible(&out)
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

/// What changed since the person trusted the workspace.
pub(crate) fn changes(changes: &TrustChanges, changed_skills: &[DisclosedSkill]) -> String {
    let mut out = String::new();
    if !changes.settings.is_empty() {
        let _ = writeln!(out, "{CONFIG_FILE} changed since you trusted this workspace:");
    }
    for change in &changes.settings {
        setting_change(change, &mut out);
    }
    let (new, changed): (Vec<_>, Vec<_>) =
        changes.files.iter().partition(|change| change.old.is_none());
    for (title, files) in [
        ("Files changed since you trusted this workspace:\n", changed),
        ("You have not trusted these files yet:\n", new),
    ] {
        out.push_str(if files.is_empty() { "" } else { title });
        files.into_iter().for_each(|change| file_change(change, &mut out));
    }
    skills("These skills are new or changed:", changed_skills, &mut out);
    visible(&out)
}

/// A setting without keys that are written out in it.
fn without_keys(key: &str, value: &str) -> String {
    match key.strip_prefix("mcp.servers.").and_then(|it| it.rsplit_once('.')) {
        Some((_, name)) => hide_key_of(name, value),
        None => hide_keys(value),
    }
}

fn setting_change(change: &SettingChange, out: &mut String) {
    let value = |value: &Option<String>| match value {
        Some(value) => visible_line(&without_keys(&change.key, value)),
        None => "default".to_owned(),
    };
    let concern = change.new.as_deref().and_then(|new| Concern::of(&change.key, new));
    let (key, old, new) = (visible_line(&change.key), value(&change.old), value(&change.new));
    let _ = writeln!(out, "  {key}: {old} → {new}{}", note(concern.map(what_it_gives_away)));
}

fn file_change(change: &TrustChange, out: &mut String) {
    // A log of this question must not hold a key.
    let text = |file: &Option<GovernedFile>| {
        file.as_ref().and_then(|file| file.text.as_deref()).map(hide_keys)
    };
    let (old, new) = (text(&change.old), text(&change.new));
    if (change.old.is_some() && old.is_none()) || (change.new.is_some() && new.is_none()) {
        let what = if change.old.is_some() { "changed" } else { "is new" };
        let path = visible_line(&change.path);
        let _ = writeln!(out, "{path} {what}, and is binary or too large to show");
        return;
    }
    out.push_str(&unified(
        &change.path,
        old.as_deref().map(str::as_bytes),
        new.as_deref().map(str::as_bytes),
    ));
}

fn note(concern: Option<&str>) -> String {
    concern.map(|concern| format!("  ({concern})")).unwrap_or_default()
}
