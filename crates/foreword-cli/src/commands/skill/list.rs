//! `skill list`, `skill read`, `skill log`.

use std::fmt::Write as _;

use foreword::visible;
use foreword_skills::{
    Approvals, GitStore, ListedSkill, LogEntry, LogOptions, SkillStore, Standing,
};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::person::shown_time;
use crate::terminal::{Terminal, is_watched, paint, plain_line};

/// How wide a line of the list may be.
const WIDEST: usize = 110;

pub(crate) fn list(store: &GitStore, terminal: &Terminal) -> Result<(), CliError> {
    let listing = store.listing()?;
    // A list is worth having also where no approval can be checked.
    let approvals = store.approvals().unwrap_or_else(|error| {
        terminal.warn(&format!("no skill counts as approved: {error}"));
        Approvals::default()
    });
    for problem in &listing.problems {
        terminal.warn(&plain_line(&problem.to_string(), 400));
    }
    if terminal.json {
        let skills: Vec<Value> =
            listing.skills.iter().map(|skill| listed(skill, &approvals)).collect();
        return terminal.print_json(&skills);
    }
    if listing.skills.is_empty() {
        terminal.say("no skills yet; `foreword skill propose FILE` adds one");
    }
    let width =
        listing.skills.iter().map(|s| s.meta.name.chars().count()).max().unwrap_or(0).min(40);
    let mut out = String::new();
    for skill in &listing.skills {
        let standing = approvals.standing(&skill.meta.path, &skill.digest);
        let name = plain_line(&skill.meta.name, 64);
        let description = skill.meta.description.as_deref().unwrap_or_default();
        let room = WIDEST.saturating_sub(width + 12);
        let _ = writeln!(
            out,
            "{name:width$}  {}  {}",
            word(&standing),
            plain_line(description, room).trim_end()
        );
    }
    terminal.print(&out)
}

pub(crate) fn read(store: &GitStore, name: &str, terminal: &Terminal) -> Result<(), CliError> {
    let skill = store.read(name)?;
    if terminal.json {
        return terminal.print_json(&skill);
    }
    // A pipe gets the bytes; a person gets what cannot do anything to the terminal.
    terminal.print(&if is_watched() { visible(&skill.content) } else { skill.content })
}

pub(crate) fn log(
    store: &GitStore,
    skill: Option<&str>,
    limit: Option<usize>,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let options = LogOptions { skill: skill.map(str::to_owned), limit };
    let entries = store.log(&options)?;
    if terminal.json {
        let entries: Vec<Value> = entries.iter().map(log_json).collect();
        return terminal.print_json(&entries);
    }
    if entries.is_empty() {
        terminal.say("nothing happened yet");
    }
    let mut out = String::new();
    for entry in &entries {
        let commit: String = entry.commit.as_deref().unwrap_or("-").chars().take(12).collect();
        let _ = write!(
            out,
            "{}  {commit:12}  {:8} {:8} {}  by {}",
            shown_time(entry.at),
            entry.action,
            entry.outcome,
            plain_line(&entry.skill, 64),
            plain_line(&entry.by, 64),
        );
        if let Some(reason) = &entry.reason {
            let _ = write!(out, "  ({})", plain_line(reason, 100));
        }
        out.push('\n');
    }
    terminal.print(&out)
}

fn listed(skill: &ListedSkill, approvals: &Approvals) -> Value {
    let mut value = json!({ "name": skill.meta.name, "path": skill.meta.path });
    if let Some(fields) = value.as_object_mut() {
        if let Some(description) = &skill.meta.description {
            fields.insert("description".into(), json!(description));
        }
        let standing = approvals.standing(&skill.meta.path, &skill.digest);
        fields.insert("status".into(), json!(status(&standing)));
        match standing {
            Standing::Approved { commit, by, at } => {
                fields.insert("commit".into(), json!(commit));
                fields.insert("by".into(), json!(by));
                fields.insert("at".into(), json!(shown_time(at)));
            }
            Standing::Modified { commit } => {
                fields.insert("commit".into(), json!(commit));
            }
            Standing::Local => {}
        }
    }
    value
}

/// A file that is not what a commit holds is a person's own, edited or new.
fn status(standing: &Standing) -> &'static str {
    match standing {
        Standing::Approved { .. } => "approved",
        Standing::Modified { .. } | Standing::Local => "local",
    }
}

fn word(standing: &Standing) -> String {
    match standing {
        Standing::Approved { .. } => paint("approved", "32"),
        Standing::Modified { .. } => paint("local*  ", "33"),
        Standing::Local => paint("local   ", "33"),
    }
}

fn log_json(entry: &LogEntry) -> Value {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("at".into(), json!(shown_time(entry.at)));
    }
    value
}
