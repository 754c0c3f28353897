//! The sections of a prompt at a glance, then what was left out and why.

use std::fmt::Write as _;

use foreword::{Manifest, SectionEntry, Selection, visible_line};
use foreword_page::{grouped, percent};

use super::bars::{bar, boundaries, colour};
use crate::terminal::{output_columns, paint, plain_line};

/// The columns, and which of them hold figures.
const COLUMNS: [(&str, bool); 8] = [
    ("section", false),
    ("authority", false),
    ("volatility", false),
    ("detail", false),
    ("tokens", true),
    ("share", true),
    ("", false),
    ("source", false),
];

pub(crate) fn table(manifest: &Manifest<'_>, blueprint: &str) -> String {
    let metadata = &manifest.metadata;
    let mut out = rows(manifest);
    let _ = writeln!(
        out,
        "\n{} tokens in {} sections of blueprint {blueprint}; {}% of the {}-token window left",
        grouped(u64::from(metadata.estimated_tokens)),
        metadata.module_count,
        metadata.percent_remaining,
        grouped(metadata.context_window),
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
                visible_line(&filtered.id),
                filtered.reason
            );
        }
    }
    if !manifest.inactive.is_empty() {
        let _ = writeln!(out, "\n{} {}", paint("empty:", "34"), manifest.inactive.join(", "));
    }
    out
}

/// A line per section, with the boundaries between them.
fn rows(manifest: &Manifest<'_>) -> String {
    let total = u64::from(manifest.metadata.estimated_tokens);
    let largest = manifest.sections.iter().map(|section| section.tokens).max().unwrap_or(0);
    let cells: Vec<[String; 8]> = manifest
        .sections
        .iter()
        .map(|section| {
            [
                section.module.to_owned(),
                section.authority.as_str().to_owned(),
                section.volatility.as_str().to_owned(),
                section.detail.as_str().to_owned(),
                grouped(u64::from(section.tokens)),
                percent(u64::from(section.tokens), total),
                bar(section.tokens, largest),
                sources(section),
            ]
        })
        .collect();
    let widths: Vec<usize> = COLUMNS
        .iter()
        .enumerate()
        .map(|(column, (title, _))| {
            let cells = cells.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(title.len())
        })
        .collect();
    let room = room_for_sources(&widths);
    let mut out = String::new();
    let titles: Vec<String> = COLUMNS.iter().map(|(title, _)| (*title).to_owned()).collect();
    let _ = writeln!(out, "{}", paint(&line(&titles, &widths, None, None), "34"));
    let mut boundaries = boundaries(manifest).into_iter().peekable();
    for (index, (row, section)) in cells.iter().zip(&manifest.sections).enumerate() {
        while let Some(boundary) = boundaries.next_if(|boundary| boundary.above <= index) {
            let _ = writeln!(out, "── {} ──", boundary.label);
        }
        let _ = writeln!(out, "{}", line(row, &widths, Some(colour(section.authority)), room));
    }
    for boundary in boundaries {
        let _ = writeln!(out, "── {} ──", boundary.label);
    }
    out
}

/// One line of the table; authority and bar in the section's colour.
fn line(cells: &[String], widths: &[usize], colour: Option<&str>, room: Option<usize>) -> String {
    let mut out = String::new();
    for ((cell, width), (title, is_figure)) in cells.iter().zip(widths).zip(COLUMNS) {
        let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
        let shown = match (title, colour, room) {
            ("authority" | "", Some(colour), _) => paint(cell, colour),
            ("source", _, Some(room)) => plain_line(cell, room),
            _ => cell.clone(),
        };
        let _ =
            if is_figure { write!(out, "{pad}{shown}  ") } else { write!(out, "{shown}{pad}  ") };
    }
    out.truncate(out.trim_end().len());
    out
}

/// What a terminal has left for the last column, if that is enough to say anything.
fn room_for_sources(widths: &[usize]) -> Option<usize> {
    const MIN_ROOM: usize = 20;
    let others: usize = widths.iter().take(COLUMNS.len() - 1).map(|width| width + 2).sum();
    Some(output_columns()?.checked_sub(others)?.max(MIN_ROOM))
}

/// The selection for the task, with reasons.
fn selected(selection: &Selection) -> String {
    let by = selection.embedder.as_ref().map_or_else(
        || "by keywords".to_owned(),
        |embedder| format!("by keywords and {}", visible_line(embedder.inspect())),
    );
    let least =
        selection.min_score.map(|least| format!(", minimum score {least}")).unwrap_or_default();
    let mut out = format!("\n{} {by}{least}\n", paint("selected for the task", "34"));
    for (kind, items) in [("tool", &selection.tools), ("skill", &selection.skills)] {
        for item in items {
            let reasons: Vec<String> =
                item.reasons.iter().map(|reason| visible_line(reason.inspect())).collect();
            let name = visible_line(item.name.inspect());
            let _ = writeln!(out, "  {kind} {name}: {:.3}, {}", item.score, reasons.join(" and "));
        }
    }
    for kind in &selection.abstained {
        let _ = writeln!(out, "  no matching {}", visible_line(kind.inspect()));
    }
    out
}

/// The files of a section, each once.
fn sources(section: &SectionEntry<'_>) -> String {
    const MAX_NAMES: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for source in &section.sources {
        let name = visible_line(source.path);
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
