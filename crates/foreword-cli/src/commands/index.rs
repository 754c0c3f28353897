//! `foreword index`: precomputed embeddings of tools and skills.

use std::path::{Path, PathBuf};

use clap::Args;
use foreword_gather::{Imported, IndexReport, Indexing, import_tools, index};
use serde::Serialize;

use crate::error::CliError;
use crate::inputs::{display_name, read_input, user_request};
use crate::progress::Progress;
use crate::terminal::{Terminal, counted, plain_line};
use crate::workspace_arg::WorkspaceArg;

/// Precompute tool and skill embeddings
///
/// With an index, a build embeds only its task.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword index                            Embed new and changed texts
  foreword index --check                    Fail if the index is out of date; for CI
  foreword index --import-tools tools.json  Add the tools of an MCP server's tools/list")]
pub(crate) struct IndexArgs {
    /// Change nothing; fail with exit code 1 if the index is out of date
    #[arg(long)]
    check: bool,
    /// First add the tools in an MCP server's `tools/list` response to tools.toml
    #[arg(long, value_name = "FILE|-", conflicts_with = "check")]
    import_tools: Option<PathBuf>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    fresh: bool,
    #[serde(flatten)]
    report: IndexReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Imported>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &IndexArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let imported = args.import_tools.as_deref().map(|path| import(workspace, path, terminal));
    let imported = imported.transpose()?;
    let request = user_request()?;
    let indexing = if args.check { Indexing::Check } else { Indexing::Update };
    let mut progress = Progress::new(terminal);
    let report = index(workspace, &request, indexing, |done, total| {
        progress.at("embedded", done, Some(total));
    })?;
    drop(progress);
    if terminal.json {
        let answer = Answer { fresh: report.is_fresh(), report: report.clone(), imported };
        terminal.print_json(&answer)?;
    } else {
        terminal.print(&summary(&report, indexing))?;
    }
    if args.check && !report.is_fresh() {
        return Err(
            CliError::failed("the index is out of date").hint("run `foreword index` to update it")
        );
    }
    Ok(())
}

/// Adds the tools of a `tools/list` answer to the workspace.
fn import(workspace: &Path, path: &Path, terminal: &Terminal) -> Result<Imported, CliError> {
    let json = read_input(path)?;
    let imported = import_tools(workspace, &json)
        .map_err(|error| CliError::from(error).in_file(&display_name(path)))?;
    for name in &imported.differing {
        let name = plain_line(name, 80);
        terminal.warn(&format!("tools.toml has another description of `{name}`; it is unchanged"));
    }
    for (name, reason) in &imported.suspicious {
        let name = plain_line(name, 80);
        terminal.warn(&format!(
            "the description of `{name}` looks like prompt injection ({reason}); review it in tools.toml"
        ));
    }
    terminal.say(&format!(
        "added {} to tools.toml; {} already there",
        counted(imported.added.len() as u64, "tool"),
        imported.same + imported.differing.len()
    ));
    Ok(imported)
}

fn summary(report: &IndexReport, indexing: Indexing) -> String {
    if report.embedder.is_empty() {
        return "embeddings are off (`name = \"none\"` in [embedder]); nothing to index\n"
            .to_owned();
    }
    let count = |number: usize, one| counted(u64::try_from(number).unwrap_or(u64::MAX), one);
    let of = format!(
        "{}, {}, {}, {}, {}, embedder {}",
        count(report.tools, "tool"),
        count(report.skills, "skill"),
        count(report.agents, "agent"),
        count(report.patterns, "injection example"),
        count(report.texts, "text"),
        report.embedder
    );
    let replaced = report.replaced.as_ref();
    let replaced =
        replaced.map(|why| format!("the old index cannot be used: {why}\n")).unwrap_or_default();
    let state = match (report.is_fresh(), indexing) {
        (true, _) => "up to date".to_owned(),
        (false, Indexing::Check) => format!(
            "out of date: {} to embed, {} to remove, {} to build",
            count(report.embedded, "text"),
            count(report.dropped, "vector"),
            count(report.word_indexes, "keyword index")
        ),
        (false, Indexing::Update) => format!(
            "{} embedded, {} removed, {} built",
            count(report.embedded, "text"),
            count(report.dropped, "vector"),
            count(report.word_indexes, "keyword index")
        ),
    };
    format!("{replaced}{of}: {state}\n")
}
