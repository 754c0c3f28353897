//! `memory add`.

use std::path::Path;

use foreword_search::{Memories, MemoryKind, NewEntry};
use foreword_store::AddOutcome;
use serde_json::json;

use super::{as_dyn, database, embedder_if_any, scope};
use crate::args::MemoryAddArgs;
use crate::error::CliError;
use crate::inputs::read_input;
use crate::person::act_of;
use crate::terminal::Terminal;

pub(crate) fn add(
    workspace: &Path,
    args: &MemoryAddArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let text = match args.text.as_str() {
        "-" => read_input(Path::new("-"))?.trim_end().to_owned(),
        text => text.to_owned(),
    };
    let entry = NewEntry {
        text,
        kind: MemoryKind::parse(&args.kind)?,
        scope: scope(&args.scope),
        date: args.date.clone(),
        tainted: args.tainted,
        source: args.source.clone(),
        importance: args.importance,
        ..NewEntry::default()
    };
    entry.check()?;
    let embedder = embedder_if_any(workspace, terminal);
    let store = database(workspace)?;
    let act = act_of(None);
    let batch = Memories::new(&store, as_dyn(embedder.as_ref())).add(&act.by, act.at, entry)?;
    if let Some(error) = &batch.unembedded {
        terminal.warn(&format!("stored without a vector, and found by words only: {error}"));
    }
    let (id, state) = match batch.added.first() {
        Some(AddOutcome::Added(id)) => (id, "new"),
        Some(AddOutcome::Duplicate(id) | AddOutcome::IdTaken(id)) => (id, "same"),
        None => return Err(CliError::internal("nothing was stored")),
    };
    if terminal.json {
        return terminal.print_json_line(&json!({ "id": id, "state": state }));
    }
    terminal.print(&match state {
        "new" => format!("remembered as {id}\n"),
        _ => format!("already remembered as {id}\n"),
    })
}
