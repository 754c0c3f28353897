//! `memory forget`.

use std::path::Path;

use clap::Args;
use foreword_search::{Memories, MemoryKind};
use foreword_store::{KeyedMemory, MemoryFilter, StoreError};
use serde_json::json;

use super::{database, label};
use crate::commands::database::reader;
use crate::error::CliError;
use crate::terminal::{Terminal, counted, plain_line};
use crate::user_env::act_of;

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
    let all_of = filter(&args.all_of)?;
    let found = reader(workspace, terminal)?
        .map(|reader| {
            reader.read_memories(|rows| -> Result<_, StoreError> {
                match &all_of {
                    Some(filter) => rows.list(filter),
                    None => args.ids.iter().map(|id| rows.find(id)).collect(),
                }
            })
        })
        .transpose()?
        .flatten();
    let found: Vec<KeyedMemory> = match (found, args.ids.first()) {
        (Some(found), _) => found,
        (None, Some(id)) => return Err(StoreError::NoSuchMemory { id: id.clone() }.into()),
        (None, None) => Vec::new(),
    };
    if !args.yes && !found.is_empty() {
        for KeyedMemory { entry, .. } in found.iter().take(MAX_LISTED) {
            let text = plain_line(&entry.text, 160);
            terminal.say(&format!("{}  [{}] {text}", entry.id, plain_line(&label(entry), 200)));
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
    let forgotten = if found.is_empty() {
        0
    } else {
        let act = act_of(None);
        Memories::new(&database(workspace)?, None).forget(&act.by, act.at, &found)?
    };
    if terminal.json {
        return terminal.print_json_line(&json!({ "forgotten": forgotten }));
    }
    terminal.print(&format!("deleted {}\n", counted(forgotten as u64, "memory")))
}

/// The filter of `--all-of`: a memory has to match every condition.
fn filter(all_of: &[String]) -> Result<Option<MemoryFilter>, CliError> {
    if all_of.is_empty() {
        return Ok(None);
    }
    let mut filter = MemoryFilter::default();
    for what in all_of {
        match what.split_once('=') {
            Some(("agent", id)) => filter.scope.agent = Some(id.to_owned()),
            Some(("user", id)) => filter.scope.user = Some(id.to_owned()),
            Some(("session", id)) => filter.scope.session = Some(id.to_owned()),
            Some(("kind", kind)) => filter.kind = Some(MemoryKind::parse(kind)?),
            None if what == "tainted" => filter.tainted = Some(true),
            None if what == "everything" => {}
            _ => {
                return Err(CliError::usage(format!("invalid value for `--all-of`: `{what}`"))
                    .hint("use agent=ID, user=ID, session=ID, kind=WORD, tainted or everything"));
            }
        }
    }
    Ok(Some(filter))
}
