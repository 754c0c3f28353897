//! `memory forget`.

use std::path::Path;

use clap::Args;
use foreword_serve::memory::{self, ForgetFilter, Forgotten, MemoryForgetParams};
use foreword_store::KeyedMemory;

use super::label;
use crate::error::CliError;
use crate::terminal::{Terminal, counted, plain_line};

/// Memories to list before the question.
const MAX_LISTED: usize = 10;

/// Delete memories permanently
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory forget 4k7tq
  foreword memory forget --all-of session=s-81
  foreword memory forget --all-of user=ada --all-of kind=activity --yes")]
pub(crate) struct MemoryForgetArgs {
    /// IDs of memories, or their first characters
    #[arg(value_name = "ID", required_unless_present = "all_of", conflicts_with = "all_of")]
    ids: Vec<String>,
    /// Delete all that match: agent=ID, user=ID, session=ID, kind=WORD, tainted, everything; repeat to narrow
    #[arg(long, value_name = "WHAT")]
    all_of: Vec<String>,
    /// Delete without asking
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryForgetArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let asked = MemoryForgetParams {
        workspace: None,
        ids: args.ids.clone(),
        all_of: filter(&args.all_of)?,
    };
    let found: Vec<KeyedMemory> = memory::matching(workspace, &asked)?;
    if !args.yes && !found.is_empty() {
        for KeyedMemory { entry, .. } in found.iter().take(MAX_LISTED) {
            let text = plain_line(&entry.text, 160);
            let label = plain_line(&label(&entry.into()), 200);
            terminal.say(&format!("{}  [{label}] {text}", entry.id));
        }
        if found.len() > MAX_LISTED {
            terminal.say(&format!("and {} more", found.len() - MAX_LISTED));
        }
        let question = format!("Delete {} permanently?", counted(found.len() as u64, "memory"));
        if !terminal.confirm(&question, args.yes)? {
            terminal.say("nothing was deleted");
            return Ok(());
        }
    }
    let forgotten = memory::forget(workspace, &found)?;
    if terminal.json {
        return terminal.print_json_line(&Forgotten { forgotten });
    }
    terminal.print(&format!("deleted {}\n", counted(forgotten as u64, "memory")))
}

/// The filter of `--all-of`: a memory has to match every condition.
fn filter(all_of: &[String]) -> Result<Option<ForgetFilter>, CliError> {
    if all_of.is_empty() {
        return Ok(None);
    }
    let mut filter = ForgetFilter::default();
    for what in all_of {
        match what.split_once('=') {
            Some(("agent", id)) => filter.agent = Some(id.to_owned()),
            Some(("user", id)) => filter.user = Some(id.to_owned()),
            Some(("session", id)) => filter.session = Some(id.to_owned()),
            Some(("kind", kind)) => filter.kind = Some(kind.to_owned()),
            None if what == "tainted" => filter.tainted = true,
            None if what == "everything" => filter.everything = true,
            _ => {
                return Err(CliError::usage(format!("invalid value for `--all-of`: `{what}`"))
                    .hint("use agent=ID, user=ID, session=ID, kind=WORD, tainted or everything"));
            }
        }
    }
    Ok(Some(filter))
}
