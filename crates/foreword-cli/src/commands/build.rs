//! `foreword build`: the prompt on standard output, or all that is known about it as JSON.

use std::path::Path;
use std::time::Instant;

use foreword::{Field, Manifest, Prompt, TokenCounter};
use foreword_gather::Gathered;
use serde_json::{Value, json};

use crate::args::{BuildArgs, Format};
use crate::commands::eval_assemble::filtered_count;
use crate::commands::{lock, watch};
use crate::error::CliError;
use crate::inputs;
use crate::terminal::Terminal;

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
            "the prompt needs {} tokens and {} are available, though everything optional was left out",
            prompt.tokens(),
            gathered.context.available_tokens().max(0)
        );
        let hint = "raise the window or the limit, shorten the history, or cut the required files";
        if args.strict {
            return Err(CliError::not_right(message).hint(hint));
        }
        terminal.warn(&message);
    }
    Ok(())
}

/// Compiles and reports the event, with the time it took.
pub(crate) fn compile(gathered: &Gathered, counter: Option<&dyn TokenCounter>) -> (Prompt, f64) {
    let start = Instant::now();
    let prompt = match counter {
        Some(counter) => gathered.blueprint.build_counted(&gathered.context, counter),
        None => gathered.blueprint.build(&gathered.context),
    };
    let build_time_ms = start.elapsed().as_secs_f64() * 1000.0;
    let metadata = prompt.metadata();
    tracing::info!(
        blueprint = gathered.blueprint.name(),
        module_count = metadata.module_count,
        modules = ?metadata.modules,
        estimated_tokens = metadata.estimated_tokens,
        tokens_by_module = ?metadata.tokens_by_module,
        percent_remaining = metadata.percent_remaining,
        over_budget = metadata.over_budget,
        omitted = prompt.omitted().len(),
        filtered = prompt.filtered().len(),
        build_time_ms,
        "prompt_built"
    );
    let context = &gathered.context;
    if let Some(selection) = &context.selection {
        let names = |selected: &[foreword::Selected]| {
            selected.iter().map(|it| it.name.inspect().to_owned()).collect::<Vec<_>>()
        };
        tracing::info!(
            mode = context.mode().as_str(),
            tools = ?names(&selection.tools),
            skills = ?names(&selection.skills),
            memories = context.memories.len(),
            activity = context.activity.len(),
            filtered_count = filtered_count(&prompt),
            embedding_calls = selection.embedding_calls,
            embedder = selection.embedder.as_ref().map_or("none", |embedder| embedder.inspect()),
            degraded = selection.degraded.is_some(),
            estimated_tokens = metadata.estimated_tokens,
            build_time_ms,
            "prompt_assembled"
        );
    }
    (prompt, build_time_ms)
}

/// The manifest with digests and the time the caller measured.
pub(crate) fn manifest(prompt: &Prompt, build_time_ms: f64) -> Manifest<'_> {
    let mut manifest = prompt.manifest_with_digests();
    manifest.metadata.build_time_ms = (build_time_ms * 10_000.0).round() / 10_000.0;
    manifest
}

pub(crate) fn rendered(
    prompt: &Prompt,
    task: &str,
    build_time_ms: f64,
    format: Format,
    json: bool,
) -> Result<String, CliError> {
    let value = match format {
        Format::Text if json => return Ok(pretty(&manifest(prompt, build_time_ms))? + "\n"),
        Format::Text => return Ok(prompt.text().to_owned()),
        Format::Anthropic => anthropic(prompt, task),
        Format::Openai => openai(prompt, task),
    };
    Ok(pretty(&value)? + "\n")
}

fn pretty(value: &impl serde::Serialize) -> Result<String, CliError> {
    Ok(serde_json::to_string_pretty(value)?)
}

/// What a request says as the user: the turn context, or the task where the blueprint leaves it to the
/// user's message.
fn user_message<'p>(prompt: &'p Prompt, task: &'p str) -> Option<&'p str> {
    let turn = prompt.turn_context();
    let left_out = prompt.filtered().iter().any(|filtered| filtered.id == Field::Task.as_str());
    Some(if turn.is_empty() && left_out { task } else { turn }).filter(|text| !text.is_empty())
}

/// The fields of an Anthropic Messages request. Everything up to a `cache_control` is cached: the part
/// that changes only with files, and the whole system prompt of the session.
pub(crate) fn anthropic(prompt: &Prompt, task: &str) -> Value {
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

/// The fields of an OpenAI-compatible chat completion request. The cache is by prefix; the key, made of
/// the stable part and no longer than providers take, sends requests that share it to the same cache.
pub(crate) fn openai(prompt: &Prompt, task: &str) -> Value {
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
