//! `foreword eval assemble`: the selection for a task, in a stable schema.

use std::path::Path;

use clap::Args;
use foreword::{Field, Memory, Prompt, Selected, Selection};
use foreword_gather::Gathered;
use serde::Serialize;

use crate::args::SourceArgs;
use crate::commands::build;
use crate::error::CliError;
use crate::inputs;
use crate::terminal::Terminal;

/// Show what is selected for a task
///
/// Prints the prompt, or with --json the selected tools, skills and memories with their scores.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword eval assemble \"fix the login bug\"
  foreword eval assemble \"fix the login bug\" --json | jq .tools")]
pub(crate) struct EvalAssembleArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

/// The blueprint for workspaces whose own shows no selection.
const WITH_SELECTION: &str = "semantic";

/// The stable schema, and the selection with its scores.
#[derive(Serialize)]
struct Assembled<'g> {
    mode: &'static str,
    task: &'g str,
    tools: Vec<&'g str>,
    skills: Vec<&'g str>,
    context: Context<'g>,
    metrics: Metrics,
    selection: &'g Selection,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'g> {
    git: Option<&'g foreword::Git>,
    env: Option<&'g foreword::Env>,
    memories: Vec<&'g str>,
    activity: Vec<&'g str>,
    filtered_count: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    estimated_tokens: u32,
    embedding_calls: u32,
}

pub(crate) fn run(
    workspace: &Path,
    args: &EvalAssembleArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let counter = inputs::counter(args.source.tokenizer)?;
    let mut gathered = inputs::resolve(workspace, &args.source)?;
    if !gathered.blueprint.shows(Field::Selection) && args.source.blueprint.is_none() {
        let source = SourceArgs { blueprint: Some(WITH_SELECTION.into()), ..args.source.clone() };
        gathered = inputs::resolve(workspace, &source)?;
    }
    inputs::warn(workspace, &args.source, &gathered, terminal);
    let (prompt, _) = build::compile(&gathered, counter.as_deref());
    if !terminal.json {
        return terminal.print(prompt.text());
    }
    let none = Selection::default();
    terminal.print_json(&assembled(&gathered, &prompt, &none))
}

fn assembled<'g>(gathered: &'g Gathered, prompt: &Prompt, none: &'g Selection) -> Assembled<'g> {
    let context = &gathered.context;
    let selection = context.selection.as_ref().unwrap_or(none);
    let names = |selected: &'g [Selected]| selected.iter().map(|it| it.name.inspect()).collect();
    let texts = |items: &'g [Memory]| items.iter().map(|item| item.text.inspect()).collect();
    Assembled {
        mode: context.mode().as_str(),
        task: context.task.inspect(),
        tools: names(&selection.tools),
        skills: names(&selection.skills),
        context: Context {
            git: context.git.as_ref(),
            env: context.env.as_ref(),
            memories: texts(&context.memories),
            activity: texts(&context.activity),
            filtered_count: foreword_host::filtered_count(prompt),
        },
        metrics: Metrics {
            estimated_tokens: prompt.tokens(),
            embedding_calls: selection.embedding_calls,
        },
        selection,
    }
}
