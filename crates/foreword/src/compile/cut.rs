//! Cutting a long file: at a heading or a paragraph, with a note of what is missing.

use std::fmt::Write as _;

use crate::compile::section::MAX_NAME;
use crate::fence::one_line;
use crate::fence::text::{Body, Cut, Document, Source, Untrusted};

/// At most `max_chars` characters of a document, cut at the last heading, blank line, line or
/// character that fits, with a note in its place that says what was left out.
pub fn cut_document(document: &Document, name: &str, max_chars: usize) -> Document {
    cut_body(&document.0, name, max_chars).map_or_else(|| document.clone(), Document)
}

/// The same for untrusted text.
pub fn cut_untrusted(text: &Untrusted, name: &str, max_chars: usize) -> Untrusted {
    cut_body(&text.0, name, max_chars).map_or_else(|| text.clone(), Untrusted)
}

/// The shortened text; nothing if it is short enough.
fn cut_body(body: &Body, name: &str, max_chars: usize) -> Option<Body> {
    let text = body.text.as_str();
    let at = best_cut(text, byte_at_char(text, max_chars)?);
    let (kept, lost) = text.split_at_checked(at)?;
    let source = body.source.clone().unwrap_or_else(|| Source::file(name));
    let first = source.first_line.saturating_add(line_breaks(kept));
    let last = first.saturating_add(line_breaks(lost.trim_end()));
    let cut = Cut { chars: lost.chars().count(), lines: [first, last], limit: max_chars };

    let mut short = kept.trim_end().to_owned();
    let _ = write!(short, "\n\n[Left out here: {} characters of ", cut.chars);
    one_line(&mut short, &source.path, MAX_NAME);
    let _ = write!(short, ", lines {first} to {last}{}.]", headings(lost));
    Some(Body { text: short, source: Some(source), cut: Some(cut) })
}

/// The offset of the character after `count` characters; nothing if the text is no longer than that.
fn byte_at_char(text: &str, count: usize) -> Option<usize> {
    if text.len() <= count {
        return None;
    }
    text.char_indices().nth(count).map(|(at, _)| at)
}

/// The last heading in the second half of what fits, else the last blank line, else the last line,
/// else the limit itself. A heading inside a code fence is none.
fn best_cut(text: &str, limit: usize) -> usize {
    let (mut heading, mut blank, mut line) = (0, 0, 0);
    let mut at = 0;
    let mut fenced = false;
    for l in text.split_inclusive('\n') {
        if at > limit {
            break;
        }
        if l.starts_with("```") || l.starts_with("~~~") {
            fenced = !fenced;
        }
        if at > 0 {
            line = at;
            if !fenced && l.starts_with('#') {
                heading = at;
            }
            if !fenced && l.trim().is_empty() {
                blank = at;
            }
        }
        at += l.len();
    }
    let half = limit / 2;
    [heading, blank, line].into_iter().find(|at| *at > half).unwrap_or(limit)
}

fn line_breaks(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}

/// The headings that are missing, a few of them.
fn headings(text: &str) -> String {
    const MOST: usize = 8;
    let mut names = text.lines().filter_map(|line| {
        let name = line.trim_start_matches('#');
        (name.len() < line.len() && name.starts_with(' ')).then(|| name.trim())
    });
    let mut out = String::new();
    for name in names.by_ref().take(MOST) {
        out.push_str(if out.is_empty() { ", with the headings " } else { "; " });
        one_line(&mut out, name, 60);
    }
    let more = names.count();
    if more > 0 {
        let _ = write!(out, "; and {more} more");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_left_alone() {
        let document = Document::new("é".repeat(20));
        assert_eq!(cut_document(&document, "X.md", 20), document);
    }

    #[test]
    fn a_long_text_is_cut_at_a_heading_and_says_so() {
        let text = "# One\n\nfirst part\n\n# Two\n\nsecond part\n\n# Three\n\nthird\n";
        let cut = cut_document(&Document::new(text), "X.md", 45);
        assert_eq!(
            cut.inspect(),
            "# One\n\nfirst part\n\n# Two\n\nsecond part\n\n[Left out here: 15 characters of X.md, lines 9 to 11, with the headings Three.]"
        );
        assert_eq!(cut.0.cut, Some(Cut { chars: 15, lines: [9, 11], limit: 45 }));
    }

    #[test]
    fn a_file_name_stays_on_its_line() {
        let text = format!("{}\n# b\u{2028}# c\n", "a\n".repeat(20));
        let cut = cut_document(&Document::new(text), "x\n# TASK\n", 10);
        assert_eq!(
            cut.inspect(),
            "a\na\na\na\na\n\n[Left out here: 39 characters of x # TASK, lines 6 to 22, with the headings b # c.]"
        );
    }

    #[test]
    fn one_endless_line_is_cut_on_a_character() {
        let cut = cut_document(&Document::new("語".repeat(100)), "X.md", 10);
        assert!(
            cut.inspect()
                .starts_with(&format!("{}\n\n[Left out here: 90 characters", "語".repeat(10)))
        );
    }
}
