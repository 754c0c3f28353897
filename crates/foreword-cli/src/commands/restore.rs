//! `foreword restore`: replaces the database of a workspace with a backup, as a recorded act.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::commands::skill::store;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::{act, format_time};
use crate::workspace_arg::WorkspaceArg;

/// Replace the database of a workspace with a backup
///
/// Checks the backup, keeps the replaced database next to the new one, and records the restore in the audit log. Stop
/// running agents first.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword restore ~/backups/foreword-monday.db
  foreword restore ~/backups/foreword-monday.db --yes")]
pub(crate) struct RestoreArgs {
    /// Backup file
    file: PathBuf,
    /// Restore without asking
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &RestoreArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let store = store(workspace)?;
    let file = args.file.display();
    if !args.file.exists() {
        return Err(CliError::usage(format!("{file}: file not found"))
            .hint("pass a file that `foreword backup` wrote"));
    }
    let question = format!("Replace {} with {file}?", store.database_path().display());
    if !terminal.confirm(&question, args.yes)? {
        terminal.say("nothing was changed");
        return Ok(());
    }
    let act = act();
    let suffix = format!("replaced-{}", format_time(act.at).replace(':', ""));
    let report = store.restore(&args.file, &suffix, &act)?;
    if terminal.json {
        return terminal.print_json(&json!({
            "lastEntry": report.last_seq, "recordedEntry": report.recorded, "lost": report.lost,
            "replaced": report.replaced,
        }));
    }
    if let Some(lost) = report.lost {
        let (entries, them) = match lost.from == lost.to {
            true => (format!("entry {} of the audit log is", lost.from), "it"),
            false => (format!("entries {} to {} of the audit log are", lost.from, lost.to), "them"),
        };
        terminal
            .warn(&format!("{entries} not in the backup; `foreword audit verify` lists {them}"));
    }
    let kept = report.replaced.map(|path| format!("; the old database is {}", path.display()));
    terminal.print(&format!(
        "restored {file}; recorded as entry {}{}\n",
        report.recorded,
        kept.unwrap_or_default()
    ))
}
