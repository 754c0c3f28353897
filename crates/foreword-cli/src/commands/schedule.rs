//! `foreword schedule`: what agents planned for later, and taking it off.

use std::fmt::Write as _;
use std::path::Path;

use foreword_store::{Schedule, When};

use crate::args::ScheduleCommand;
use crate::commands::skill::store;
use crate::error::CliError;
use crate::hosting;
use crate::person::shown_time;
use crate::terminal::{Terminal, plain_line};

pub(crate) fn run(
    workspace: &Path,
    command: &ScheduleCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match command {
        ScheduleCommand::List => list(workspace, terminal),
        ScheduleCommand::Remove { id } => remove(workspace, id, terminal),
    }
}

fn list(workspace: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let reader = store(workspace)?.reader()?;
    let schedules = reader.map(|reader| reader.schedule_list()).transpose()?.unwrap_or_default();
    if terminal.json {
        return terminal.print_json(&schedules);
    }
    let mut out = String::new();
    for schedule in &schedules {
        let _ = writeln!(out, "{}", line(schedule));
    }
    if schedules.is_empty() {
        terminal.say("nothing is scheduled");
    }
    terminal.print(&out)
}

fn remove(workspace: &Path, id: &str, terminal: &Terminal) -> Result<(), CliError> {
    let removed = hosting::open(workspace)?.remove_schedule(id).map_err(|error| {
        CliError::from(error).hint("`foreword schedule list` lists what is scheduled")
    })?;
    if terminal.json {
        return terminal.print_json(&removed);
    }
    terminal.say(&format!("taken off: {}", line(&removed)));
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
        schedule.next_at.map_or_else(|| "done".to_owned(), shown_time),
        plain_line(when, 60),
        plain_line(&schedule.by, 60),
        plain_line(&schedule.prompt, 120),
        if schedule.tainted { "  (from a session with content from outside)" } else { "" },
    )
}
