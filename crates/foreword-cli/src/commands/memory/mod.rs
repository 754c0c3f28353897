//! `foreword memory`: what agents may be reminded of.

mod forget;
mod reindex;
mod show;
mod store;
mod transfer;

use std::path::Path;

use foreword_embed::Embedder;
use foreword_gather::{AnyEmbedder, Request};
use foreword_search::{MemoryEntry, MemoryScope};
use foreword_store::Reader;
use serde_json::{Value, json};

use crate::args::{MemoryCommand, MemoryScopeArgs};
use crate::commands::skill;
use crate::error::CliError;
use crate::person::{embeddings, models_dir, shown_time};
use crate::terminal::Terminal;

pub(crate) fn run(
    workspace: &Path,
    command: &MemoryCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match command {
        MemoryCommand::Add(args) => store::add(workspace, args, terminal),
        MemoryCommand::Search(args) => show::search(workspace, args, terminal),
        MemoryCommand::List(args) => show::list(workspace, args, terminal),
        MemoryCommand::Show { id } => show::one(workspace, id, terminal),
        MemoryCommand::Forget(args) => forget::run(workspace, args, terminal),
        MemoryCommand::Import(args) => transfer::import(workspace, args, terminal),
        MemoryCommand::Export(args) => transfer::export(workspace, args, terminal),
        MemoryCommand::Reindex(args) => reindex::run(workspace, args, terminal),
    }
}

/// Who makes the vectors of this workspace; nobody where it wants none.
fn embedder(workspace: &Path) -> Result<Option<AnyEmbedder>, CliError> {
    let request =
        Request { models_dir: models_dir().ok(), embeddings: embeddings(), ..Request::default() };
    Ok(foreword_gather::embedder(workspace, &request)?)
}

/// The same, for what can do without: words alone are better than nothing.
fn embedder_if_any(workspace: &Path, terminal: &Terminal) -> Option<AnyEmbedder> {
    embedder(workspace).unwrap_or_else(|error| {
        terminal.warn(&format!("going by words only: {}", error.message));
        None
    })
}

/// As the engine takes it.
fn as_dyn(embedder: Option<&AnyEmbedder>) -> Option<&dyn Embedder> {
    embedder.map(|embedder| -> &dyn Embedder { &**embedder })
}

/// The database to be written, made where there is none.
fn database(workspace: &Path) -> Result<foreword_store::Store, CliError> {
    Ok(skill::store(workspace)?.database()?)
}

/// The database to be read, if there is one.
fn reader(workspace: &Path) -> Result<Option<Reader>, CliError> {
    Ok(skill::store(workspace)?.reader()?)
}

fn scope(args: &MemoryScopeArgs) -> MemoryScope {
    let MemoryScopeArgs { agent, user, session } = args;
    MemoryScope { agent: agent.clone(), user: user.clone(), session: session.clone() }
}

/// A memory as JSON, its time as people read it.
fn described(entry: &MemoryEntry) -> Result<Value, CliError> {
    let mut value = serde_json::to_value(entry)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("createdAt".into(), json!(shown_time(entry.created_at)));
    }
    Ok(value)
}

/// The day a memory is of.
fn day(entry: &MemoryEntry) -> String {
    entry.date.clone().unwrap_or_else(|| shown_time(entry.created_at).chars().take(10).collect())
}

/// The first thing a person sees of a memory beside its text.
fn label(entry: &MemoryEntry) -> String {
    let mut label = entry.kind.to_string();
    let scope = &entry.scope;
    for (name, value) in
        [("agent", &scope.agent), ("user", &scope.user), ("session", &scope.session)]
    {
        if let Some(value) = value {
            label.push_str(&format!(" {name}={value}"));
        }
    }
    if entry.tainted {
        label.push_str(" tainted");
    }
    label
}
