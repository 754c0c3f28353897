//! Why two prompts differ: the causes that keep costing people their cache.

use std::collections::BTreeMap;

use super::compare::Relation;
use crate::report::{Cause, Region};
use crate::wire::{PartKind, RequestPart};

/// The two sides of a difference inside one part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'t> {
    pub(crate) before: &'t str,
    pub(crate) after: &'t str,
    /// The first differing byte, on a character boundary.
    pub(crate) offset: usize,
}

/// The cause of a difference, and what else to say about it.
pub(crate) fn find(
    relation: Relation,
    region: Region,
    old: &[&RequestPart],
    new: &[&RequestPart],
    texts: Option<Texts<'_>>,
) -> (Cause, Option<String>) {
    if region == Region::Tools
        && let Some(found) = tool_lists(old, new)
    {
        return found;
    }
    if let Some(texts) = texts {
        if let Some(cause) = volatile_value(texts) {
            return (cause, None);
        }
        if is_reordered(texts) {
            return (Cause::UnstableOrder, None);
        }
    }
    match (region, relation) {
        (Region::Tools, _) => {
            let changed = new.iter().zip(old).find(|(new, old)| new.text != old.text);
            let name = changed.and_then(|(new, _)| new.tool.clone());
            (Cause::ToolListChanged, name.map(|name| format!("the definition of {name} changed")))
        }
        (Region::Messages, Relation::Continues) => (Cause::HistoryRewritten, None),
        _ => (Cause::PromptChanged, None),
    }
}

/// What two lists of tools tell by their names alone.
fn tool_lists(old: &[&RequestPart], new: &[&RequestPart]) -> Option<(Cause, Option<String>)> {
    let names = |parts: &[&RequestPart]| -> Vec<String> {
        let tools = parts.iter().filter(|part| part.kind == PartKind::ToolDefinition);
        tools.map(|part| part.tool.clone().unwrap_or_default()).collect()
    };
    let (old_names, new_names) = (names(old), names(new));
    let missing = |from: &[String], all: &[String]| -> Vec<String> {
        from.iter().filter(|name| !all.contains(name)).cloned().collect()
    };
    let (added, removed) = (missing(&new_names, &old_names), missing(&old_names, &new_names));
    if added.is_empty() && removed.is_empty() {
        return (old_names != new_names).then_some((Cause::UnstableOrder, None));
    }
    let mut said = Vec::new();
    for (what, names) in [("added", added), ("removed", removed)] {
        if !names.is_empty() {
            let more = names.len().saturating_sub(5);
            let mut list: Vec<String> = names.into_iter().take(5).collect();
            if more > 0 {
                list.push(format!("{more} more"));
            }
            said.push(format!("{what}: {}", list.join(", ")));
        }
    }
    Some((Cause::ToolListChanged, Some(said.join("; "))))
}

/// A word of a line with the place it starts at.
type Word<'t> = (usize, &'t str);

/// Whether both sides have a time, an identifier or a number where they differ.
fn volatile_value(texts: Texts<'_>) -> Option<Cause> {
    let before = Spot::find(texts.before, texts.offset)?;
    let after = Spot::find(texts.after, texts.offset)?;
    if before.is_clock() && after.is_clock() {
        Some(Cause::Clock)
    } else if before.is_identifier() && after.is_identifier() {
        Some(Cause::Identifier)
    } else if before.is_number() && after.is_number() {
        Some(Cause::Counter)
    } else {
        None
    }
}

/// The line and the word in which two texts differ.
struct Spot<'t> {
    line: &'t str,
    word: &'t str,
    previous: &'t str,
    next: &'t str,
}

impl<'t> Spot<'t> {
    fn find(text: &'t str, offset: usize) -> Option<Self> {
        let (head, tail) = text.split_at_checked(text.floor_char_boundary(offset))?;
        let start = head.rfind('\n').map_or(0, |at| at + 1);
        let end = tail.find('\n').map_or(text.len(), |at| head.len() + at);
        let line = text.get(start..end)?;
        let within = offset.saturating_sub(start);
        let words = words(line);
        // The word that the byte is in, or the one that ends right before it.
        let at = words.iter().position(|(at, word)| *at <= within && within <= at + word.len())?;
        let word =
            |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |(_, word)| *word);
        Some(Self {
            line,
            word: word(Some(at)),
            previous: word(at.checked_sub(1)),
            next: word(at.checked_add(1)),
        })
    }

    /// A part of a date or a time; a bare number counts if it stands beside one, or if the line says
    /// that it is about time.
    fn is_clock(&self) -> bool {
        if is_temporal(self.word) {
            return true;
        }
        let is_number = self.is_number();
        let beside = is_temporal(self.previous) || is_temporal(self.next);
        is_number && (beside || (says_time(self.line) && self.word.len() != 1))
    }

    fn is_number(&self) -> bool {
        let word = self.word.trim_matches(|c: char| !c.is_alphanumeric());
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_digit() || ".,_%/$#".contains(c))
            && word.chars().any(|c| c.is_ascii_digit())
    }

    /// Letters and digits without meaning: UUIDs, hashes, random names.
    fn is_identifier(&self) -> bool {
        let word = self.word.rsplit(['=', ':', '/']).next().unwrap_or(self.word);
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let hex = word.chars().filter(|c| c.is_ascii_hexdigit()).count();
        plain
            && word.len() >= 8
            && ((digits >= 2 && letters >= 2) || (hex == word.len() && digits > 0))
    }
}

fn words(line: &str) -> Vec<Word<'_>> {
    let is_break = |c: char| c.is_whitespace() || "\"'`()[]{}<>|,;".contains(c);
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices() {
        match (is_break(c), start) {
            (true, Some(from)) => {
                words.push((from, line.get(from..at).unwrap_or_default()));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    if let Some(from) = start {
        words.push((from, line.get(from..).unwrap_or_default()));
    }
    words
}

/// Names of days and months, by their first three letters.
const CALENDAR: [&str; 19] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
    "jul", "aug", "sep", "oct", "nov", "dec",
];
const CALENDAR_ENDS: [&str; 21] = [
    "", "day", "sday", "nesday", "rsday", "urday", "uary", "ruary", "ch", "il", "e", "y", "ust",
    "tember", "ober", "ember", "s", "t", "rs", "ur", "es",
];

/// Whether a word is a date, a time or a part of one.
fn is_temporal(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = word.to_ascii_lowercase();
    if let Some((start, end)) = lower.split_at_checked(3)
        && CALENDAR.contains(&start)
        && CALENDAR_ENDS.contains(&end)
    {
        return true;
    }
    let value = word.rsplit('=').next().unwrap_or(word);
    let groups: Vec<&str> =
        value.split(|c: char| !c.is_ascii_digit()).filter(|g| !g.is_empty()).collect();
    let has = |c: char| value.contains(c);
    let sized =
        |sizes: &[usize]| groups.iter().zip(sizes).all(|(group, size)| group.len() <= *size);
    // 12:05, 12:05:09Z
    let time = has(':')
        && groups.len() >= 2
        && groups.iter().rev().take(2).all(|g| g.len() <= 9)
        && groups
            .windows(2)
            .any(|two| matches!(two, [one, other] if one.len() <= 2 && other.len() == 2));
    // 2026-11-17, 17/11/2026, 17.11.2026, 2026-11-17T12:00:00Z
    let date = (has('-') || has('/') || has('.'))
        && groups.len() >= 3
        && groups.iter().take(3).filter(|group| group.len() == 4).count() == 1
        && sized(&[4, 4, 4]);
    // Seconds and milliseconds since 1970, from 2017 on.
    let epoch = matches!(groups.as_slice(), [one] if one.len() == value.len() && (one.len() == 10 || one.len() == 13)
        && one.starts_with('1') && *one >= "15");
    time || date || epoch
}

/// Whether a line says that it is about time.
fn says_time(line: &str) -> bool {
    let line = line.to_lowercase();
    [
        "time",
        "date",
        "clock",
        "today",
        "now:",
        "timestamp",
        "uhr",
        "datum",
        "heure",
        "fecha",
        "hora",
    ]
    .iter()
    .any(|word| line.contains(word))
}

/// Whether both sides have the same lines, or the same items in a line, in another order.
fn is_reordered(texts: Texts<'_>) -> bool {
    let rest = |text: &str| {
        let head = text.get(..text.floor_char_boundary(texts.offset)).unwrap_or_default();
        let start = head.rfind('\n').map_or(0, |at| at + 1);
        text.get(start..).unwrap_or_default().to_owned()
    };
    let (before, after) = (rest(texts.before), rest(texts.after));
    if before == after {
        return false;
    }
    let lines = |text: &str| counted(text.lines().map(|line| line.trim_end_matches(',').trim()));
    if before.lines().nth(1).is_some() && lines(&before) == lines(&after) {
        return true;
    }
    let items = |text: &str| {
        let line = text.lines().next().unwrap_or_default().to_owned();
        let separators = [',', ';', '|', '{', '}', '[', ']'];
        counted(line.split(separators).map(str::trim).filter(|item| !item.is_empty()))
    };
    let before_items = items(&before);
    // The first item carries what stands before the list: `Skills: b`.
    let words = |text: &str| {
        counted(
            text.lines()
                .next()
                .unwrap_or_default()
                .split([',', ' ', ';', '|'])
                .map(str::trim)
                .filter(|item| !item.is_empty()),
        )
    };
    before_items.len() > 2 && (before_items == items(&after) || words(&before) == words(&after))
}

fn counted<'t>(items: impl Iterator<Item = &'t str>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// What to change, for a person.
pub(crate) fn advice(cause: Cause, region: Region) -> &'static str {
    match (cause, region) {
        (Cause::Clock, Region::Messages) => {
            "keep the time of earlier messages as it was; give the current time in the newest message only"
        }
        (Cause::Clock, _) => "move the time into the newest user message, or round it to the day",
        (Cause::Counter, _) => "move the number into the newest user message, or leave it out",
        (Cause::Identifier, _) => {
            "leave the identifier out, keep it for the whole session, or move it into the newest user message"
        }
        (Cause::UnstableOrder, Region::Tools) => "send the tools in a fixed order, such as by name",
        (Cause::UnstableOrder, _) => "sort the list before it is written",
        (Cause::ToolListChanged, _) => {
            "send the same tools with every call; connect MCP servers before the first one"
        }
        (Cause::HistoryRewritten, _) => {
            "append to the messages and leave earlier ones as they are; compact rarely and in one step"
        }
        (Cause::PromptChanged, _) => {
            "move text that changes behind the stable text, or into the newest user message"
        }
        (Cause::BreakpointMissing, _) => {
            "add `cache_control` to the last tool, the last system block and the newest message"
        }
        (Cause::BreakpointMisplaced, _) => {
            "put a `cache_control` at the end of the text that stays the same"
        }
        (Cause::ModelChanged, _) => {
            "stay with one model in a conversation; every model has a cache of its own"
        }
    }
}
