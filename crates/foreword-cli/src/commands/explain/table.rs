//! The sections of a prompt at a glance, then what was left out and why.

use std::fmt::Write as _;

use foreword::{Detail, Manifest, SectionEntry, Selection, visible_line};
use foreword_page::{grouped, percent};

use super::bars::{LONGEST_BAR, bar, boundaries, colour};
use crate::terminal::{output_columns, paint, plain_line};

/// A narrower terminal gets shorter bars and fewer columns.
const WIDE: usize = 120;

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
    let mut out = rows(manifest, output_columns());
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

/// A line per section, with the boundaries between them, in so many columns of a terminal.
fn rows(manifest: &Manifest<'_>, columns: Option<usize>) -> String {
    let total = u64::from(manifest.metadata.estimated_tokens);
    let largest = manifest.sections.iter().map(|section| section.tokens).max().unwrap_or(0);
    let is_narrow = columns.is_some_and(|columns| columns < WIDE);
    let longest_bar = if is_narrow { LONGEST_BAR / 2 } else { LONGEST_BAR };
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
                bar(section.tokens, largest, longest_bar),
                sources(section),
            ]
        })
        .collect();
    let mut widths: Vec<usize> = COLUMNS
        .iter()
        .enumerate()
        .map(|(column, (title, _))| {
            let cells = cells.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(title.len())
        })
        .collect();
    if is_narrow {
        let all_full = manifest.sections.iter().all(|section| section.detail == Detail::Full);
        for (width, (title, _)) in widths.iter_mut().zip(COLUMNS) {
            if title == "volatility" || (title == "detail" && all_full) {
                *width = 0;
            }
        }
    }
    if let Some(columns) = columns {
        fit_sources(&mut widths, columns);
    }
    let mut out = String::new();
    let titles: Vec<String> = COLUMNS.iter().map(|(title, _)| (*title).to_owned()).collect();
    let _ = writeln!(out, "{}", paint(&line(&titles, &widths, None), "34"));
    let mut boundaries = boundaries(manifest).into_iter().peekable();
    for (index, (row, section)) in cells.iter().zip(&manifest.sections).enumerate() {
        while let Some(boundary) = boundaries.next_if(|boundary| boundary.above <= index) {
            let _ = writeln!(out, "── {} ──", boundary.label);
        }
        let _ = writeln!(out, "{}", line(row, &widths, Some(colour(section.authority))));
    }
    for boundary in boundaries {
        let _ = writeln!(out, "── {} ──", boundary.label);
    }
    out
}

/// One line of the table; authority and bar in the section's colour. A column without width is left out.
fn line(cells: &[String], widths: &[usize], colour: Option<&str>) -> String {
    let mut out = String::new();
    for ((cell, width), (title, is_figure)) in cells.iter().zip(widths).zip(COLUMNS) {
        if *width == 0 {
            continue;
        }
        let cell = if title == "source" { plain_line(cell, *width) } else { cell.clone() };
        let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
        let shown = match (title, colour) {
            ("authority" | "", Some(colour)) => paint(&cell, colour),
            _ => cell,
        };
        let _ =
            if is_figure { write!(out, "{pad}{shown}  ") } else { write!(out, "{shown}{pad}  ") };
    }
    out.truncate(out.trim_end().len());
    out
}

/// Cuts the last column to what the others leave, if that is enough to say anything.
fn fit_sources(widths: &mut [usize], columns: usize) {
    const MIN_ROOM: usize = 12;
    let others: usize =
        widths.iter().rev().skip(1).filter(|width| **width > 0).map(|w| w + 2).sum();
    if let Some(last) = widths.last_mut() {
        *last = (*last).min(columns.saturating_sub(others).max(MIN_ROOM));
    }
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
        // Those above are there for every task, or because it names them.
        let others = match kind.inspect() {
            "tools" => &selection.tools,
            _ => &selection.skills,
        };
        let other = if others.is_empty() { "" } else { "other " };
        let _ = writeln!(out, "  no {other}{} fit the task", visible_line(kind.inspect()));
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

#[cfg(test)]
mod tests {
    use foreword::{Blueprint, Context};

    use super::*;

    #[test]
    fn the_table_fits_the_terminal() {
        let agent = "You are Pickle.\n".repeat(9);
        let json = format!("{{\"identityFiles\": {{\"agent\": {agent:?}}}, \"task\": \"Hello\"}}");
        let prompt =
            Blueprint::builtin("standard").unwrap().build(&Context::from_json(&json).unwrap());
        let manifest = prompt.manifest();
        let sections = |columns| {
            let rows = rows(&manifest, columns);
            let lines = rows.lines().filter(|line| !line.starts_with('─'));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        for columns in [80, 100, 120, 200] {
            for line in sections(Some(columns)) {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
        }
        let whole = sections(None);
        assert_eq!(sections(Some(200)), whole);
        assert!(
            whole[0].contains("volatility  detail") && !sections(Some(80))[0].contains("detail")
        );
        assert_eq!(whole.len(), manifest.sections.len() + 1);
    }
}
