//! `foreword build`: the prompt on standard output, or its manifest as JSON.

mod watch;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use foreword::{Field, Manifest, Prompt, TokenCounter};
use foreword_gather::Gathered;
use foreword_host::log_prompt;
use serde_json::{Value, json};

use crate::args::SourceArgs;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::{inputs, json, lock};

/// Compile a prompt
///
/// Prints the prompt to standard output, or its manifest with --json. Standard input and other files are read only
/// where a flag says so.
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
    /// Fail with exit code 1 if the prompt exceeds its budget
    #[arg(long)]
    strict: bool,
    /// Rebuild on every change and print the difference
    #[arg(long, conflicts_with_all = ["context", "payload", "lock"])]
    watch: bool,
    /// Record the digest of every agent's prompt in foreword.lock
    #[arg(long, conflicts_with_all = ["context", "payload"])]
    lock: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
enum Format {
    /// Exact text of the prompt
    #[default]
    Text,
    /// `system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API
    Anthropic,
    /// `messages` and `prompt_cache_key`, for OpenAI-compatible chat completions
    Openai,
}

pub(crate) fn run(workspace: &Path, args: &BuildArgs, terminal: &Terminal) -> Result<(), CliError> {
    let counter = inputs::counter(args.source.tokenizer)?;
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
        None => terminal.print(&text)?,
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
    Ok(())
}

/// Compiles a prompt and measures the time.
pub(crate) fn compile(gathered: &Gathered, counter: Option<&dyn TokenCounter>) -> (Prompt, f64) {
    let start = Instant::now();
    let prompt = match counter {
        Some(counter) => gathered.blueprint.build_counted(&gathered.context, counter),
        None => gathered.blueprint.build(&gathered.context),
    };
    let build_time_ms = start.elapsed().as_secs_f64() * 1000.0;
    log_prompt(gathered.blueprint.name(), &gathered.context, &prompt, build_time_ms);
    (prompt, build_time_ms)
}

/// The manifest with digests and the measured time.
pub(crate) fn manifest(prompt: &Prompt, build_time_ms: f64) -> Manifest<'_> {
    let mut manifest = prompt.manifest_with_digests();
    manifest.metadata.build_time_ms = (build_time_ms * 10_000.0).round() / 10_000.0;
    manifest
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
        Format::Anthropic => anthropic(prompt, task),
        Format::Openai => openai(prompt, task),
    };
    json::unversioned(&value)
}

/// The user message of a request: the turn context, or the task if the blueprint leaves it to the user
/// message.
fn user_message<'p>(prompt: &'p Prompt, task: &'p str) -> Option<&'p str> {
    let turn = prompt.turn_context();
    let left_out = prompt.filtered().iter().any(|filtered| filtered.id == Field::Task.as_str());
    Some(if turn.is_empty() && left_out { task } else { turn }).filter(|text| !text.is_empty())
}

/// The fields of an Anthropic Messages request. Everything up to a `cache_control` is cached: the part
/// that changes only with files, and the whole system prompt of the session.
fn anthropic(prompt: &Prompt, task: &str) -> Value {
    let (stable, session) = prompt.system_at_cache_boundary();
    let system: Vec<Value> = [stable, session]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}))
        .collect();
    let messages: Vec<Value> = user_message(prompt, task)
        .map(|text| json!({"role": "user", "content": [{"type": "text", "text": text}]}))
        .into_iter()
        .collect();
    json!({"system": system, "messages": messages})
}

/// The fields of an OpenAI-compatible chat completion request. Providers cache by prefix; the key, a short
/// digest of the stable part, routes requests with the same prefix to the same cache.
fn openai(prompt: &Prompt, task: &str) -> Value {
    let (stable, _) = prompt.system_at_cache_boundary();
    let messages: Vec<Value> =
        [("system", Some(prompt.system())), ("user", user_message(prompt, task))]
            .into_iter()
            .filter_map(|(role, text)| {
                text.filter(|text| !text.is_empty()).map(|text| (role, text))
            })
            .map(|(role, text)| json!({"role": role, "content": text}))
            .collect();
    let digest = foreword::digest(stable.as_bytes());
    let key: String = digest.trim_start_matches("blake3:").chars().take(32).collect();
    json!({"messages": messages, "prompt_cache_key": key})
}
