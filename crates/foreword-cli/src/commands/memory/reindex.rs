//! `memory reindex`.

use std::path::Path;

use clap::Args;
use foreword_search::Memories;
use serde_json::json;

use super::{as_dyn, database, embedder};
use crate::commands::database::reader;
use crate::error::CliError;
use crate::progress::Progress;
use crate::terminal::{Terminal, counted};
use crate::user_env::act_of;

/// Recompute the embeddings of memories
///
/// Run it after changing the embedder, or to repair damaged embeddings.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory reindex
  foreword memory reindex --all")]
pub(crate) struct MemoryReindexArgs {
    /// Recompute all embeddings, not only missing ones
    #[arg(long)]
    all: bool,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryReindexArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let Some(embedder) = embedder(workspace)? else {
        return Err(CliError::usage("embeddings are turned off in this workspace")
            .hint("set `name` in [embedder] of foreword.toml, for example to `static`"));
    };
    let id = embedder.id().to_string();
    let mut done = 0;
    if reader(workspace, terminal)?.is_some() {
        let store = database(workspace)?;
        let act = act_of(None);
        let mut progress = Progress::new(terminal);
        let counts = Memories::new(&store, as_dyn(Some(&embedder))).reindex(
            &act.by,
            act.at,
            args.all,
            |counts| progress.at("embedded", counts.done, Some(counts.total)),
        )?;
        done = counts.done;
    }
    if terminal.json {
        return terminal.print_json_line(&json!({ "embedder": id, "done": done }));
    }
    terminal.print(&match done {
        0 => format!("all memories have embeddings of {id}\n"),
        _ => format!("computed {} with {id}\n", counted(done as u64, "embedding")),
    })
}
