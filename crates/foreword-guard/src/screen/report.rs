//! Collects findings: one per rule and line, a bounded number in all.

use std::collections::BTreeMap;

use crate::screen::page::{Origin, Page, Sighting};
use crate::screen::verdict::{Finding, Verdict};

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
    /// Where each line of the original starts, and its text.
    lines: Vec<(usize, &'a str)>,
    rule: &'static str,
    /// By rule, then line.
    found: BTreeMap<(&'static str, u32), Finding>,
    /// How many findings a rule has, and the strictest verdict among them.
    counts: BTreeMap<&'static str, (usize, Verdict)>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(content: &'a str, page: &'a Page) -> Self {
        let lines = lines(content);
        Self { page, lines, rule: "", found: BTreeMap::new(), counts: BTreeMap::new() }
    }

    /// Attributes the following findings to this rule.
    pub(crate) fn set_rule(&mut self, rule: &'static str) {
        self.rule = rule;
    }

    /// Adds a finding at a sighting.
    pub(crate) fn add(&mut self, verdict: Verdict, sighting: &Sighting, message: &str) {
        let message = match sighting.origin {
            Origin::Written => message.to_owned(),
            Origin::Undisguised => format!("{message} (once its spelling is made plain)"),
            Origin::Decoded => format!("{message} (in encoded or invisible text)"),
        };
        let (text, at) = match self.page.original_offset(sighting) {
            Some(offset) => {
                let (start, text) = self.line(sighting.line);
                (text, offset.saturating_sub(start))
            }
            None => (self.page.unit_text(sighting), self.page.before(sighting).len()),
        };
        self.put(verdict, sighting.line, message, || shorten(text, at));
    }

    /// Adds a finding at a line.
    pub(crate) fn add_line(&mut self, verdict: Verdict, line: u32, message: &str) {
        let (_, text) = self.line(line);
        self.put(verdict, line, message.to_owned(), || shorten(text, 0));
    }

    /// A line of the original, and where it starts.
    fn line(&self, line: u32) -> (usize, &'a str) {
        let at = usize::try_from(line).ok().and_then(|l| l.checked_sub(1));
        at.and_then(|l| self.lines.get(l)).copied().unwrap_or_default()
    }

    fn put(
        &mut self,
        verdict: Verdict,
        line: u32,
        message: String,
        excerpt: impl FnOnce() -> String,
    ) {
        if let Some(known) = self.found.get_mut(&(self.rule, line)) {
            if known.verdict < verdict {
                known.verdict = verdict;
                known.message = message;
            }
            return;
        }
        let run = (1..=PER_RUN).all(|back| {
            line.checked_sub(back).is_some_and(|l| {
                self.found.get(&(self.rule, l)).is_some_and(|f| f.verdict >= verdict)
            })
        });
        let (count, strictest) = self.counts.entry(self.rule).or_insert((0, verdict));
        let stricter = *count == 0 || *strictest < verdict;
        if (run || *count >= PER_RULE) && !stricter {
            return;
        }
        *count += 1;
        *strictest = (*strictest).max(verdict);
        let excerpt = excerpt();
        let rule = self.rule.to_owned();
        let finding = Finding { rule, verdict, file: None, line, excerpt, message };
        self.found.insert((self.rule, line), finding);
    }

    /// The findings by line, the strictest first on a line; the mildest are left out if too many.
    pub(crate) fn finish(self) -> Vec<Finding> {
        // A decoded payload has its own lines; report the line of the original text.
        let last = u32::try_from(self.lines.len().max(1)).unwrap_or(u32::MAX);
        let mut findings: Vec<Finding> = self.found.into_values().collect();
        for finding in &mut findings {
            finding.line = finding.line.min(last);
        }
        if findings.len() > TOTAL {
            findings.sort_by(|a, b| b.verdict.cmp(&a.verdict).then(a.line.cmp(&b.line)));
            findings.truncate(TOTAL);
        }
        findings.sort_by(|a, b| a.line.cmp(&b.line).then(b.verdict.cmp(&a.verdict)));
        findings
    }
}

/// Lines as editors count them: after LF, CRLF and CR. Each with the offset at which it starts.
fn lines(content: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut at = 0;
    for line in content.split('\n') {
        let body = line.strip_suffix('\r').unwrap_or(line);
        let mut start = at;
        for piece in body.split('\r') {
            out.push((start, piece));
            start += piece.len() + 1;
        }
        at += line.len() + 1;
    }
    out
}

/// One line of at most [`EXCERPT`] characters around what starts at `at`, with nothing invisible.
pub(crate) fn shorten(text: &str, at: usize) -> String {
    let mut start = if text.len() <= EXCERPT { 0 } else { at.saturating_sub(30).min(text.len()) };
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut out = String::new();
    let mut length = 0;
    for c in text.get(start..).unwrap_or_default().trim_start().chars() {
        let visible = show(c);
        length += visible.chars().count();
        if length > EXCERPT {
            break;
        }
        out.push_str(&visible);
    }
    out.truncate(out.trim_end().len());
    out
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
