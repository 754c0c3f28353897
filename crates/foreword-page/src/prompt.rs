//! The page of a compiled prompt.

use foreword::{Manifest, SectionEntry, Selection};

use crate::blocks::{Fact, Item};
use crate::composition::{Boundary, Composition, Part, Stretch};
use crate::figures::{grouped, percent};
use crate::page::Page;
use crate::tone::Tone;

/// The module whose text must not be passed on: a page is meant to be attached to a review.
const CANARY: &str = "canary";
const CANARY_HIDDEN: &str =
    "Hidden: the canary token of the session. `foreword build --session ID` prints it.";

/// What a manifest does not say about its prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct PromptInfo<'a> {
    /// The agent, if there is one.
    pub agent: &'a str,
    /// The blueprint.
    pub blueprint: &'a str,
    /// The task, if there is one.
    pub task: &'a str,
    /// How tokens were counted, such as `o200k`; empty for the estimate.
    pub tokenizer: &'a str,
}

/// A page with the sections of a prompt by size, what is left out and why, and the text with its sources.
#[must_use]
pub fn prompt_page(manifest: &Manifest<'_>, info: &PromptInfo<'_>) -> String {
    let title = match info.agent {
        "" => "System prompt".to_owned(),
        agent => format!("System prompt of {agent}"),
    };
    let mut page = Page::new(&title, &lead(info));
    page.facts(&facts(manifest, info));
    if manifest.metadata.over_budget {
        page.notice("The prompt exceeds its budget, even without the optional sections.");
    }
    let composition = composition(manifest);
    page.overview(&composition);
    left_out(manifest, &mut page);
    page.texts(&composition);
    page.finish("foreword explain --html")
}

fn lead(info: &PromptInfo<'_>) -> String {
    let blueprint = format!("Compiled with the blueprint {}", info.blueprint);
    if info.task.trim().is_empty() {
        return blueprint;
    }
    // A task may be a whole document; its section shows all of it.
    let task: String = info.task.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = task.chars().take(200).collect();
    let more = if short.len() < task.len() { "…" } else { "" };
    format!("{blueprint} for the task “{short}{more}”")
}

fn facts(manifest: &Manifest<'_>, info: &PromptInfo<'_>) -> Vec<Fact> {
    let metadata = &manifest.metadata;
    let tokens = u64::from(metadata.estimated_tokens);
    let counted = if info.tokenizer.is_empty() {
        "estimate".to_owned()
    } else {
        format!("by {}", info.tokenizer)
    };
    let fact = |name, value, note| Fact { name, value, note };
    let cached = manifest.cached_tokens();
    vec![
        fact("Tokens", grouped(tokens), counted),
        fact(
            "Cache prefix",
            format!("{} tokens", grouped(cached)),
            format!(
                "{}, {} bytes",
                percent(cached, tokens),
                grouped(manifest.stable_prefix_bytes as u64)
            ),
        ),
        fact(
            "Window left",
            format!("{}%", metadata.percent_remaining),
            format!("of {} tokens", grouped(metadata.context_window)),
        ),
        fact("Sections", metadata.module_count.to_string(), {
            let left = manifest.omitted.len();
            if left == 0 { String::new() } else { format!("{left} left out") }
        }),
        fact("Digest", manifest.digest.clone().unwrap_or_default(), String::new()),
    ]
}

fn composition<'p>(manifest: &'p Manifest<'p>) -> Composition<'p> {
    let sections = &manifest.sections;
    let cached = manifest.cached_tokens();
    let total = u64::from(manifest.metadata.estimated_tokens);
    let mut boundaries = vec![Boundary {
        above: manifest.cached_sections(),
        label: format!(
            "Cache prefix ends here: {} tokens ({}) change only when a file changes",
            grouped(cached),
            percent(cached, total)
        ),
    }];
    if !manifest.turn_context.is_empty() {
        boundaries.push(Boundary {
            above: manifest.system_sections(),
            label: "Turn context starts here: sent in front of the newest user message".to_owned(),
        });
    }
    boundaries.sort_by_key(|boundary| boundary.above);
    Composition {
        parts: sections.iter().map(|section| part(manifest, section)).collect(),
        tokens: total,
        boundaries,
        tone_means: "Authority",
        part_means: "Section",
    }
}

fn part<'p>(manifest: &Manifest<'p>, section: &'p SectionEntry<'p>) -> Part<'p> {
    let [start, end] = section.range;
    let hidden = section.module == CANARY;
    let text =
        if hidden { CANARY_HIDDEN } else { manifest.content.get(start..end).unwrap_or_default() };
    let stretches = section.sources.iter().map(|source| Stretch {
        range: source.range.map(|at| at.saturating_sub(start)),
        source: source.path.into(),
        lines: source.is_file().then(|| source.lines.map(|line| line as usize)),
        note: "",
    });
    Part {
        name: section.module.into(),
        tone: Tone::from(section.authority),
        kind: section.authority.as_str(),
        notes: vec![section.volatility.as_str(), section.detail.as_str()],
        tokens: u64::from(section.tokens),
        text,
        stretches: if hidden { Vec::new() } else { stretches.collect() },
    }
}

/// What was selected, left out, changed or empty.
fn left_out(manifest: &Manifest<'_>, page: &mut Page) {
    if let Some(selection) = manifest.selection {
        page.heading("Selected for the task").list(&selected(selection));
    }
    if !manifest.omitted.is_empty() {
        let item = |omitted: &foreword::Omitted| Item {
            name: omitted.module.clone(),
            text: omitted.reason.clone(),
        };
        let items: Vec<Item> = manifest.omitted.iter().map(item).collect();
        page.heading("Left out").list(&items);
    }
    if !manifest.filtered.is_empty() {
        let item = |filtered: &foreword::Filtered| Item {
            name: format!("{} {}", filtered.kind, filtered.id),
            text: filtered.reason.clone(),
        };
        let items: Vec<Item> = manifest.filtered.iter().map(item).collect();
        page.heading("Changed or filtered").list(&items);
    }
    if !manifest.inactive.is_empty() {
        page.heading("Empty").paragraph(&format!(
            "These modules of the blueprint have nothing to say here: {}.",
            manifest.inactive.join(", ")
        ));
    }
}

fn selected(selection: &Selection) -> Vec<Item> {
    let mut items = Vec::new();
    for (kind, chosen) in [("tool", &selection.tools), ("skill", &selection.skills)] {
        for item in chosen {
            let reasons: Vec<&str> = item.reasons.iter().map(|reason| reason.inspect()).collect();
            items.push(Item {
                name: format!("{kind} {}", item.name.inspect()),
                text: format!("{:.3}, {}", item.score, reasons.join(" and ")),
            });
        }
    }
    for kind in &selection.abstained {
        items.push(Item { name: kind.inspect().to_owned(), text: "no match".to_owned() });
    }
    items
}
