//! `memory reindex`.

use std::path::Path;

use foreword_search::Memories;
use serde_json::json;

use super::{as_dyn, database, embedder, reader};
use crate::args::MemoryReindexArgs;
use crate::error::CliError;
use crate::person::act_of;
use crate::progress::Progress;
use crate::terminal::Terminal;

pub(crate) fn run(
    workspace: &Path,
    args: &MemoryReindexArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let Some(embedder) = embedder(workspace)? else {
        return Err(CliError::usage("this workspace wants no vectors").hint(
            "`name` in [embedder] of foreword.toml is `none`; static is part of this program",
        ));
    };
    let id = embedder.id().to_string();
    let mut done = 0;
    if reader(workspace)?.is_some() {
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
        0 => format!("all memories have vectors of {id}\n"),
        _ => format!("made {done} vectors of {id}\n"),
    })
}
