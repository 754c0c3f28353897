//! `skill list`.

use std::fmt::Write as _;

use clap::Args;
use foreword_gather::skill_warnings;
use foreword_serve::skills;
use foreword_skills::{Approvals, GitStore, Standing};
use foreword_workspace::Invocation;

use crate::error::CliError;
use crate::terminal::{Terminal, paint, plain_line};

const MAX_LINE_WIDTH: usize = 110;

/// List skills and their approval status
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill list
  foreword skill list --json | jq -r '.[] | select(.status == \"local\") | .name'")]
pub(crate) struct ListArgs {}

/// Lists skills, or on a terminal those that `is_shown` picks.
pub(crate) fn list(
    store: &GitStore,
    is_shown: impl Fn(Invocation) -> bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut listing = store.listing()?;
    // The list is useful even if approvals cannot be checked.
    let approvals = store.approvals().unwrap_or_else(|error| {
        terminal.warn(&format!("cannot check approvals, listing all skills as local: {error}"));
        Approvals::default()
    });
    for warning in skill_warnings(&listing.problems) {
        terminal.warn(&plain_line(&warning.to_string(), 400));
    }
    if terminal.json {
        return terminal.print_json_list(&skills::entries(store)?);
    }
    listing.skills.retain(|skill| is_shown(skill.invocation));
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
        let description = match skill.invocation.model {
            true => description.to_owned(),
            false => format!("(only on request: /{name}) {description}"),
        };
        let room = MAX_LINE_WIDTH.saturating_sub(width + 12);
        let _ = writeln!(
            out,
            "{name:width$}  {}  {}",
            word(&standing),
            plain_line(&description, room).trim_end()
        );
    }
    terminal.print(&out)
}

fn word(standing: &Standing) -> String {
    match standing {
        Standing::Approved { .. } => paint("approved", "32"),
        Standing::Modified { .. } => paint("local*  ", "33"),
        Standing::Local => paint("local   ", "33"),
    }
}
