//! `memory forget`.

use std::path::Path;

use foreword_search::{Memories, MemoryKind};
use foreword_store::{KeyedMemory, MemoryFilter, StoreError};
use serde_json::json;

use super::{database, label, reader};
use crate::args::MemoryForgetArgs;
use crate::error::CliError;
use crate::person::act_of;
use crate::terminal::{Terminal, plain_line};

/// So many are shown before a person is asked.
const SHOWN: usize = 10;

pub(crate) fn run(
    workspace: &Path,
    args: &MemoryForgetArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let all_of = filter(&args.all_of)?;
    let found = reader(workspace)?
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
        for KeyedMemory { entry, .. } in found.iter().take(SHOWN) {
            let text = plain_line(&entry.text, 160);
            terminal.say(&format!("{}  [{}] {text}", entry.id, plain_line(&label(entry), 200)));
        }
        if found.len() > SHOWN {
            terminal.say(&format!("and {} more", found.len() - SHOWN));
        }
        if !terminal.confirm(&format!("Forget {} for good?", counted(found.len())))? {
            terminal.say("left as it was");
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
    terminal.print(&format!("forgot {}\n", counted(forgotten)))
}

fn counted(count: usize) -> String {
    if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
}

/// What `--all-of` names; all of it has to fit.
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
                return Err(CliError::usage(format!("--all-of does not know `{what}`"))
                    .hint("use agent=ID, user=ID, session=ID, kind=WORD, tainted or everything"));
            }
        }
    }
    Ok(Some(filter))
}
