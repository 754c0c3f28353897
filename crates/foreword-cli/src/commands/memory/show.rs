//! `memory show`.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword::visible;
use foreword_serve::memory::MemoryItem;
use foreword_store::StoreError;
use serde_json::json;

use super::label;
use crate::commands::database::reader;
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::format_time;

/// Show a memory
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory show 4k7tq")]
pub(crate) struct MemoryShowArgs {
    /// ID of the memory, or its first characters
    id: String,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryShowArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let id = args.id.as_str();
    let found = match reader(workspace, terminal)? {
        Some(reader) => reader.read_memories(|rows| -> Result<_, StoreError> {
            let memory = rows.find(id)?;
            let embedder = rows.embedder_of(memory.key)?;
            Ok((memory.entry, embedder))
        })?,
        None => None,
    };
    let Some((entry, embedder)) = found else {
        return Err(StoreError::NoSuchMemory { id: id.to_owned() }.into());
    };
    if terminal.json {
        let mut value = serde_json::to_value(MemoryItem::from(&entry))?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("embedder".into(), json!(embedder));
        }
        return terminal.print_json(&value);
    }
    let mut out =
        format!("{}  [{}]\n", entry.id, plain_line(&label(&MemoryItem::from(&entry)), 400));
    let _ = writeln!(out, "stored:  {}", format_time(entry.created_at));
    let fields = [
        ("date", entry.date.clone()),
        ("source", entry.source.clone()),
        ("importance", entry.importance.map(|x| x.to_string())),
        ("vector", embedder),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            let _ = writeln!(out, "{:8} {}", format!("{name}:"), plain_line(&value, 300));
        }
    }
    let _ = writeln!(out, "\n{}", visible(&entry.text));
    terminal.print(&out)
}
