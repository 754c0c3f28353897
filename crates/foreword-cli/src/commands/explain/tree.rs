//! The sections of a prompt with the files and lines they come from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use foreword::{Manifest, SectionEntry, SectionSource, visible_line};
use foreword_page::{grouped, percent};

use super::bars::{LONGEST_BAR, bar, boundaries, colour};
use crate::terminal::paint;

/// Sources shown below a section.
const MAX_SOURCES: usize = 30;

/// A tree: the two texts of a prompt, their sections, and the sources of each.
pub(crate) fn tree(manifest: &Manifest<'_>) -> String {
    let total = u64::from(manifest.metadata.estimated_tokens);
    let largest = manifest.sections.iter().map(|section| section.tokens).max().unwrap_or(0);
    let in_system = manifest.system_sections();
    let name_width =
        manifest.sections.iter().map(|section| section.module.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    let mut boundaries = boundaries(manifest).into_iter().peekable();
    let last = manifest.sections.len().saturating_sub(1);
    for (index, section) in manifest.sections.iter().enumerate() {
        let starts_text = match index {
            0 if in_system > 0 => Some("system prompt"),
            _ if index == in_system => Some("turn context"),
            _ => None,
        };
        // The turn context has its own title; a line about it would say the same twice.
        while let Some(boundary) = boundaries.next_if(|boundary| boundary.above <= index) {
            if boundary.label.starts_with("cache") {
                let _ = writeln!(out, "── {} ──", boundary.label);
            }
        }
        if let Some(title) = starts_text {
            let own = manifest
                .sections
                .iter()
                .enumerate()
                .filter(|(at, _)| (*at < in_system) == (index < in_system));
            let tokens = own.map(|(_, section)| u64::from(section.tokens)).sum();
            let figures = format!("{} tokens, {}", grouped(tokens), percent(tokens, total));
            let _ = writeln!(out, "{}  {figures}", paint(title, "34"));
        }
        let ends_text = index == last || index + 1 == in_system;
        let name = format!("{:name_width$}", section.module);
        let _ = writeln!(
            out,
            "{} {name}  {:>6}  {:>6}  {}  {}, {}, {}",
            if ends_text { "└─" } else { "├─" },
            grouped(u64::from(section.tokens)),
            percent(u64::from(section.tokens), total),
            padded_bar(section, largest),
            section.authority.as_str(),
            section.volatility.as_str(),
            section.detail.as_str(),
        );
        sources(section, if ends_text { "   " } else { "│  " }, &mut out);
    }
    for boundary in boundaries {
        let _ = writeln!(out, "── {} ──", boundary.label);
    }
    out
}

fn padded_bar(section: &SectionEntry<'_>, largest: u32) -> String {
    let bar = bar(section.tokens, largest, LONGEST_BAR);
    let pad = " ".repeat((LONGEST_BAR as usize).saturating_sub(bar.chars().count()));
    format!("{}{pad}", paint(&bar, colour(section.authority)))
}

/// The sources of a section, each once with all its lines.
fn sources(section: &SectionEntry<'_>, indent: &str, out: &mut String) {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: Vec<(&SectionSource<'_>, [u32; 2], usize)> = Vec::new();
    for source in &section.sources {
        let bytes = source.range[1].saturating_sub(source.range[0]);
        let at = *places.entry(source.path).or_insert(files.len());
        match files.get_mut(at) {
            Some((_, lines, sum)) => {
                *lines = [lines[0].min(source.lines[0]), lines[1].max(source.lines[1])];
                *sum += bytes;
            }
            None => files.push((source, source.lines, bytes)),
        }
    }
    let shown = files.len().min(MAX_SOURCES);
    for (index, (source, [first, last], bytes)) in files.iter().take(shown).enumerate() {
        let branch = if index + 1 == files.len() { "└─" } else { "├─" };
        let lines = match (source.is_file(), first == last) {
            (false, _) => String::new(),
            (true, true) => format!(":{first}"),
            (true, false) => format!(":{first}-{last}"),
        };
        let bytes = grouped(*bytes as u64);
        let _ =
            writeln!(out, "{indent}{branch} {}{lines}  {bytes} bytes", visible_line(source.path));
    }
    if files.len() > shown {
        let _ = writeln!(out, "{indent}└─ and {} more", files.len() - shown);
    }
}
