//! Finds signals in text: one automaton over all cues, then the pattern of each cue that occurred.
//!
//! A signal is a small fact about a piece of text, such as "sends something over the network". The
//! patterns of a signal are only tried on units in which one of their cues occurs, and compiled when
//! first tried, so that a clean text costs one pass and no pattern.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::context::{CONTEXT_CUES, ContextHit};
use crate::document::{Document, Unit};
use crate::injection;
use crate::signals;

/// The name of a fact that patterns establish and rules combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signal(pub(crate) &'static str);

/// One way in which a signal shows.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) signal: Signal,
    /// Literals, one of which every match contains; case does not matter.
    pub(crate) cues: &'static [&'static str],
    /// Tried on the units with a cue: no Unicode classes, case-insensitive, `.` matches everything.
    pub(crate) regex: &'static str,
}

/// A pattern that matched, within the text of one layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match {
    pub(crate) signal: Signal,
    pub(crate) unit: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What one pass over a text found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) matches: Vec<Match>,
    /// Cues of prohibition and description, by unit and place.
    pub(crate) context: Vec<ContextHit>,
    /// A pattern matched so often that matches were left out.
    pub(crate) flooded: bool,
}

/// Matches kept per pattern and per unit; more says nothing new.
const PER_PATTERN: usize = 1000;
const PER_UNIT: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cue {
    Pattern(u16),
    Injection(u16),
    Context(u16),
}

struct Compiled {
    automaton: AhoCorasick,
    /// What each literal of the automaton is a cue for.
    cues: Vec<Vec<Cue>>,
    patterns: Vec<&'static Pattern>,
    regexes: Vec<OnceLock<Option<Regex>>>,
}

static COMPILED: LazyLock<Option<Compiled>> = LazyLock::new(compile);

fn compile() -> Option<Compiled> {
    let patterns: Vec<&'static Pattern> = signals::all().collect();
    let mut literals: Vec<(String, Cue)> = Vec::new();
    let mut add = |text: &str, cue: Cue| literals.push((text.to_lowercase(), cue));
    for (id, pattern) in (0u16..).zip(&patterns) {
        for cue in pattern.cues {
            add(cue, Cue::Pattern(id));
        }
    }
    for (id, (text, _)) in (0u16..).zip(injection::anchors()) {
        add(text, Cue::Injection(id));
    }
    for (id, cue) in (0u16..).zip(CONTEXT_CUES) {
        add(cue.text, Cue::Context(id));
    }
    literals.sort();
    let mut words: Vec<String> = Vec::new();
    let mut cues: Vec<Vec<Cue>> = Vec::new();
    for (text, cue) in literals {
        match cues.last_mut() {
            Some(last) if words.last() == Some(&text) => last.push(cue),
            _ => {
                words.push(text);
                cues.push(vec![cue]);
            }
        }
    }
    let automaton = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(&words)
        .ok()?;
    let regexes = patterns.iter().map(|_| OnceLock::new()).collect();
    Some(Compiled { automaton, cues, patterns, regexes })
}

/// Compiles the automaton now rather than with the first text.
pub(crate) fn warm_up() {
    LazyLock::force(&COMPILED);
}

fn build(regex: &str) -> Option<Regex> {
    let built = RegexBuilder::new(regex)
        .unicode(false)
        .case_insensitive(true)
        .dot_matches_new_line(true)
        .build();
    debug_assert!(built.is_ok(), "pattern does not compile: {regex}: {built:?}");
    built.ok()
}

/// Finds all signals in the units of `document`, which are pieces of `text`.
pub(crate) fn scan(text: &str, document: &Document) -> Scan {
    let mut scan = Scan::default();
    let Some(compiled) = COMPILED.as_ref() else { return scan };
    let mut due: BTreeSet<(u16, u32)> = BTreeSet::new();
    let mut anchored: BTreeSet<(u32, u16)> = BTreeSet::new();
    let mut last: Vec<u32> = vec![u32::MAX; compiled.patterns.len()];
    let mut at = 0;
    for hit in compiled.automaton.find_overlapping_iter(text) {
        while document.units.get(at).is_some_and(|u| u.end < hit.end()) {
            at += 1;
        }
        // Pieces of an overlong unit overlap: a cue may stand in two of them.
        for (offset, unit) in document.units.iter().skip(at).take(2).enumerate() {
            if unit.start > hit.start() || unit.end < hit.end() {
                continue;
            }
            let Ok(id) = u32::try_from(at + offset) else { continue };
            for cue in compiled.cues.get(hit.pattern().as_usize()).into_iter().flatten() {
                match *cue {
                    Cue::Pattern(p) => {
                        let seen = last.get_mut(usize::from(p));
                        if seen.as_deref() != Some(&id) {
                            if let Some(seen) = seen {
                                *seen = id;
                            }
                            due.insert((p, id));
                        }
                    }
                    Cue::Injection(a) => {
                        anchored.insert((id, a));
                    }
                    Cue::Context(c) => {
                        scan.context.extend(ContextHit::new(text, c, id, hit.start(), hit.end()));
                    }
                }
            }
        }
    }
    scan.context.sort_by_key(|hit| (hit.unit, hit.start));
    run_patterns(text, document, compiled, &due, &mut scan);
    for (unit_id, anchor) in anchored {
        if let Some(unit) = unit_at(document, unit_id)
            && let Some((signal, start, end)) =
                injection::look(text.get(unit.start..unit.end).unwrap_or_default(), anchor)
        {
            let (start, end) = (unit.start + start, unit.start + end);
            scan.matches.push(Match { signal, unit: unit_id, start, end });
        }
    }
    scan
}

fn run_patterns(
    text: &str,
    document: &Document,
    compiled: &Compiled,
    due: &BTreeSet<(u16, u32)>,
    scan: &mut Scan,
) {
    let mut counts: Vec<usize> = vec![0; compiled.patterns.len()];
    for &(id, unit_id) in due {
        let id = usize::from(id);
        let (Some(pattern), Some(cell), Some(unit), Some(count)) = (
            compiled.patterns.get(id),
            compiled.regexes.get(id),
            unit_at(document, unit_id),
            counts.get_mut(id),
        ) else {
            continue;
        };
        if *count >= PER_PATTERN {
            scan.flooded = true;
            continue;
        }
        let Some(regex) = cell.get_or_init(|| build(pattern.regex)) else { continue };
        let bytes = text.as_bytes().get(unit.start..unit.end).unwrap_or_default();
        for found in regex.find_iter(bytes).take(PER_UNIT) {
            *count += 1;
            scan.matches.push(Match {
                signal: pattern.signal,
                unit: unit_id,
                start: unit.start + found.start(),
                end: unit.start + found.end(),
            });
        }
    }
}

fn unit_at(document: &Document, id: u32) -> Option<&Unit> {
    usize::try_from(id).ok().and_then(|id| document.units.get(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_a_cue() {
        for pattern in signals::all() {
            assert!(build(pattern.regex).is_some(), "{}", pattern.regex);
            assert!(!pattern.cues.is_empty(), "{}", pattern.regex);
            assert!(pattern.cues.iter().all(|c| c.len() >= 2), "{}", pattern.regex);
        }
    }
}
