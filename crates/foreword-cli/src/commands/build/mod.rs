//! `foreword build`: the prompt on standard output, or its manifest as JSON.

mod watch;

use std::path::PathBuf;

use clap::Args;
use foreword::{Prompt, visible_line};
use foreword_serve::Format;
pub(crate) use foreword_serve::{compile, manifest};

use crate::args::SourceArgs;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;
use crate::{inputs, json, lock};

/// Compile a prompt
///
/// Prints the prompt to standard output, or its manifest with --json. Reads standard input and other files only if
/// an option says so.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword build -w examples/companion \"what is on today?\"
  foreword build --json | jq .metadata
  foreword build --context context.json --blueprint guarded
  echo '{\"message\": \"hi\", \"taintRatio\": 0.2}' | foreword build --payload -")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fail with exit code 1 if anything was shortened or left out to fit a limit
    #[arg(long)]
    strict: bool,
    /// Rebuild on every change and print the difference
    #[arg(long, conflicts_with_all = ["context", "payload", "lock"])]
    watch: bool,
    /// Record the digest of every agent's prompt in foreword.lock; prints a prompt only if a task is given
    #[arg(long, conflicts_with_all = ["context", "payload"])]
    lock: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &BuildArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let counter = inputs::counter(args.source.tokenizer)?;
    let workspace = &*args.source.root(workspace)?;
    if args.watch {
        return watch::run(workspace, args, counter.as_deref(), terminal);
    }
    let gathered = inputs::resolve(workspace, &args.source)?;
    inputs::warn(workspace, &args.source, &gathered, terminal);
    let (prompt, build_time_ms) = compile(&gathered, counter.as_deref());
    if args.lock {
        lock::write(workspace, terminal)?;
    }
    let text = rendered(
        &prompt,
        gathered.context.task.inspect(),
        build_time_ms,
        args.format,
        terminal.json,
    )?;
    match &args.output {
        Some(path) => std::fs::write(path, text).map_err(|error| {
            CliError::usage(format!("cannot write {}: {error}", path.display()))
        })?,
        // Who records the prompts of all agents did not ask for that of one.
        None if args.lock && args.source.task.is_none() && !terminal.json => {}
        None => terminal.print(&text)?,
    }
    let shortened = prompt.shortened();
    for line in &shortened {
        terminal.warn(&visible_line(line));
    }
    if prompt.is_over_budget() {
        let message = format!(
            "the prompt needs {} tokens without its optional sections, but only {} are available",
            prompt.tokens(),
            gathered.context.available_tokens().max(0)
        );
        let hint = "raise `--context-window` or `--max-prompt-tokens`, or shorten the history or the required files";
        if args.strict {
            return Err(CliError::failed(message).hint(hint));
        }
        terminal.warn(&message);
    }
    if args.strict && !shortened.is_empty() {
        let count = u64::try_from(shortened.len()).unwrap_or(u64::MAX);
        return Err(CliError::failed(format!(
            "the prompt is incomplete: {} shortened or left out",
            if count == 1 { "1 part was".to_owned() } else { format!("{count} parts were") }
        ))
        .hint("raise the limit in each warning, or shorten its source"));
    }
    Ok(())
}

fn rendered(
    prompt: &Prompt,
    task: &str,
    build_time_ms: f64,
    format: Format,
    json: bool,
) -> Result<String, CliError> {
    let value = match format {
        Format::Text if json => return json::pretty(&manifest(prompt, build_time_ms)),
        Format::Text => return Ok(prompt.text().to_owned()),
        other => other.body(prompt, task),
    };
    json::unversioned(&value)
}
