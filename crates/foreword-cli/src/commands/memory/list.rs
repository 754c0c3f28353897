//! `memory list`.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_serve::memory::{self, MemoryListParams};

use super::{ScopeArgs, day, label};
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
    let scope = args.scope.clone();
    let asked = MemoryListParams {
        workspace: None,
        kind: args.kind.clone(),
        agent: scope.agent,
        user: scope.user,
        session: scope.session,
        tainted: args.tainted,
        limit: args.limit,
        after: args.after.clone(),
    };
    let page = memory::list(workspace, &asked)?;
    page.warnings.iter().for_each(|warning| terminal.warn(warning));
    if terminal.json {
        return terminal.print_json_list(&page.memories);
    }
    if page.memories.is_empty() {
        terminal.say("no memories");
    }
    let mut out = String::new();
    for memory in &page.memories {
        let text = plain_line(&memory.text, 160);
        let _ = writeln!(out, "{}  {}  [{}] {text}", memory.id, day(memory), label(memory));
    }
    terminal.print(&out)?;
    if let Some(next) = &page.next {
        terminal.say(&format!("more memories follow; pass `--after {next}`"));
    }
    Ok(())
}
