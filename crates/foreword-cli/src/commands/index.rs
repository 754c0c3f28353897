//! `foreword index`: vectors of tools and skills, made ahead.

use std::path::Path;

use foreword_gather::{Imported, IndexReport, Indexing, Request, import_tools, index};
use serde::Serialize;

use crate::args::IndexArgs;
use crate::error::CliError;
use crate::inputs::{read_input, shown};
use crate::person::{config_dir, embeddings, models_dir};
use crate::progress::Progress;
use crate::terminal::{Terminal, plain_line};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    fresh: bool,
    #[serde(flatten)]
    report: IndexReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Imported>,
}

pub(crate) fn run(workspace: &Path, args: &IndexArgs, terminal: &Terminal) -> Result<(), CliError> {
    let imported = args.import_tools.as_deref().map(|path| import(workspace, path, terminal));
    let imported = imported.transpose()?;
    let request = Request {
        config_dir: config_dir().ok(),
        models_dir: models_dir().ok(),
        embeddings: embeddings(),
        ..Request::default()
    };
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
        terminal.print(&told(&report, indexing))?;
    }
    if args.check && !report.is_fresh() {
        return Err(CliError::not_right("the index is not up to date").hint("run `foreword index`"));
    }
    Ok(())
}

/// Adds the tools of an answer to `tools/list` to the workspace.
fn import(workspace: &Path, path: &Path, terminal: &Terminal) -> Result<Imported, CliError> {
    let json = read_input(path)?;
    let imported = import_tools(workspace, &json)
        .map_err(|error| CliError::from(error).in_file(&shown(path)))?;
    for name in &imported.differing {
        let name = plain_line(name, 80);
        terminal.warn(&format!("tools.toml describes `{name}` otherwise: it stays as it is"));
    }
    for (name, reason) in &imported.suspicious {
        let name = plain_line(name, 80);
        terminal.warn(&format!(
            "the description of `{name}` reads like an {reason}: look at it in tools.toml"
        ));
    }
    terminal.say(&format!(
        "{} tools added to tools.toml, {} were there already",
        imported.added.len(),
        imported.same + imported.differing.len()
    ));
    Ok(imported)
}

fn told(report: &IndexReport, indexing: Indexing) -> String {
    if report.embedder.is_empty() {
        return "no embedder is wanted (`name = \"none\"`): there is nothing to index\n".to_owned();
    }
    let of = format!(
        "{} tools and {} skills of {} agents, {} examples of injections, {} texts, by {}",
        report.tools, report.skills, report.agents, report.patterns, report.texts, report.embedder
    );
    let replaced = report.replaced.as_ref();
    let replaced =
        replaced.map(|why| format!("the old index is of no use: {why}\n")).unwrap_or_default();
    let state = match (report.is_fresh(), indexing) {
        (true, _) => "up to date".to_owned(),
        (false, Indexing::Check) => format!(
            "not up to date: {} texts to embed, {} vectors to drop, {} word indexes to make",
            report.embedded, report.dropped, report.word_indexes
        ),
        (false, Indexing::Update) => format!(
            "{} texts embedded, {} vectors dropped, {} word indexes made",
            report.embedded, report.dropped, report.word_indexes
        ),
    };
    format!("{replaced}{of}: {state}\n")
}
