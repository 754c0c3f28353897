//! `foreword eval retrieval`, as data.

use std::path::PathBuf;

use clap::Args;

use super::EmbedderArgs;

#[derive(Args, Debug)]
#[command(after_help = "\
Each file holds one JSON object a line:
  tools         {\"id\": \"a1\", \"name\": \"play_music\", \"description\": \"Plays a song\"}; without id, the name is it
  queries       {\"text\": \"put on some jazz\", \"relevant\": [\"a1\"], \"lang\": \"en\"}
  out of scope  {\"text\": \"who wrote Hamlet?\"}
A query may bring `candidates`, a list of tools, which then are its whole pool. Other fields are passed over.

The whole pool is ranked for every query, in the order that selection for a prompt uses; limits and
thresholds do not apply. No workspace is needed.

Examples:
  foreword eval retrieval --tools tools.jsonl --queries queries.jsonl
  foreword eval retrieval --tools tools.jsonl --queries queries.jsonl --embedder use --json | jq .r10
  foreword eval retrieval --tools t.jsonl --queries q.jsonl --out-of-scope o.jsonl --embedder none
  foreword eval retrieval --tools t.jsonl --queries q.jsonl --embedder http --url http://localhost:11434 \\
      --model bge-m3")]
pub(crate) struct EvalRetrievalArgs {
    /// The pool of tools
    #[arg(long, value_name = "FILE|-")]
    pub(crate) tools: PathBuf,
    /// Queries, each with the tools it needs
    #[arg(long, value_name = "FILE|-")]
    pub(crate) queries: PathBuf,
    /// Queries that none of the tools fits
    #[arg(long, value_name = "FILE|-")]
    pub(crate) out_of_scope: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,
}
