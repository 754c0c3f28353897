//! `skill log`.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_skills::{LogEntry, LogOptions, SkillStore};
use serde_json::{Value, json};

use super::store;
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::format_time;

/// Show the history of skills, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill log
  foreword skill log deploy-checklist -n 5 --json")]
pub(crate) struct LogArgs {
    /// Show only this skill
    name: Option<String>,
    /// Maximum number of entries
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

pub(super) fn run(workspace: &Path, args: &LogArgs, terminal: &Terminal) -> Result<(), CliError> {
    let options = LogOptions { skill: args.name.clone(), limit: args.limit };
    let entries = store(workspace)?.log(&options)?;
    if terminal.json {
        let entries: Vec<Value> = entries.iter().map(log_json).collect();
        return terminal.print_json_list(&entries);
    }
    if entries.is_empty() {
        terminal.say("the history is empty");
    }
    let mut out = String::new();
    for entry in &entries {
        let commit: String = entry.commit.as_deref().unwrap_or("-").chars().take(12).collect();
        let _ = write!(
            out,
            "{}  {commit:12}  {:8} {:8} {}  by {}",
            format_time(entry.at),
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

fn log_json(entry: &LogEntry) -> Value {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("at".into(), json!(format_time(entry.at)));
    }
    value
}
