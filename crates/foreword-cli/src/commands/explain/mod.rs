//! `foreword explain`: what a prompt is made of, as a table, a tree or a page.

mod bars;
mod table;
mod tree;

use std::path::PathBuf;

use clap::Args;
use foreword::Manifest;
use foreword_gather::Gathered;
use foreword_page::{PromptInfo, prompt_page};
use foreword_serve::{ByteOrigin, Tokenizer, byte_origin};

pub(crate) use self::table::table;
use crate::args::SourceArgs;
use crate::commands::build;
use crate::error::CliError;
use crate::inputs;
use crate::page_file::write_page;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Show the source and token cost of each section
///
/// Prints one line per section with its share of the tokens as a bar, coloured by authority, and where the cache
/// prefix ends. Then lists what was left out or changed, and why.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword explain -w examples/guarded
  foreword explain --tree                 Show the files and lines of each section
  foreword explain --html prompt.html     Write a page to attach to a review
  foreword explain --at 1200              Show the section and file of byte 1200
  foreword explain --json | jq .omitted")]
pub(crate) struct ExplainArgs {
    /// Explain one byte of the prompt
    #[arg(long, value_name = "BYTE", conflicts_with_all = ["tree", "html"])]
    at: Option<usize>,
    /// Show the files and lines of each section as a tree
    #[arg(long)]
    tree: bool,
    /// Write a self-contained HTML page with a map of the sections and the text with its sources
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArgs,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &ExplainArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let counter = inputs::counter(args.source.tokenizer)?;
    let workspace = &*args.source.root(workspace)?;
    let gathered = inputs::resolve(workspace, &args.source)?;
    inputs::warn(workspace, &args.source, &gathered, terminal);
    let (prompt, build_time_ms) = build::compile(&gathered, counter.as_deref());
    if let Some(at) = args.at {
        let manifest = prompt.manifest();
        let origin = byte_origin(&manifest, at)?;
        return if terminal.json {
            terminal.print_json(&origin)
        } else {
            terminal.print(&byte_text(&origin))
        };
    }
    let manifest = build::manifest(&prompt, build_time_ms);
    if let Some(path) = &args.html {
        write_page(path, &page(&manifest, &gathered, args.source.tokenizer), terminal)?;
    }
    if terminal.json {
        return terminal.print_json(&without_text(&manifest)?);
    }
    let blueprint = gathered.blueprint.name();
    match (args.tree, &args.html) {
        (true, _) => terminal.print(&tree::tree(&manifest)),
        (false, None) => terminal.print(&table(&manifest, blueprint)),
        (false, Some(_)) => Ok(()),
    }
}

/// The page of a prompt.
fn page(manifest: &Manifest<'_>, gathered: &Gathered, tokenizer: Tokenizer) -> String {
    let context = &gathered.context;
    let info = PromptInfo {
        agent: context.agent_id.as_ref().map_or("", |id| id.inspect()),
        blueprint: gathered.blueprint.name(),
        task: context.task.inspect(),
        tokenizer: tokenizer.exact_name().unwrap_or_default(),
    };
    prompt_page(manifest, &info)
}

/// The manifest without the text of the prompt.
pub(crate) fn without_text(manifest: &Manifest<'_>) -> Result<serde_json::Value, CliError> {
    Ok(foreword_serve::without_text(serde_json::to_value(manifest)?))
}

/// Where one byte of a prompt comes from.
fn byte_text(origin: &ByteOrigin<'_>) -> String {
    let (Some(section), Some(authority)) = (origin.section, origin.authority) else {
        return "between two sections\n".to_owned();
    };
    let from = match (origin.source, origin.line) {
        (Some(source), Some(line)) => format!("{source}:{line}"),
        _ => "the module itself".to_owned(),
    };
    format!("section {section}, {} authority, from {from}\n", authority.as_str())
}
