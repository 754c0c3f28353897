//! `memory list`.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_search::MemoryKind;
use foreword_store::{KeyedMemory, MemoryFilter, StoreError};
use serde_json::Value;

use super::{ScopeArgs, day, described, label, scope};
use crate::commands::database::reader;
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};

/// List memories, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory list --kind preference
  foreword memory list --tainted --json | jq -r '.[].id'
  foreword memory list --after 4k7tq        Show the next page")]
pub(crate) struct MemoryListArgs {
    /// List only this kind
    #[arg(short, long, value_name = "WORD")]
    kind: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// List only tainted memories
    #[arg(long)]
    tainted: bool,
    /// Maximum number of memories
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Start after this memory
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryListArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let kind = args.kind.as_deref().map(MemoryKind::parse).transpose()?;
    let page = reader(workspace, terminal)?
        .map(|reader| {
            reader.read_memories(|rows| -> Result<_, StoreError> {
                let after = args.after.as_deref().map(|id| rows.find(id)).transpose()?;
                rows.list(&MemoryFilter {
                    kind,
                    scope: scope(&args.scope),
                    tainted: args.tainted.then_some(true),
                    limit: Some(args.limit.saturating_add(1)),
                    before: after.map(|memory| (memory.entry.created_at, memory.key)),
                })
            })
        })
        .transpose()?
        .flatten()
        .unwrap_or_default();
    let entries = page.get(..args.limit).unwrap_or(&page);
    if terminal.json {
        let described: Result<Vec<Value>, CliError> =
            entries.iter().map(|memory| described(&memory.entry)).collect();
        return terminal.print_json_list(&described?);
    }
    if entries.is_empty() {
        terminal.say("no memories");
    }
    let mut out = String::new();
    for KeyedMemory { entry, .. } in entries {
        let text = plain_line(&entry.text, 160);
        let _ = writeln!(out, "{}  {}  [{}] {text}", entry.id, day(entry), label(entry));
    }
    terminal.print(&out)?;
    if let (Some(last), true) = (entries.last(), page.len() > entries.len()) {
        terminal.say(&format!("more memories follow; pass `--after {}`", last.entry.id));
    }
    Ok(())
}
