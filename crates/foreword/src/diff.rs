//! Diff: where two prompts part, which section did it, and what it costs.
//!
//! A provider bills an unchanged prefix at a fraction. So the question about two prompts is not which
//! lines differ but where the first difference is: everything from there on is billed again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::compile::prompt::{Prompt, digest};
use crate::tokens::estimate::estimate;

/// Characters of an excerpt before and after the first difference.
const EXCERPT: (usize, usize) = (20, 40);

/// One of the two prompts: live, or from a saved build.
///
/// ```
/// use foreword::{Blueprint, Context, Side, diff};
///
/// let prompt = Blueprint::builtin("standard").unwrap().build(&Context::default());
/// let saved = serde_json::to_string(&prompt.manifest()).unwrap();
/// assert!(diff(&Side::from_saved(&saved).unwrap(), &Side::of(&prompt)).identical);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    content: String,
    tokens: u32,
    sections: Vec<Part>,
}

/// A section of a side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Part {
    module: String,
    tokens: u32,
    range: [usize; 2],
}

/// Why a file is not the JSON of a saved build.
///
/// ```
/// use foreword::Side;
///
/// let error = Side::from_saved("{}").unwrap_err();
/// assert!(error.to_string().contains("foreword build --json"), "{error}");
/// ```
#[derive(Debug, Error)]
pub enum DiffError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// JSON of something else.
    #[error("not a saved build: {0}; create one with `foreword build --json`")]
    NotABuild(#[source] serde_json::Error),
    /// A section that its content does not have.
    #[error(
        "not a saved build: section `{module}` has the range {start} to {end}, which is not in order \
         or not in `content`"
    )]
    Range {
        /// The section.
        module: String,
        /// Where it is said to start.
        start: usize,
        /// Where it is said to end.
        end: usize,
    },
    /// The content is not the one that was built.
    #[error("`content` does not match its saved digest; build it again")]
    Altered,
}

#[derive(Deserialize)]
struct Saved {
    content: String,
    metadata: SavedMetadata,
    sections: Vec<Part>,
    digest: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedMetadata {
    estimated_tokens: u32,
}

impl Side {
    /// A prompt that was just built.
    pub fn of(prompt: &Prompt) -> Self {
        let part = |entry: &crate::compile::manifest::SectionEntry<'_>| Part {
            module: entry.module.to_owned(),
            tokens: entry.tokens,
            range: entry.range,
        };
        Self {
            content: prompt.text().to_owned(),
            tokens: prompt.tokens(),
            sections: prompt.manifest().sections.iter().map(part).collect(),
        }
    }

    /// What `foreword build --json` printed. Fields that a later version adds do no harm; a file that
    /// is something else, or was changed by hand, is refused.
    pub fn from_saved(json: &str) -> Result<Self, DiffError> {
        let saved: Saved = serde_json::from_str(json).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => DiffError::NotABuild(error),
            _ => DiffError::NotJson(error),
        })?;
        let mut reached = 0;
        for part in &saved.sections {
            let [start, end] = part.range;
            if start < reached || saved.content.get(start..end).is_none() {
                return Err(DiffError::Range { module: part.module.clone(), start, end });
            }
            reached = end;
        }
        if saved.digest.is_some_and(|saved_as| saved_as != digest(saved.content.as_bytes())) {
            return Err(DiffError::Altered);
        }
        Ok(Self {
            content: saved.content,
            tokens: saved.metadata.estimated_tokens,
            sections: saved.sections,
        })
    }

    /// The whole text.
    pub fn content(&self) -> &str {
        &self.content
    }

    fn text(&self, part: &Part) -> &str {
        let [start, end] = part.range;
        self.content.get(start..end).unwrap_or_default()
    }

    /// The section that has this byte.
    fn section_at(&self, at: usize) -> Option<&Part> {
        self.section_from(at).filter(|part| part.range[0] <= at)
    }

    /// The section that has this byte, or the next one behind it.
    fn section_from(&self, at: usize) -> Option<&Part> {
        let index = self.sections.partition_point(|part| part.range[1] <= at);
        self.sections.get(index)
    }

    /// Tokens from this byte on: whole sections as they were counted, the one that is cut in two by
    /// its share, and a token for each blank line between sections.
    fn tokens_from(&self, at: usize) -> u32 {
        if at == 0 {
            return self.tokens;
        }
        let first = self.sections.partition_point(|part| part.range[1] <= at);
        let behind = self.sections.get(first..).unwrap_or_default();
        let mut tokens = u64::try_from(behind.len().saturating_sub(1)).unwrap_or(u64::MAX);
        for part in behind {
            let counted = u64::from(part.tokens);
            let [start, end] = part.range;
            tokens += if start < at {
                let rest = u64::from(estimate(self.content.get(at..end).unwrap_or_default()));
                let whole = u64::from(estimate(self.text(part))).max(1);
                (counted * rest).div_ceil(whole).min(counted)
            } else {
                counted
            };
        }
        u32::try_from(tokens).unwrap_or(u32::MAX).min(self.tokens)
    }
}

/// What became of a section.
///
/// ```
/// use foreword::{Blueprint, ChangeKind, Context, Side, diff};
///
/// let standard = Blueprint::builtin("standard").unwrap();
/// let before = Side::of(&standard.build(&Context::default()));
/// let context = Context::from_json(r#"{"memories": ["Prefers mornings."]}"#).unwrap();
/// let change = diff(&before, &Side::of(&standard.build(&context))).changes.remove(0);
/// assert_eq!((change.module.as_str(), change.kind), ("memory", ChangeKind::Added));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Only the second prompt has it.
    Added,
    /// Only the first prompt has it.
    Removed,
    /// Its text differs.
    Changed,
    /// Its text is the same and its place among the others is not.
    Moved,
}

/// A section that is not the same in both prompts.
///
/// ```
/// use foreword::{Blueprint, Context, Side, diff};
///
/// let side = |json: &str| {
///     let context = Context::from_json(json).unwrap();
///     Side::of(&Blueprint::builtin("standard").unwrap().build(&context))
/// };
/// let difference = diff(&side("{}"), &side(r#"{"memories": ["Prefers mornings."]}"#));
/// assert_eq!(difference.changes[0].tokens_before, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SectionChange {
    /// The module that wrote it.
    pub module: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// What it cost.
    pub tokens_before: u32,
    /// What it costs.
    pub tokens_after: u32,
}

/// How the second prompt differs from the first.
///
/// ```
/// use foreword::{Blueprint, Context, Side, diff};
///
/// let side = |json: &str| {
///     let context = Context::from_json(json).unwrap();
///     Side::of(&Blueprint::builtin("standard").unwrap().build(&context))
/// };
/// let difference = diff(&side("{}"), &side(r#"{"persona": "You are Pickle."}"#));
/// assert!(!difference.identical && difference.billed_again_tokens > 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The same bytes?
    pub identical: bool,
    /// The first byte that differs, on a character boundary.
    pub first_byte: Option<usize>,
    /// Its line, counted from 1.
    pub line: Option<u32>,
    /// The module whose section differs there: the one that went, where one went, else the second
    /// prompt's.
    pub section: Option<String>,
    /// Bytes that both prompts start with.
    pub kept_bytes: usize,
    /// Tokens of the second prompt from the first difference on.
    pub billed_again_tokens: u32,
    /// Tokens of the first prompt.
    pub tokens_before: u32,
    /// Tokens of the second prompt.
    pub tokens_after: u32,
    /// The first prompt around the difference, on one line.
    pub excerpt_before: Option<String>,
    /// The second prompt around the difference, on one line.
    pub excerpt_after: Option<String>,
    /// The sections that are not the same: in the order of the second prompt, then those removed.
    pub changes: Vec<SectionChange>,
}

/// Compares two prompts.
pub fn diff(a: &Side, b: &Side) -> Difference {
    let first_byte = first_difference(&a.content, &b.content);
    let kept_bytes = first_byte.unwrap_or(b.content.len());
    let line = |at: usize| {
        let before = a.content.as_bytes().get(..at).unwrap_or_default();
        let breaks = memchr::memchr_iter(b'\n', before).count();
        u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1)
    };
    Difference {
        identical: first_byte.is_none(),
        first_byte,
        line: first_byte.map(line),
        section: first_byte.and_then(|at| cause(a, b, at)),
        kept_bytes,
        billed_again_tokens: first_byte.map_or(0, |at| b.tokens_from(at)),
        tokens_before: a.tokens,
        tokens_after: b.tokens,
        excerpt_before: first_byte.map(|at| excerpt(&a.content, at)),
        excerpt_after: first_byte.map(|at| excerpt(&b.content, at)),
        changes: changes(a, b),
    }
}

/// The first byte that differs, rounded down to the start of its character.
fn first_difference(a: &str, b: &str) -> Option<usize> {
    let differs = a.bytes().zip(b.bytes()).position(|(a, b)| a != b);
    let at = match differs {
        Some(at) => at,
        None if a.len() == b.len() => return None,
        None => a.len().min(b.len()),
    };
    Some(a.floor_char_boundary(at))
}

/// The module to name for a difference at this byte. Where one prompt has a section there and the
/// other a gap between sections, the section grew or shrank.
fn cause(a: &Side, b: &Side, at: usize) -> Option<String> {
    let is_gone = |part: &&Part| !b.sections.iter().any(|other| other.module == part.module);
    let part = a
        .section_from(at)
        .filter(is_gone)
        .or_else(|| b.section_at(at))
        .or_else(|| a.section_at(at))
        .or_else(|| b.section_from(at))
        .or_else(|| a.section_from(at))?;
    Some(part.module.clone())
}

fn changes(a: &Side, b: &Side) -> Vec<SectionChange> {
    let mut places: HashMap<(&str, usize), usize> = HashMap::new();
    for (index, key) in keys(a).enumerate() {
        places.insert(key, index);
    }
    let matched: Vec<Option<usize>> = keys(b).map(|key| places.remove(&key)).collect();
    let mut in_order = in_order(&matched.iter().copied().flatten().collect::<Vec<_>>()).into_iter();

    let mut out = Vec::new();
    let mut push = |part: &Part, kind, tokens_before, tokens_after| {
        out.push(SectionChange { module: part.module.clone(), kind, tokens_before, tokens_after });
    };
    for (part, before) in b.sections.iter().zip(&matched) {
        let Some(before) = before.and_then(|index| a.sections.get(index)) else {
            push(part, ChangeKind::Added, 0, part.tokens);
            continue;
        };
        let moved = !in_order.next().unwrap_or(true);
        if a.text(before) != b.text(part) {
            push(part, ChangeKind::Changed, before.tokens, part.tokens);
        } else if moved {
            push(part, ChangeKind::Moved, before.tokens, part.tokens);
        }
    }
    let mut removed: Vec<usize> = places.into_values().collect();
    removed.sort_unstable();
    for part in removed.into_iter().filter_map(|index| a.sections.get(index)) {
        push(part, ChangeKind::Removed, part.tokens, 0);
    }
    out
}

/// The name of each section, and how many of that name came before it.
fn keys(side: &Side) -> impl Iterator<Item = (&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    side.sections.iter().map(move |part| {
        let count = counts.entry(&part.module).or_insert(0);
        *count += 1;
        (part.module.as_str(), *count)
    })
}

/// For each place, does it belong to the longest run that kept its order? The others are the fewest
/// that must have moved.
fn in_order(places: &[usize]) -> Vec<bool> {
    let mut tails: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(places.len());
    for (index, place) in places.iter().enumerate() {
        let length = tails.partition_point(|tail| places.get(*tail).is_some_and(|p| p < place));
        previous.push(length.checked_sub(1).and_then(|shorter| tails.get(shorter).copied()));
        match tails.get_mut(length) {
            Some(tail) => *tail = index,
            None => tails.push(index),
        }
    }
    let mut kept = vec![false; places.len()];
    let mut at = tails.last().copied();
    while let Some(index) = at {
        if let Some(kept) = kept.get_mut(index) {
            *kept = true;
        }
        at = previous.get(index).copied().flatten();
    }
    kept
}

/// The text around a byte on one line, control and hidden characters escaped.
fn excerpt(content: &str, at: usize) -> String {
    let (before, after) = content.split_at_checked(at).unwrap_or((content, ""));
    let start = before.char_indices().rev().take(EXCERPT.0).last().map_or(at, |(start, _)| start);
    let end = after.char_indices().nth(EXCERPT.1).map_or(after.len(), |(end, _)| end);
    let mut out = String::new();
    if start > 0 {
        out.push('…');
    }
    let shown = before.get(start..).unwrap_or_default().chars();
    for c in shown.chain(after.get(..end).unwrap_or_default().chars()) {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
    }
    if end < after.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
