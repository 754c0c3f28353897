//! `foreword memory`: what agents remember.

mod add;
mod export;
mod forget;
mod import;
mod list;
mod reindex;
mod search;
mod show;

use std::path::Path;

use clap::{Args, Subcommand};
use foreword_embed::Embedder;
use foreword_gather::AnyEmbedder;
use foreword_serve::memory::MemoryItem;

use self::add::MemoryAddArgs;
use self::search::MemorySearchArgs;
use crate::commands::skill;
use crate::error::CliError;
use crate::inputs::user_request;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Manage agent memories
#[derive(Subcommand, Debug)]
pub(crate) enum MemoryCommand {
    Add(MemoryAddArgs),
    Search(MemorySearchArgs),
    List(list::MemoryListArgs),
    Show(show::MemoryShowArgs),
    Forget(forget::MemoryForgetArgs),
    Import(import::MemoryImportArgs),
    Export(export::MemoryExportArgs),
    Reindex(reindex::MemoryReindexArgs),
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ScopeArgs {
    /// Agent that the memory belongs to
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// User that the memory belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Session that the memory belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &MemoryCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    match command {
        MemoryCommand::Add(args) => add::run(workspace, args, terminal),
        MemoryCommand::Search(args) => search::run(workspace, args, terminal),
        MemoryCommand::List(args) => list::run(workspace, args, terminal),
        MemoryCommand::Show(args) => show::run(workspace, args, terminal),
        MemoryCommand::Forget(args) => forget::run(workspace, args, terminal),
        MemoryCommand::Import(args) => import::run(workspace, args, terminal),
        MemoryCommand::Export(args) => export::run(workspace, args, terminal),
        MemoryCommand::Reindex(args) => reindex::run(workspace, args, terminal),
    }
}

/// The embedder of the workspace; `None` if it is turned off.
fn embedder(workspace: &Path) -> Result<Option<AnyEmbedder>, CliError> {
    Ok(foreword_gather::embedder(workspace, &user_request()?)?)
}

/// The same, for commands that can fall back to keywords.
fn embedder_if_any(workspace: &Path, terminal: &Terminal) -> Option<AnyEmbedder> {
    embedder(workspace).unwrap_or_else(|error| {
        terminal.warn(&format!("embeddings unavailable, using keyword search: {}", error.message));
        None
    })
}

fn as_dyn(embedder: Option<&AnyEmbedder>) -> Option<&dyn Embedder> {
    embedder.map(|embedder| -> &dyn Embedder { &**embedder })
}

/// The database for writing, created if necessary.
fn database(workspace: &Path) -> Result<foreword_store::Store, CliError> {
    Ok(skill::store(workspace)?.database()?)
}

/// The day of a memory.
fn day(memory: &MemoryItem) -> String {
    memory.date.clone().unwrap_or_else(|| memory.created_at.chars().take(10).collect())
}

/// The kind, scope and taint of a memory.
fn label(memory: &MemoryItem) -> String {
    let mut label = memory.kind.clone();
    for (name, value) in
        [("agent", &memory.agent), ("user", &memory.user), ("session", &memory.session)]
    {
        if let Some(value) = value {
            label.push_str(&format!(" {name}={value}"));
        }
    }
    if memory.tainted {
        label.push_str(" tainted");
    }
    label
}
