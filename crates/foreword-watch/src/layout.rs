//! A captured prompt as files: the sections that stay the same, and apart from them the lines that change.
//!
//! Sections become files only where building joins them again with exactly one blank line, so that a build
//! gives the captured text again. Lines that differ between the calls of the conversation go behind the
//! prompt, into the turn context, where they cost no cache. What that would have saved is computed for every
//! captured call.

use std::collections::{BTreeMap, BTreeSet};

use foreword::Usage;
use serde::Serialize;

use crate::analysis::compare::{Relation, compare};
use crate::analysis::{ReportOptions, sections};
use crate::capture::{Capture, RecordedCall};
use crate::error::WatchError;
use crate::report::Region;
use crate::wire::{Caching, ModelRequest, PartKind, RequestPart, read_request};

/// Files that a prompt is split into at most. A blueprint has room for 200 modules.
const MAX_FILES: usize = 150;

/// A prompt as files.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Layout {
    /// The capture it comes from.
    pub capture: String,
    /// In the order of the prompt; those of the turn come last.
    pub files: Vec<LayoutFile>,
    /// The part that stays the same, as a build must give it.
    #[serde(skip)]
    pub system: String,
    /// The lines that change, as a build must give them behind it.
    #[serde(skip)]
    pub turn: String,
    pub savings: Vec<CallSaving>,
    pub saved_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
    /// Whether secrets were removed from the text.
    pub is_redacted: bool,
}

/// A file of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LayoutFile {
    /// A name for files and modules, such as `03-rules`.
    pub name: String,
    #[serde(skip)]
    pub text: String,
    /// Whether it changes with every call and belongs into the turn context.
    pub is_turn: bool,
}

/// What a layout would have saved on one call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallSaving {
    pub call: usize,
    /// Tokens that the call had in common with the previous one.
    pub common_tokens: u64,
    /// Tokens that it would have had in common.
    pub layout_tokens: u64,
    pub saved_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
}

/// Lays out the prompt of the longest conversation of a capture.
pub fn layout(capture: &Capture, options: &ReportOptions<'_>) -> Result<Layout, WatchError> {
    let calls = main_conversation(capture);
    let none = || WatchError::NoSystemPrompt { id: capture.info.id.clone() };
    let (_, latest) = calls.last().ok_or_else(none)?;
    let whole = system_text(latest);
    if whole.trim().is_empty() {
        return Err(none());
    }
    let volatile = volatile_lines(&calls, &whole);
    let (system, turn) = split(&whole, &volatile);
    let mut files = stable_files(&system);
    files.extend(turn_files(&turn, files.len()));
    let mut savings = Vec::new();
    for pair in calls.windows(2) {
        let [(earlier_call, earlier), (call, later)] = pair else { continue };
        let numbers = (earlier_call.facts.number, call.facts.number);
        savings.push(saving(numbers, earlier, later, &volatile, options));
    }
    let total = |value: fn(&CallSaving) -> Option<f64>| {
        savings.iter().filter_map(value).reduce(|a, b| a + b)
    };
    Ok(Layout {
        capture: capture.info.id.clone(),
        saved_tokens: savings.iter().map(|saving| saving.saved_tokens).sum(),
        saved_usd: total(|saving| saving.saved_usd),
        is_redacted: whole.contains("[redacted: "),
        system: trimmed(&system).to_owned(),
        turn: turn.join("\n\n"),
        files,
        savings,
    })
}

/// The calls with the longest common history, as they were read.
fn main_conversation(capture: &Capture) -> Vec<(&RecordedCall, ModelRequest)> {
    let mut all: BTreeMap<usize, Vec<(&RecordedCall, ModelRequest)>> = BTreeMap::new();
    let mut follows: BTreeMap<usize, usize> = BTreeMap::new();
    let mut home: BTreeMap<usize, usize> = BTreeMap::new();
    for call in &capture.calls {
        let facts = &call.facts;
        let Some(conversation) = facts.conversation else { continue };
        let Ok(request) = read_request(Some(facts.api), &facts.path, &call.request) else {
            continue;
        };
        if system_text(&request).trim().is_empty() {
            continue;
        }
        // A conversation that shares the prompt of another one is part of the same program.
        if let Some(comparison) = &facts.comparison
            && comparison.relation == Relation::SharesPrompt
            && let Some(other) = home.get(&comparison.previous)
        {
            let root = follows.get(other).copied().unwrap_or(*other);
            follows.insert(conversation, root);
        }
        home.insert(facts.number, conversation);
        let root = follows.get(&conversation).copied().unwrap_or(conversation);
        all.entry(root).or_default().push((call, request));
    }
    let size = |calls: &[(&RecordedCall, ModelRequest)]| {
        let last = calls.last().map_or(0, |(call, _)| call.request.len());
        (calls.len(), last)
    };
    all.into_values().max_by_key(|calls| size(calls)).unwrap_or_default()
}

fn system_parts(request: &ModelRequest) -> impl Iterator<Item = &RequestPart> {
    request
        .parts
        .iter()
        .filter(|part| part.region == Region::System && part.kind == PartKind::System)
}

/// The system prompt as one text. Blocks are separated by a blank line, as sections are.
fn system_text(request: &ModelRequest) -> String {
    let texts: Vec<&str> = system_parts(request).map(|part| trimmed(&part.text)).collect();
    texts.join("\n\n")
}

/// A text without blank lines at its ends, which a build leaves out.
fn trimmed(text: &str) -> &str {
    let start = text.len() - text.trim_start_matches(['\n', '\r']).len();
    text.get(start..).unwrap_or_default().trim_end()
}

/// Lines of the prompt that another call of the conversation does not have.
fn volatile_lines(calls: &[(&RecordedCall, ModelRequest)], whole: &str) -> BTreeSet<String> {
    let mut volatile = BTreeSet::new();
    let own: BTreeSet<&str> = whole.lines().collect();
    for (_, request) in calls {
        let text = system_text(request);
        let lines: BTreeSet<&str> = text.lines().collect();
        volatile.extend(own.difference(&lines).map(|line| (*line).to_owned()));
        // The same line in an earlier call counts there.
        volatile.extend(lines.difference(&own).map(|line| (*line).to_owned()));
    }
    volatile.retain(|line| !line.trim().is_empty());
    volatile
}

/// The text without these lines, and the lines in stretches.
fn split(text: &str, volatile: &BTreeSet<String>) -> (String, Vec<String>) {
    let mut stable: Vec<&str> = Vec::new();
    let mut turn: Vec<String> = Vec::new();
    let mut follows = false;
    for line in text.lines() {
        if !volatile.contains(line) {
            // Where a paragraph goes, one of the blank lines around it goes as well.
            let is_double =
                follows && line.is_empty() && stable.last().is_none_or(|last| last.is_empty());
            if !is_double {
                stable.push(line);
            }
            follows = false;
            continue;
        }
        match turn.last_mut().filter(|_| follows) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
            }
            None => turn.push(line.to_owned()),
        }
        follows = true;
    }
    (stable.join("\n"), turn)
}

/// The sections that a blank line separates from what is before them.
fn stable_files(system: &str) -> Vec<LayoutFile> {
    let system = trimmed(system);
    let mut cuts: Vec<(usize, String)> = Vec::new();
    for section in sections(system) {
        let [start, _] = section.range;
        let before = system.get(..start).unwrap_or_default();
        // Exactly one blank line, and nothing that a build would trim.
        let is_clean = before.ends_with("\n\n")
            && before.strip_suffix("\n\n").is_some_and(|rest| rest.trim_end() == rest);
        if start == 0 || (is_clean && cuts.len() < MAX_FILES) {
            cuts.push((start, section.title));
        }
    }
    if cuts.first().is_none_or(|(start, _)| *start > 0) {
        cuts.insert(0, (0, String::new()));
    }
    let ends: Vec<usize> =
        cuts.iter().skip(1).map(|(start, _)| *start).chain([system.len()]).collect();
    let files =
        cuts.into_iter().zip(ends).enumerate().map(|(at, ((start, title), end))| LayoutFile {
            name: named(at + 1, if title.is_empty() { "opening" } else { &title }),
            text: format!("{}\n", trimmed(system.get(start..end).unwrap_or_default())),
            is_turn: false,
        });
    files.collect()
}

fn turn_files(turn: &[String], before: usize) -> Vec<LayoutFile> {
    if turn.is_empty() {
        return Vec::new();
    }
    let text = format!("{}\n", turn.join("\n\n"));
    vec![LayoutFile { name: named(before + 1, "turn"), text, is_turn: true }]
}

/// A number and the words of a title, as a file may be called anywhere.
fn named(number: usize, title: &str) -> String {
    let letters =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let letters: String = letters.collect();
    let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).take(5).collect();
    let words = if words.is_empty() { "section".to_owned() } else { words.join("-") };
    let words: String = words.chars().take(40).collect();
    format!("{number:02}-{words}")
}

/// What the layout would have saved between two calls: the prompt without its volatile lines, and these in
/// front of the newest user message.
fn saving(
    (earlier_number, number): (usize, usize),
    earlier: &ModelRequest,
    later: &ModelRequest,
    volatile: &BTreeSet<String>,
    options: &ReportOptions<'_>,
) -> CallSaving {
    let common = |earlier: &ModelRequest, later: &ModelRequest| {
        let found = compare(earlier_number, Relation::Continues, earlier, later);
        let parts: Vec<&RequestPart> =
            later.parts.iter().filter(|part| part.kind != PartKind::Transport).collect();
        let whole = parts.iter().take(found.common_parts).map(|part| tokens(&part.text, options));
        let partial = parts.get(found.common_parts).map_or("", |part| {
            part.text.get(..part.text.floor_char_boundary(found.offset)).unwrap_or_default()
        });
        whole.sum::<u64>() + tokens(partial, options)
    };
    let before = common(earlier, later);
    let after = common(&laid_out(earlier, volatile), &laid_out(later, volatile));
    let saved_tokens = after.saturating_sub(before);
    let price = options.prices.of(&later.model);
    let saved_usd = price.map(|price| {
        let usage = if later.caching == Caching::Marks {
            Usage { cache_write_tokens: saved_tokens, ..Usage::default() }
        } else {
            Usage { input_tokens: saved_tokens, ..Usage::default() }
        };
        let cached = Usage { cache_read_tokens: saved_tokens, ..Usage::default() };
        as_f64(price.cost(usage).saturating_sub(price.cost(cached))) / 1_000_000.0
    });
    CallSaving {
        call: number,
        common_tokens: before,
        layout_tokens: after,
        saved_tokens,
        saved_usd,
    }
}

fn tokens(text: &str, options: &ReportOptions<'_>) -> u64 {
    u64::from(options.counter.count(text))
}

#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

/// A request with the layout: stable text in the system prompt, the rest before the newest user message.
fn laid_out(request: &ModelRequest, volatile: &BTreeSet<String>) -> ModelRequest {
    let mut changed = request.clone();
    let mut moved = Vec::new();
    for part in &mut changed.parts {
        if part.region == Region::System && part.kind == PartKind::System {
            let (stable, turn) = split(&part.text, volatile);
            part.text = stable;
            moved.extend(turn);
        }
    }
    let newest = changed.parts.iter().rposition(|part| part.kind == PartKind::User);
    if let Some(part) = newest.and_then(|at| changed.parts.get_mut(at))
        && !moved.is_empty()
    {
        part.text = format!("{}\n\n{}", moved.join("\n\n"), part.text);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_become_files_where_a_build_can_join_them() {
        let system = "Intro\n\n# One: the *first*\na\n\n## Two\nb\n\n\n# Three\nc\n# Four\nd";
        let files = stable_files(system);
        let shown: Vec<(&str, &str)> =
            files.iter().map(|file| (file.name.as_str(), file.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("01-opening", "Intro\n"),
                ("02-one-the-first", "# One: the *first*\na\n"),
                ("03-two", "## Two\nb\n\n\n# Three\nc\n# Four\nd\n"),
            ]
        );
        let joined: Vec<&str> = files.iter().map(|file| file.text.trim_end()).collect();
        assert_eq!(joined.join("\n\n"), system);
        assert_eq!(stable_files("# Ü\nx")[0].name, "01-section");
    }

    #[test]
    fn lines_that_change_go_apart() {
        let volatile: BTreeSet<String> =
            ["Now: 2".to_owned(), "Turn 2".to_owned()].into_iter().collect();
        let (stable, turn) = split("You are.\nNow: 2\n\n# Rules\na\n\nTurn 2\n\nb", &volatile);
        assert_eq!(stable, "You are.\n\n# Rules\na\n\nb");
        assert_eq!(turn, ["Now: 2", "Turn 2"]);
    }
}
