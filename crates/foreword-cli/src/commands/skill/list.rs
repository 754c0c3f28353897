//! `skill list`.

use std::fmt::Write as _;

use clap::Args;
use foreword_gather::skill_warnings;
use foreword_skills::{Approvals, GitStore, ListedSkill, Standing};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::terminal::{Terminal, paint, plain_line};
use crate::user_env::format_time;

const MAX_LINE_WIDTH: usize = 110;

/// List skills and their approval
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill list
  foreword skill list --json | jq -r '.[] | select(.status == \"local\") | .name'")]
pub(crate) struct ListArgs {}

pub(crate) fn list(store: &GitStore, terminal: &Terminal) -> Result<(), CliError> {
    let listing = store.listing()?;
    // The list is useful even if approvals cannot be checked.
    let approvals = store.approvals().unwrap_or_else(|error| {
        terminal.warn(&format!("cannot check approvals, listing all skills as local: {error}"));
        Approvals::default()
    });
    for warning in skill_warnings(&listing.problems) {
        terminal.warn(&plain_line(&warning.to_string(), 400));
    }
    if terminal.json {
        return terminal.print_json_list(&entries(store)?);
    }
    if listing.skills.is_empty() {
        terminal.say("no skills yet; add one with `foreword skill propose FILE`");
    }
    let width =
        listing.skills.iter().map(|s| s.meta.name.chars().count()).max().unwrap_or(0).min(40);
    let mut out = String::new();
    for skill in &listing.skills {
        let standing = approvals.of_listed(store.workspace(), skill);
        let name = plain_line(&skill.meta.name, 64);
        let description = skill.meta.description.as_deref().unwrap_or_default();
        let room = MAX_LINE_WIDTH.saturating_sub(width + 12);
        let _ = writeln!(
            out,
            "{name:width$}  {}  {}",
            word(&standing),
            plain_line(description, room).trim_end()
        );
    }
    terminal.print(&out)
}

/// The skills with their approvals, as JSON.
pub(crate) fn entries(store: &GitStore) -> Result<Vec<Value>, CliError> {
    let approvals = store.approvals().unwrap_or_default();
    Ok(store.listing()?.skills.iter().map(|skill| listed(skill, store, &approvals)).collect())
}

fn listed(skill: &ListedSkill, store: &GitStore, approvals: &Approvals) -> Value {
    let mut value = json!({ "name": skill.meta.name, "path": skill.meta.path });
    if let Some(fields) = value.as_object_mut() {
        if let Some(description) = &skill.meta.description {
            fields.insert("description".into(), json!(description));
        }
        let standing = approvals.of_listed(store.workspace(), skill);
        fields.insert("status".into(), json!(status(&standing)));
        match standing {
            Standing::Approved { commit, by, at, can_do } => {
                fields.insert("commit".into(), json!(commit));
                fields.insert("by".into(), json!(by));
                fields.insert("at".into(), json!(format_time(at)));
                if let Some(can_do) = can_do {
                    fields.insert("canDo".into(), json!(can_do));
                }
            }
            Standing::Modified { commit } => {
                fields.insert("commit".into(), json!(commit));
            }
            Standing::Local => {}
        }
    }
    value
}

/// A file that differs from its commit, or has none, is the user's own.
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
