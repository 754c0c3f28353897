//! `foreword explain`: a table of the sections of a prompt, then what was left out and why.

use std::fmt::Write as _;

use clap::Args;
use foreword::{Manifest, SectionEntry, Selection};
use foreword_serve::{ByteOrigin, byte_origin};

use crate::args::SourceArgs;
use crate::commands::build;
use crate::error::CliError;
use crate::inputs;
use crate::terminal::{Terminal, paint};
use crate::workspace_arg::WorkspaceArg;

/// Show the source and token cost of each section
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword explain -w examples/guarded
  foreword explain --at 1200              Show the section and file of byte 1200
  foreword explain --json | jq .omitted")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Explain one byte of the prompt
    #[arg(long, value_name = "BYTE")]
    at: Option<usize>,
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
    if terminal.json {
        return terminal.print_json(&without_text(&manifest)?);
    }
    terminal.print(&table(&manifest, gathered.blueprint.name()))
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

pub(crate) fn table(manifest: &Manifest<'_>, blueprint: &str) -> String {
    let metadata = &manifest.metadata;
    let mut rows = vec![
        ["section", "authority", "volatility", "detail", "tokens", "share", "source"]
            .map(str::to_owned),
    ];
    let total = f64::from(metadata.estimated_tokens.max(1));
    for section in &manifest.sections {
        rows.push([
            section.module.to_owned(),
            section.authority.as_str().to_owned(),
            section.volatility.as_str().to_owned(),
            section.detail.as_str().to_owned(),
            section.tokens.to_string(),
            format!("{:.1}%", f64::from(section.tokens) / total * 100.0),
            sources(section),
        ]);
    }
    let mut out = String::new();
    let widths: Vec<usize> = (0..7)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let right = column == 4 || column == 5;
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let _ =
                if right { write!(line, "{pad}{cell}  ") } else { write!(line, "{cell}{pad}  ") };
        }
        let line = line.trim_end();
        let _ = writeln!(out, "{}", if index == 0 { paint(line, "34") } else { line.to_owned() });
    }
    let _ = writeln!(
        out,
        "\n{} tokens in {} sections of blueprint {blueprint}; {}% of the {}-token window left; stable prefix {} bytes",
        metadata.estimated_tokens,
        metadata.module_count,
        metadata.percent_remaining,
        metadata.context_window,
        manifest.stable_prefix_bytes
    );
    if metadata.over_budget {
        let _ = writeln!(out, "{}", paint("over budget, even without the optional sections", "31"));
    }
    if let Some(selection) = manifest.selection {
        out.push_str(&selected(selection));
    }
    if !manifest.omitted.is_empty() {
        let _ = writeln!(out, "\n{}", paint("omitted", "34"));
        for omitted in manifest.omitted {
            let _ = writeln!(out, "  {}: {}", omitted.module, omitted.reason);
        }
    }
    if !manifest.filtered.is_empty() {
        let _ = writeln!(out, "\n{}", paint("changed or filtered", "34"));
        for filtered in manifest.filtered {
            let _ = writeln!(
                out,
                "  {} {}: {}",
                filtered.kind,
                printable(&filtered.id),
                filtered.reason
            );
        }
    }
    if !manifest.inactive.is_empty() {
        let _ = writeln!(out, "\n{} {}", paint("empty:", "34"), manifest.inactive.join(", "));
    }
    out
}

/// The selection for the task, with reasons.
fn selected(selection: &Selection) -> String {
    let by = selection.embedder.as_ref().map_or_else(
        || "by keywords".to_owned(),
        |embedder| format!("by keywords and {}", printable(embedder.inspect())),
    );
    let least =
        selection.min_score.map(|least| format!(", minimum score {least}")).unwrap_or_default();
    let mut out = format!("\n{} {by}{least}\n", paint("selected for the task", "34"));
    for (kind, items) in [("tool", &selection.tools), ("skill", &selection.skills)] {
        for item in items {
            let reasons: Vec<String> =
                item.reasons.iter().map(|reason| printable(reason.inspect())).collect();
            let name = printable(item.name.inspect());
            let _ = writeln!(out, "  {kind} {name}: {:.3}, {}", item.score, reasons.join(" and "));
        }
    }
    for kind in &selection.abstained {
        let _ = writeln!(out, "  no matching {}", printable(kind.inspect()));
    }
    out
}

/// The files of a section, each once.
fn sources(section: &SectionEntry<'_>) -> String {
    const MAX_NAMES: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for source in &section.sources {
        let name = printable(source.path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let mut out = names.join(", ");
    if more > 0 {
        let _ = write!(out, " and {more} more");
    }
    if out.is_empty() { "context".to_owned() } else { out }
}

/// A name from a file, without control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
