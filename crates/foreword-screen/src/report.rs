//! Collects findings: one per rule and line, a bounded number in all.

use std::collections::BTreeMap;

use crate::page::{Origin, Page, Sighting};
use crate::verdict::{Finding, Verdict};

/// Findings kept of one rule, and in all.
const PER_RULE: usize = 12;
const TOTAL: usize = 100;
/// Lines in a row with findings of the same rule.
const PER_RUN: u32 = 3;
/// The longest excerpt, in characters.
const EXCERPT: usize = 120;

/// Findings on their way to the caller.
pub(crate) struct Report<'a> {
    page: &'a Page,
    lines: Vec<&'a str>,
    rule: &'static str,
    /// By rule, then line.
    found: BTreeMap<(&'static str, u32), Finding>,
    counts: BTreeMap<&'static str, usize>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(content: &'a str, page: &'a Page) -> Self {
        let lines = lines(content);
        Self { page, lines, rule: "", found: BTreeMap::new(), counts: BTreeMap::new() }
    }

    /// What is added from now on is a finding of this rule.
    pub(crate) fn set_rule(&mut self, rule: &'static str) {
        self.rule = rule;
    }

    /// Adds a finding at a sighting.
    pub(crate) fn add(&mut self, verdict: Verdict, sighting: &Sighting, message: &str) {
        let excerpt = match sighting.origin {
            Origin::Written => None,
            Origin::Undisguised => Some(self.page.unit_text(sighting)),
            Origin::Decoded => Some(self.page.unit_text(sighting)),
        };
        let message = match sighting.origin {
            Origin::Written => message.to_owned(),
            Origin::Undisguised => format!("{message} (once its spelling is made plain)"),
            Origin::Decoded => format!("{message} (in encoded or invisible text)"),
        };
        let excerpt = excerpt.map(|e| shorten(e, self.page.matched(sighting)));
        self.put(verdict, sighting.line, excerpt, Some(self.page.matched(sighting)), message);
    }

    /// Adds a finding at a line.
    pub(crate) fn add_line(&mut self, verdict: Verdict, line: u32, message: &str) {
        self.put(verdict, line, None, None, message.to_owned());
    }

    fn put(
        &mut self,
        verdict: Verdict,
        line: u32,
        excerpt: Option<String>,
        matched: Option<&str>,
        message: String,
    ) {
        if let Some(known) = self.found.get_mut(&(self.rule, line)) {
            if known.verdict < verdict {
                known.verdict = verdict;
                known.message = message;
            }
            return;
        }
        let count = self.counts.entry(self.rule).or_default();
        let run = (1..=PER_RUN).all(|back| {
            line.checked_sub(back).is_some_and(|l| {
                self.found.get(&(self.rule, l)).is_some_and(|f| f.verdict >= verdict)
            })
        });
        let stricter = !self.found.values().any(|f| f.rule == self.rule && f.verdict >= verdict);
        if (run || *count >= PER_RULE) && !stricter {
            return;
        }
        *count += 1;
        let excerpt = excerpt.unwrap_or_else(|| {
            let at = usize::try_from(line).ok().and_then(|l| l.checked_sub(1));
            let text = at.and_then(|l| self.lines.get(l)).copied().unwrap_or_default();
            shorten(text, matched.unwrap_or_default())
        });
        let finding = Finding { rule: self.rule.to_owned(), verdict, line, excerpt, message };
        self.found.insert((self.rule, line), finding);
    }

    /// The findings by line, the strictest first on a line; the mildest are left out if too many.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.found.into_values().collect();
        if findings.len() > TOTAL {
            findings.sort_by(|a, b| b.verdict.cmp(&a.verdict).then(a.line.cmp(&b.line)));
            findings.truncate(TOTAL);
        }
        findings.sort_by(|a, b| a.line.cmp(&b.line).then(b.verdict.cmp(&a.verdict)));
        findings
    }
}

/// Lines as editors count them: after LF, CRLF and CR.
fn lines(content: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for piece in content.split('\n') {
        let piece = piece.strip_suffix('\r').unwrap_or(piece);
        out.extend(piece.split('\r'));
    }
    out
}

/// One line of at most [`EXCERPT`] characters around what matched, with nothing invisible.
fn shorten(text: &str, matched: &str) -> String {
    let first = matched.lines().next().unwrap_or_default().trim();
    let at = if first.is_empty() { 0 } else { text.find(first).unwrap_or(0) };
    let start = if text.len() <= EXCERPT { 0 } else { at.saturating_sub(30) };
    let skipped = text.char_indices().take_while(|(i, _)| *i < start).count();
    let mut out = String::new();
    let mut length = 0;
    for c in text.trim_start().chars().skip(skipped) {
        let visible = show(c);
        length += visible.chars().count();
        if length > EXCERPT {
            break;
        }
        out.push_str(&visible);
    }
    out.trim().to_owned()
}

fn show(c: char) -> String {
    let seen = matches!(c, ' '..='~') || (c.is_alphanumeric() || is_visible_mark(c));
    if seen {
        c.to_string()
    } else if c == '\t' || c == '\n' {
        " ".to_owned()
    } else {
        format!("\\u{{{:x}}}", u32::from(c))
    }
}

/// Punctuation and symbols that have a shape of their own.
fn is_visible_mark(c: char) -> bool {
    !c.is_control()
        && !c.is_whitespace()
        && !matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180E}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}')
}
