//! `foreword sync`: repeats a migration, shows what changed on either side, and takes over what changed
//! in the old setup. It never changes the old setup, and never what a person changed in the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword::{visible, visible_line};
use foreword_gather::hide_keys;
use foreword_skills::unified;
use foreword_workspace::{MigrationLoss, MigrationRecord};
use serde::Serialize;

use crate::error::CliError;
use crate::migrate::{self, Migration, NewFile, record};
use crate::terminal::{Terminal, counted, paint_err};
use crate::workspace_arg::WorkspaceArg;

/// Repeat a migration and show what changed on either side
///
/// Compares another tool's setup with the workspace that `foreword init --from` created from it. Changes in the old setup
/// are written to the workspace after you confirm them. Your own changes in the workspace are kept. A file that changed on
/// both sides is a conflict: your version stays until you resolve it with `--take` or `--keep`. The old setup is never
/// changed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword sync --from ../shop
  foreword sync --from ../shop --yes
  foreword sync --from ../shop --take AGENTS.md
  foreword sync --from ../shop --keep AGENTS.md
  foreword sync --from . --check        Fail if the workspace is behind the old setup")]
pub(crate) struct SyncArgs {
    /// Directory with the setup of the other tool
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Write nothing, and fail if the workspace is behind the old setup
    #[arg(long, conflicts_with = "yes")]
    check: bool,
    /// Overwrite this file with the old setup's version, discarding your changes
    #[arg(long, value_name = "PATH")]
    take: Vec<String>,
    /// Resolve a conflict in favour of your version of this file
    #[arg(long, value_name = "PATH")]
    keep: Vec<String>,
    /// Write the changes without asking
    #[arg(short, long)]
    yes: bool,
}

/// What happened to a file since the last migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// The old setup has a new file.
    New,
    /// The old setup changed it.
    Updated,
    /// The old setup no longer has it.
    Removed,
    /// The workspace changed it, and keeps its version.
    Yours,
    /// Both sides changed it; the workspace keeps its version.
    Conflict,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::Yours => "yours",
            Self::Conflict => "conflict",
        }
    }

    /// Whether the workspace would change.
    fn is_applied(self) -> bool {
        matches!(self, Self::New | Self::Updated | Self::Removed)
    }
}

#[derive(Debug, Serialize)]
struct Change {
    path: String,
    state: State,
    about: &'static str,
    #[serde(skip)]
    here: Option<Vec<u8>>,
    #[serde(skip)]
    there: Option<NewFile>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    from: String,
    workspace: String,
    layouts: &'a [&'static str],
    changes: &'a [Change],
    /// Losses that the workspace did not have before.
    new_losses: Vec<LossReport<'a>>,
    applied: bool,
}

#[derive(Serialize)]
struct LossReport<'a> {
    source: &'a str,
    reason: &'a str,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &SyncArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let earlier = record::earlier(workspace)?.ok_or_else(|| {
        CliError::usage(format!("{} was not created by a migration", workspace.display()))
            .hint("run `foreword init --from DIR` first")
    })?;
    let mut migration = migrate::read(&args.from, workspace)?;
    let files = std::mem::take(&mut migration.files);
    let mut changes = compare(workspace, &files, &earlier);
    take(&mut changes, &args.take)?;
    keep(&mut changes, &args.keep)?;
    let pending = changes.iter().filter(|change| change.state.is_applied()).count();
    let new_losses: Vec<MigrationLoss> = migration
        .losses()
        .into_iter()
        .filter(|loss| !earlier.lost.iter().any(|known| known.source == loss.source))
        .collect();
    show(&args.from, &changes, &new_losses, terminal)?;
    let conflicts = changes.iter().filter(|change| change.state == State::Conflict).count();
    let behind = pending + conflicts + new_losses.len();
    let question = format!("Write {} to the workspace?", counted(pending as u64, "change"));
    let applied = !args.check
        && (pending > 0 || !new_losses.is_empty() || !args.keep.is_empty())
        && (pending == 0 || terminal.confirm(&question, args.yes)?);
    if applied {
        apply(workspace, &changes)?;
        migration.files = files;
        let in_place = migrate::is_in_place(&args.from, workspace);
        finish(workspace, &mut migration, &earlier, &changes, &args.keep, in_place)?;
        let written = changes.iter().filter(|change| change.state.is_applied());
        let written = written.filter(|change| change.there.is_some()).map(|change| &change.path);
        migrate::note_import(workspace, written, terminal);
    }
    if terminal.json {
        terminal.print_json(&Report {
            from: args.from.display().to_string(),
            workspace: workspace.display().to_string(),
            layouts: &migration.layouts,
            changes: &changes,
            new_losses: new_losses
                .iter()
                .map(|loss| LossReport { source: &loss.source, reason: &loss.reason })
                .collect(),
            applied,
        })?;
    }
    if behind == 0 {
        terminal.say("the workspace has everything that the old setup has");
    } else if args.check {
        let from = args.from.display();
        let mut error = CliError::failed(format!(
            "the workspace is behind {from}: {}",
            counted(behind as u64, "difference")
        ));
        if behind > conflicts {
            error = error.hint(format!("run `foreword sync --from {from}` to apply the changes"));
        }
        // Repeating the migration leaves a conflict as it is.
        for change in changes.iter().filter(|change| change.state == State::Conflict).take(3) {
            let path = visible_line(&change.path);
            error = error.hint(format!(
                "{path} changed on both sides: run `foreword sync --from {from}` with `--keep {path}` (yours) or `--take {path}` (the old setup's)"
            ));
        }
        return Err(error);
    } else if applied {
        let next = if pending > 0 { "; run `foreword lint` and `foreword trust`" } else { "" };
        terminal.say(&format!("wrote {}{next}", counted(pending as u64, "change")));
    }
    Ok(())
}

/// Compares the files of a new migration with the workspace and with the last migration.
fn compare(root: &Path, files: &[NewFile], earlier: &MigrationRecord) -> Vec<Change> {
    let mut changes = Vec::new();
    for file in files {
        let here = migrate::current(root, &file.path);
        let before = earlier.files.get(&file.path);
        let there = MigrationRecord::digest(&file.bytes);
        let now = here.as_deref().map(MigrationRecord::digest);
        let is_same_there = before == Some(&there);
        let (state, about) = match (&now, before) {
            (Some(now), _) if *now == there && is_executable(root, &file.path, file) => continue,
            (Some(now), _) if *now == there => (State::Updated, "executable in the old setup"),
            (None, None) => (State::New, "new in the old setup"),
            (None, Some(_)) if is_same_there => (State::Yours, "deleted in the workspace"),
            (None, Some(_)) => {
                (State::Conflict, "deleted in the workspace, changed in the old setup")
            }
            (Some(_), None) => (State::Conflict, "the workspace has a file of its own"),
            (Some(_), Some(_)) if is_same_there => (State::Yours, "changed in the workspace"),
            (Some(now), Some(before)) if now == before => {
                (State::Updated, "changed in the old setup")
            }
            (Some(_), Some(_)) => (State::Conflict, "changed on both sides"),
        };
        changes.push(Change {
            path: file.path.clone(),
            state,
            about,
            here,
            there: Some(file.clone()),
        });
    }
    let paths: BTreeSet<&String> = files.iter().map(|file| &file.path).collect();
    for (path, before) in earlier.files.iter().filter(|(path, _)| !paths.contains(path)) {
        let here = migrate::current(root, path);
        let (state, about) = match here.as_deref().map(MigrationRecord::digest) {
            None => continue,
            Some(now) if now == *before => (State::Removed, "removed from the old setup"),
            Some(_) => (State::Conflict, "removed from the old setup, changed in the workspace"),
        };
        changes.push(Change { path: path.clone(), state, about, here, there: None });
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

/// Whether a file of the workspace can be run if the old one can. A bit that the person added stays.
fn is_executable(root: &Path, path: &str, file: &NewFile) -> bool {
    !file.executable || migrate::is_executable(root, path)
}

/// Lets the old setup win for the files that the person named.
fn take(changes: &mut [Change], paths: &[String]) -> Result<(), CliError> {
    for path in paths {
        let change = changes.iter_mut().find(|change| change.path == *path).ok_or_else(|| {
            CliError::usage(format!("{path} does not differ from the old setup"))
                .hint("run `foreword sync --from DIR --check` to list the files that differ")
        })?;
        change.state = match (&change.here, &change.there) {
            (_, None) => State::Removed,
            (None, Some(_)) => State::New,
            (Some(_), Some(_)) => State::Updated,
        };
    }
    Ok(())
}

/// Lets the workspace win for the files that the person named, for good.
fn keep(changes: &mut [Change], paths: &[String]) -> Result<(), CliError> {
    for path in paths {
        let change = changes
            .iter_mut()
            .find(|change| change.path == *path && change.state == State::Conflict)
            .ok_or_else(|| CliError::usage(format!("{path} has no conflict to resolve")))?;
        change.state = State::Yours;
        change.about = "your version is kept";
    }
    Ok(())
}

fn show(
    from: &Path,
    changes: &[Change],
    losses: &[MigrationLoss],
    terminal: &Terminal,
) -> Result<(), CliError> {
    let width = changes.iter().map(|change| change.path.chars().count()).max().unwrap_or(0).min(48);
    for change in changes {
        let colour = match change.state {
            State::Conflict => "31",
            State::Yours => "33",
            _ => "32",
        };
        let word = paint_err(&format!("{:<8}", change.state.as_str()), colour);
        terminal.say(&format!("{word} {:<width$}  {}", visible_line(&change.path), change.about));
    }
    if changes.iter().any(|change| change.state == State::Conflict) {
        terminal
            .say("conflicts keep your version; resolve one with `--take PATH` (the old setup's) or `--keep PATH` (yours)");
    }
    for loss in losses {
        let word = paint_err(&format!("{:<8}", "lost"), "31");
        terminal.say(&format!(
            "{word} {}  {}",
            visible_line(&loss.source),
            visible_line(&loss.reason)
        ));
    }
    if terminal.json {
        return Ok(());
    }
    // From what the workspace has to what the old setup gives.
    let mut out = String::new();
    for change in changes.iter().filter(|change| change.state != State::New) {
        let here = change.here.as_deref().map(shown);
        let there = change.there.as_ref().map(|file| shown(&file.bytes));
        out.push_str(&unified(&change.path, here.as_deref(), there.as_deref()));
    }
    if out.is_empty() {
        return Ok(());
    }
    terminal.say(&format!("\nfrom the workspace to {}:", from.display()));
    terminal.print(&visible(&out))
}

/// The bytes of a file without the keys in it, which a log of the diff must not hold.
fn shown(bytes: &[u8]) -> Vec<u8> {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.to_vec(), |text| hide_keys(text).into_bytes())
}

fn apply(root: &Path, changes: &[Change]) -> Result<(), CliError> {
    for change in changes.iter().filter(|change| change.state.is_applied()) {
        // What changed since it was shown is not overwritten.
        if migrate::current(root, &change.path) != change.here {
            return Err(CliError::failed(format!("{} has changed in the meantime", change.path))
                .hint("run the command again"));
        }
        match &change.there {
            Some(file) => migrate::replace(root, file)?,
            None => migrate::remove(root, &change.path)?,
        }
    }
    Ok(())
}

/// Completes the table, and records what the workspace has from the old setup now.
fn finish(
    root: &Path,
    migration: &mut Migration,
    earlier: &MigrationRecord,
    changes: &[Change],
    kept: &[String],
    in_place: bool,
) -> Result<(), CliError> {
    // In place, a file that was there before belongs to the old setup, unless the person chose theirs.
    let new = changes.iter().filter(|change| change.state == State::New);
    let new: BTreeSet<&String> = new.map(|change| &change.path).chain(kept).collect();
    let is_ours =
        |path: &String| !in_place || earlier.files.contains_key(path) || new.contains(path);
    let mut files: BTreeMap<String, String> = migration
        .files
        .iter()
        .filter(|file| is_ours(&file.path))
        .map(|file| (file.path.clone(), MigrationRecord::digest(&file.bytes)))
        .collect();
    // What was kept is still compared with the version that the workspace started from.
    for change in changes.iter().filter(|change| change.state == State::Conflict) {
        match earlier.files.get(&change.path) {
            Some(before) => files.insert(change.path.clone(), before.clone()),
            None => files.remove(&change.path),
        };
    }
    migration.check_prompt(root);
    record::write(root, migration, in_place, files, Some(earlier))?;
    Ok(())
}
