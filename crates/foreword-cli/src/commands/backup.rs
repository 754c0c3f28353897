//! `foreword backup`: the database of a workspace as one file.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::commands::skill::store;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Back up the database of a workspace
///
/// Writes memories, sessions, proposals and the audit log to one complete file. Agents can keep running.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword backup ~/backups/foreword-monday.db
  foreword backup ~/backups/foreword.db --force")]
pub(crate) struct BackupArgs {
    /// File to write
    file: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &BackupArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let Some(reader) = store(workspace)?.reader()? else {
        return Err(CliError::usage("the workspace has no database to back up")
            .hint("check the workspace with `-w DIR`"));
    };
    let report = reader.backup(&args.file, args.force)?;
    if terminal.json {
        return terminal.print_json(&json!({
            "file": args.file, "bytes": report.bytes, "lastEntry": report.head.seq,
        }));
    }
    terminal.print(&format!(
        "backed up to {}: {} bytes, audit log up to entry {}\n",
        args.file.display(),
        report.bytes,
        report.head.seq
    ))
}
