//! `foreword memory`, as data.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand, Debug)]
pub(crate) enum MemoryCommand {
    /// Store a memory
    Add(MemoryAddArgs),
    /// Find the memories that fit a question
    Search(MemorySearchArgs),
    /// List memories, newest first
    List(MemoryListArgs),
    /// Show one memory
    Show {
        /// Its id; the first characters are enough
        id: String,
    },
    /// Delete memories for good
    Forget(MemoryForgetArgs),
    /// Store many memories from a file
    Import(MemoryImportArgs),
    /// Write all memories as lines of JSON
    Export(MemoryExportArgs),
    /// Make the vectors of memories anew, for another embedder or after damage
    Reindex(MemoryReindexArgs),
}

/// Whom a memory is for.
#[derive(Args, Debug, Default)]
pub(crate) struct MemoryScopeArgs {
    /// Of one agent only
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Of one user only
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Of one session only
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory add \"Ada prefers tabs over spaces\" --kind preference
  foreword memory add \"Deployed 2.1 to staging\" --kind activity --date 2026-02-26
  foreword memory add - --tainted --source https://example.com/post < note.txt

The kinds system, meta and override are stored and shown, and never given to an agent.")]
pub(crate) struct MemoryAddArgs {
    /// What to remember, or - for standard input
    #[arg(value_name = "TEXT|-")]
    pub(crate) text: String,
    /// note, fact, preference, activity or another lower-case word
    #[arg(short, long, default_value = "note", value_name = "WORD")]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) scope: MemoryScopeArgs,
    /// It came from outside and must not be trusted
    #[arg(long)]
    pub(crate) tainted: bool,
    /// Where it came from
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// The day it speaks of
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
    /// How much it matters, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    pub(crate) importance: Option<f64>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory search \"which database do we use?\"
  foreword memory search deploy --agent main --user ada   what this agent would be given
  foreword memory search deploy --all --json              everything, whatever its score and kind")]
pub(crate) struct MemorySearchArgs {
    /// The question
    pub(crate) query: String,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Only of this kind
    #[arg(short, long, value_name = "WORD")]
    pub(crate) kind: Option<String>,
    /// Also what is never given to an agent, and what fits badly
    #[arg(long)]
    pub(crate) all: bool,
    /// The least score, 0 to 1 [default: 0.7]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) min_score: Option<f32>,
    #[command(flatten)]
    pub(crate) scope: MemoryScopeArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MemoryListArgs {
    /// Only of this kind
    #[arg(short, long, value_name = "WORD")]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) scope: MemoryScopeArgs,
    /// Only what came from outside
    #[arg(long)]
    pub(crate) tainted: bool,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Go on behind this one
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory forget 4k7tq
  foreword memory forget --all-of session=s-81
  foreword memory forget --all-of user=ada --all-of kind=activity --yes   what is both
  foreword memory forget --all-of tainted")]
pub(crate) struct MemoryForgetArgs {
    /// The memories; the first characters of an id are enough
    #[arg(value_name = "ID", required_unless_present = "all_of", conflicts_with = "all_of")]
    pub(crate) ids: Vec<String>,
    /// All with this: agent=ID, user=ID, session=ID, kind=WORD, tainted, everything
    #[arg(long, value_name = "WHAT")]
    pub(crate) all_of: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory import memories.jsonl
  foreword memory import - --jsonl < memories.jsonl
  foreword memory import notes.txt --kind fact        each line is a memory

A line of JSON needs a text; it may have id, kind, agent, user, session, createdAt (milliseconds
since 1970), date, tainted, source, importance, vector. What is there already is not stored twice.")]
pub(crate) struct MemoryImportArgs {
    /// Lines of JSON or of text, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
    /// The lines are JSON; else the first one tells
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// The kind of lines that are text
    #[arg(short, long, value_name = "WORD")]
    pub(crate) kind: Option<String>,
    /// All of it came from outside and must not be trusted
    #[arg(long)]
    pub(crate) tainted: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory export memories.jsonl
  foreword memory export | jq -r .text")]
pub(crate) struct MemoryExportArgs {
    /// Where to write; standard output where absent
    pub(crate) file: Option<PathBuf>,
    /// With their vectors
    #[arg(long)]
    pub(crate) vectors: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MemoryReindexArgs {
    /// All vectors, also those that are there: heals damaged ones
    #[arg(long)]
    pub(crate) all: bool,
}
