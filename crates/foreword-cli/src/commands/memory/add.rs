//! `memory add`.

use std::path::Path;

use clap::Args;
use foreword_search::{Memories, MemoryKind, NewEntry};
use foreword_store::AddOutcome;
use serde_json::{Value, json};

use super::{ScopeArgs, as_dyn, database, embedder_if_any, scope};
use crate::error::CliError;
use crate::inputs::read_input;
use crate::terminal::Terminal;
use crate::user_env::act_of;

/// Store a memory
///
/// Memories of the kinds system, meta and override are stored and listed, but never given to an agent.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  foreword memory add \"Ada prefers tabs over spaces\" --kind preference
  foreword memory add \"Deployed 2.1 to staging\" --kind activity --date 2026-02-26
  foreword memory add - --tainted --source https://example.com/post < note.txt")]
pub(crate) struct MemoryAddArgs {
    /// Text to remember, or - for standard input
    #[arg(value_name = "TEXT|-")]
    pub(crate) text: String,
    /// Kind: note, fact, preference, activity or another lower-case word
    #[arg(short, long, default_value = "note", value_name = "WORD")]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Mark the memory as external and untrusted
    #[arg(long)]
    pub(crate) tainted: bool,
    /// Source of the memory
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// Day that the memory is about
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
    /// Importance, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    pub(crate) importance: Option<f64>,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryAddArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut args = args.clone();
    if args.text == "-" {
        read_input(Path::new("-"))?.trim_end().clone_into(&mut args.text);
    }
    let done = add(workspace, &args, terminal)?;
    if terminal.json {
        return terminal.print_json_line(&done);
    }
    let field = |name: &str| done.get(name).and_then(Value::as_str);
    let id = field("id").unwrap_or_default();
    terminal.print(&match field("state") {
        Some("new") => format!("remembered as {id}\n"),
        _ => format!("already remembered as {id}\n"),
    })
}

/// Stores a memory; gives its ID, and whether it is new.
pub(crate) fn add(
    workspace: &Path,
    args: &MemoryAddArgs,
    terminal: &Terminal,
) -> Result<Value, CliError> {
    let entry = NewEntry {
        text: args.text.clone(),
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
        terminal
            .warn(&format!("stored without an embedding; only keyword search finds it: {error}"));
    }
    let (id, state) = match batch.added.first() {
        Some(AddOutcome::Added(id)) => (id, "new"),
        Some(AddOutcome::Duplicate(id) | AddOutcome::IdTaken(id)) => (id, "same"),
        None => return Err(CliError::internal("nothing was stored")),
    };
    Ok(json!({ "id": id, "state": state }))
}
