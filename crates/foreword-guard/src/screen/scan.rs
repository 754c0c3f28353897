//! Finds signals in text: one pass for all cues, then the pattern of each cue that occurred.
//!
//! A signal is a small fact about a piece of text, such as "sends something over the network". The
//! patterns of a signal are only tried on units in which one of their cues occurs, and compiled when
//! first tried, so that a clean text costs one pass and no pattern.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::screen::context::{CONTEXT_CUES, ContextHit};
use crate::screen::cue::{CueId, CueIndex};
use crate::screen::document::{Document, Unit};
use crate::screen::injection;
use crate::screen::policy::Policy;
use crate::screen::signals;

/// The name of a fact that patterns establish and rules combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signal(pub(crate) &'static str);

/// One way in which a signal shows.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) signal: Signal,
    /// Worth trying only in a text in which one of these was seen; none means always.
    pub(crate) needs: &'static [Signal],
    /// Literals, one of which every match contains; case does not matter.
    pub(crate) cues: &'static [&'static str],
    /// Tried on the units with a cue: no Unicode classes, `.` matches everything. Case does not matter
    /// unless a part says `(?-i:…)`.
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

/// The result of one pass over a text.
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

/// A longer match joins words that have nothing to do with each other.
const MAX_MATCH: usize = 400;
/// How often the search starts again behind the beginning of a match that is too long.
const RETRIES: usize = 4;

/// The purpose of a cue.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Pattern(u16),
    Injection(u16),
    Context(u16),
}

struct Compiled {
    index: CueIndex,
    purposes: Vec<Purpose>,
    patterns: Vec<(&'static Pattern, &'static [Policy])>,
    regexes: Vec<OnceLock<Option<Regex>>>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(compile);

fn compile() -> Compiled {
    let patterns: Vec<(&'static Pattern, &'static [Policy])> = signals::all().collect();
    let mut cues: Vec<(String, CueId)> = Vec::new();
    let mut purposes: Vec<Purpose> = Vec::new();
    let mut add = |text: &str, purpose: Purpose| {
        if let Ok(id) = CueId::try_from(purposes.len()) {
            cues.push((text.to_lowercase(), id));
            purposes.push(purpose);
        }
    };
    for (id, (pattern, _)) in (0u16..).zip(&patterns) {
        for cue in pattern.cues {
            add(cue, Purpose::Pattern(id));
        }
    }
    for (id, (text, _)) in (0u16..).zip(injection::anchors()) {
        add(text, Purpose::Injection(id));
    }
    for (id, cue) in (0u16..).zip(CONTEXT_CUES) {
        add(cue.text, Purpose::Context(id));
    }
    let regexes = patterns.iter().map(|_| OnceLock::new()).collect();
    Compiled { index: CueIndex::new(cues), purposes, patterns, regexes }
}

/// Builds the index of cues now rather than with the first text.
pub(crate) fn warm_up() {
    LazyLock::force(&COMPILED);
}

/// Builds a pattern for the lower-case text, or for the text as it is if case matters in it.
///
/// The cues have filtered already, so the engine does without a prefilter of its own: that is most
/// of the time that building one takes.
fn build(regex: &str) -> Option<Regex> {
    let config = Config::new()
        .utf8_empty(false)
        .auto_prefilter(false)
        .onepass(false)
        .dfa(false)
        .which_captures(WhichCaptures::Implicit);
    let syntax = syntax::Config::new()
        .unicode(false)
        .utf8(false)
        .dot_matches_new_line(true)
        .case_insensitive(is_cased(regex));
    let mut builder = Regex::builder();
    builder.configure(config).syntax(syntax);
    let built =
        if is_cased(regex) { builder.build(regex) } else { builder.build(&lower_case(regex)) };
    debug_assert!(built.is_ok(), "pattern does not compile: {regex}: {built:?}");
    built.ok()
}

/// Whether case matters in a part of a pattern.
fn is_cased(regex: &str) -> bool {
    regex.contains("(?-i:")
}

/// The pattern in lower case, apart from escapes such as `\S`.
fn lower_case(regex: &str) -> String {
    let mut escaped = false;
    let lower = regex.chars().map(|c| {
        let keep = escaped;
        escaped = !keep && c == '\\';
        if keep { c } else { c.to_ascii_lowercase() }
    });
    lower.collect()
}

/// Finds all signals in the units of `document`, which are pieces of `text`.
pub(crate) fn scan(text: &str, document: &Document, policy: Policy) -> Scan {
    let mut scan = Scan::default();
    let compiled = &*COMPILED;
    let lower = text.to_ascii_lowercase();
    let mut due: Vec<Vec<u32>> = vec![Vec::new(); compiled.patterns.len()];
    let mut anchored: BTreeSet<(u32, u16)> = BTreeSet::new();
    let mut at = 0;
    compiled.index.each(lower.as_bytes(), |cue, start, end| {
        while document.units.get(at).is_some_and(|u| u.end <= start) {
            at += 1;
        }
        let Some(purpose) = compiled.purposes.get(usize::from(cue)) else { return };
        // Pieces of an overlong unit overlap, so a cue may be in two of them.
        for (offset, unit) in document.units.iter().skip(at).take(2).enumerate() {
            if unit.start > start || unit.end < end {
                continue;
            }
            let Ok(id) = u32::try_from(at + offset) else { continue };
            match *purpose {
                Purpose::Pattern(p) => {
                    if let Some(units) = due.get_mut(usize::from(p))
                        && units.last() != Some(&id)
                    {
                        units.push(id);
                    }
                }
                Purpose::Injection(a) => {
                    anchored.insert((id, a));
                }
                Purpose::Context(c) => {
                    scan.context.extend(ContextHit::new(text, c, id, start, end));
                }
            }
        }
    });
    scan.context.sort_by_key(|hit| (hit.unit, hit.start));
    run_patterns(text, &lower, document, &mut due, policy, &mut scan);
    for (unit_id, anchor) in anchored {
        if let Some(unit) = unit_at(document, unit_id)
            && let Some((signal, start, end)) =
                injection::look(lower.get(unit.start..unit.end).unwrap_or_default(), anchor)
        {
            let (start, end) = (unit.start + start, unit.start + end);
            scan.matches.push(Match { signal, unit: unit_id, start, end });
        }
    }
    scan
}

/// Tries patterns on the units with their cues; those that need other signals, after those.
fn run_patterns(
    text: &str,
    lower: &str,
    document: &Document,
    due: &mut [Vec<u32>],
    policy: Policy,
    scan: &mut Scan,
) {
    let compiled = &*COMPILED;
    let mut seen: BTreeSet<Signal> = BTreeSet::new();
    // Needs are at most two deep.
    for _ in 0..3 {
        for (id, units) in due.iter_mut().enumerate().filter(|(_, units)| !units.is_empty()) {
            let Some((pattern, policies)) = compiled.patterns.get(id) else { continue };
            let needed = pattern.needs.is_empty() || pattern.needs.iter().any(|n| seen.contains(n));
            if !needed || !policies.contains(&policy) {
                continue;
            }
            let Some(cell) = compiled.regexes.get(id) else { continue };
            let Some(regex) = cell.get_or_init(|| build(pattern.regex)) else { continue };
            let text = if is_cased(pattern.regex) { text } else { lower };
            let mut count = 0;
            let mut last = None;
            for unit_id in std::mem::take(units) {
                if last.replace(unit_id) == Some(unit_id) {
                    continue;
                }
                if count >= PER_PATTERN {
                    scan.flooded = true;
                    break;
                }
                let Some(unit) = unit_at(document, unit_id) else { continue };
                for (start, end) in find(regex, text.as_bytes(), unit) {
                    count += 1;
                    seen.insert(pattern.signal);
                    scan.matches.push(Match { signal: pattern.signal, unit: unit_id, start, end });
                }
            }
        }
    }
}

/// The matches in one unit, as places in the whole text; a few at most.
fn find(regex: &Regex, text: &[u8], unit: &Unit) -> Vec<(usize, usize)> {
    let Some(body) = text.get(unit.start..unit.end) else { return Vec::new() };
    let mut found = Vec::new();
    let mut from = 0;
    let mut retries = 0;
    while found.len() < PER_UNIT && from <= body.len() {
        let input = Input::new(body).range(from..).anchored(Anchored::No);
        let Some(m) = regex.search(&input) else { break };
        if m.len() > MAX_MATCH {
            retries += 1;
            if retries > RETRIES {
                break;
            }
            from = m.start() + 1;
            continue;
        }
        found.push((unit.start + m.start(), unit.start + m.end()));
        from = m.end().max(m.start() + 1);
    }
    found
}

fn unit_at(document: &Document, id: u32) -> Option<&Unit> {
    usize::try_from(id).ok().and_then(|id| document.units.get(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_a_cue() {
        for (pattern, _) in signals::all() {
            assert!(build(pattern.regex).is_some(), "{}", pattern.regex);
            assert!(!pattern.cues.is_empty(), "{}", pattern.regex);
            for cue in pattern.cues {
                let word = cue.trim_start_matches(|c: char| !c.is_alphanumeric());
                assert!(word.chars().count() >= 2, "{cue} of {}", pattern.regex);
            }
        }
    }
}
