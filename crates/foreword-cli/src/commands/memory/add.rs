//! `memory add`.

use std::path::Path;

use clap::Args;
use foreword_serve::memory::{self, MemoryAddParams};

use super::ScopeArgs;
use crate::error::CliError;
use crate::inputs::read_input;
use crate::terminal::Terminal;

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
    pub(super) text: String,
    /// Kind: note, fact, preference, activity or another lower-case word
    #[arg(short, long, default_value = "note", value_name = "WORD")]
    pub(super) kind: String,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    /// Mark the memory as external and untrusted
    #[arg(long)]
    pub(super) tainted: bool,
    /// Source of the memory
    #[arg(long, value_name = "TEXT")]
    pub(super) source: Option<String>,
    /// Day that the memory is about
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) date: Option<String>,
    /// Importance, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    pub(super) importance: Option<f64>,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryAddArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let text = match args.text.as_str() {
        "-" => read_input(Path::new("-"))?.trim_end().to_owned(),
        given => given.to_owned(),
    };
    let scope = args.scope.clone();
    let mut added = memory::add(
        workspace,
        &MemoryAddParams {
            workspace: None,
            text,
            kind: args.kind.clone(),
            agent: scope.agent,
            user: scope.user,
            session: scope.session,
            tainted: args.tainted,
            source: args.source.clone(),
            date: args.date.clone(),
            importance: args.importance,
        },
    )?;
    std::mem::take(&mut added.warnings).iter().for_each(|warning| terminal.warn(warning));
    if terminal.json {
        return terminal.print_json_line(&added);
    }
    let verb = if added.state == "new" { "remembered" } else { "already remembered" };
    terminal.print(&format!("{verb} as {}\n", added.id))
}
