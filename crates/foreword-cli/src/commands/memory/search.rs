//! `memory search`.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_serve::memory::{self, MemoryHit, MemorySearchParams};

use super::{ScopeArgs, day, label};
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};

/// Search memories
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory search \"which database do we use?\"
  foreword memory search deploy --agent main --user ada   Show what this agent would get
  foreword memory search deploy --all --json              Include every score and kind")]
pub(crate) struct MemorySearchArgs {
    /// Question or keywords
    pub(super) query: String,
    /// Maximum number of results
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(super) limit: usize,
    /// Search only this kind
    #[arg(short, long, value_name = "WORD")]
    pub(super) kind: Option<String>,
    /// Include low scores and kinds that agents never get
    #[arg(long)]
    pub(super) all: bool,
    /// Minimum score, 0 to 1 [default: 0.7]
    #[arg(long, value_name = "NUMBER")]
    pub(super) min_score: Option<f32>,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemorySearchArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let scope = args.scope.clone();
    let asked = MemorySearchParams {
        workspace: None,
        query: args.query.clone(),
        limit: args.limit,
        kind: args.kind.clone(),
        all: args.all,
        min_score: args.min_score,
        agent: scope.agent,
        user: scope.user,
        session: scope.session,
    };
    let mut found = memory::search(workspace, &asked)?;
    std::mem::take(&mut found.warnings).iter().for_each(|warning| terminal.warn(warning));
    if terminal.json {
        return terminal.print_json(&found);
    }
    if found.hits.is_empty() {
        let more = match found.below_threshold {
            0 => String::new(),
            n => format!("; {n} scored too low, pass `--all` to see them"),
        };
        terminal.say(&format!("no matching memories{more}"));
    }
    let mut out = String::new();
    for MemoryHit { memory, score, .. } in &found.hits {
        let text = plain_line(&memory.text, 160);
        let (id, day, label) = (&memory.id, day(memory), label(memory));
        let _ = writeln!(out, "{score:.2}  {id}  {day}  [{label}] {text}");
    }
    terminal.print(&out)
}
