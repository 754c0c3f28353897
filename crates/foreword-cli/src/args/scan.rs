//! `foreword scan` and `foreword eval injection`, as data.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Exit code 1 if any text is BLOCK; PASS and FLAG are 0. A verdict is a signal, not a proof.

Examples:
  foreword scan mail.txt notes.md
  curl -s https://example.org/page | foreword scan
  foreword scan --jsonl texts.jsonl | jq -r .verdict     one line out for each {\"text\": …} in")]
pub(crate) struct ScanArgs {
    /// The texts, or - for standard input
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// Each line is a JSON object with a text: one result a line, in order
    #[arg(long)]
    pub(crate) jsonl: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Each line of FILE is a JSON object: text, label (1 for an injection, 0 for a harmless text), lang, source.

Examples:
  foreword eval injection labelled.jsonl
  foreword eval injection labelled.jsonl --json | jq .perSource")]
pub(crate) struct EvalInjectionArgs {
    /// The labelled texts, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
}
