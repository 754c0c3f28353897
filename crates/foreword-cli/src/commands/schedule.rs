//! `foreword schedule`: what agents scheduled.

use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;
use foreword_store::{Schedule, When};

use crate::commands::database::reader;
use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::format_time;
use crate::workspace_arg::WorkspaceArg;

/// Manage what agents scheduled
#[derive(Subcommand, Debug)]
pub(crate) enum ScheduleCommand {
    /// List schedules with their next run, author and prompt
    #[command(after_help = "\
Examples:
  foreword schedule list
  foreword schedule list --json | jq -r '.[].id'")]
    List,
    /// Delete a schedule
    #[command(after_help = "\
Examples:
  foreword schedule remove 4k7tq")]
    Remove {
        /// ID of the schedule, or its first characters
        id: String,
    },
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &ScheduleCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    match command {
        ScheduleCommand::List => list(workspace, terminal),
        ScheduleCommand::Remove { id } => remove(workspace, id, terminal),
    }
}

fn list(workspace: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let reader = reader(workspace, terminal)?;
    let schedules = reader.map(|reader| reader.schedule_list()).transpose()?.unwrap_or_default();
    if terminal.json {
        return terminal.print_json_list(&schedules);
    }
    let mut out = String::new();
    for schedule in &schedules {
        let _ = writeln!(out, "{}", line(schedule));
    }
    if schedules.is_empty() {
        terminal.say("no schedules");
    }
    terminal.print(&out)
}

fn remove(workspace: &Path, id: &str, terminal: &Terminal) -> Result<(), CliError> {
    let removed = hosting::open(workspace)?.remove_schedule(id).map_err(|error| {
        CliError::from(error).hint("run `foreword schedule list` to list schedules")
    })?;
    if terminal.json {
        return terminal.print_json(&removed);
    }
    terminal.say(&format!("removed: {}", line(&removed)));
    Ok(())
}

fn line(schedule: &Schedule) -> String {
    let when = match &schedule.when {
        When::Cron(cron) => cron.as_str(),
        When::At(_) => "once",
    };
    format!(
        "{}  {}  {}  {}: {}{}",
        schedule.id,
        schedule.next_at.map_or_else(|| "done".to_owned(), format_time),
        plain_line(when, 60),
        plain_line(&schedule.by, 60),
        plain_line(&schedule.prompt, 120),
        if schedule.tainted { "  (from a tainted session)" } else { "" },
    )
}
