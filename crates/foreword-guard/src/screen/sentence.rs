//! Sentences: the reach of a prohibition, and the unit in which an instruction is read.

/// Abbreviations after which a full stop ends nothing.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "no", "incl"];

/// The sentences of a paragraph, as byte ranges that cover it.
pub(crate) fn split_sentences(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'`' {
            in_code = !in_code;
        }
        if in_code && at - start < 400 {
            continue;
        }
        let ends = match byte {
            b'.' | b'!' | b'?' => ends_here(text, start, at),
            b';' => matches!(bytes.get(at + 1), Some(b' ' | b'\n')),
            // The last byte of the ideographic full stop and of its full-width sisters is not
            // looked at alone: folding turned those sisters into ASCII.
            0x82 => text.get(at.saturating_sub(2)..=at) == Some("。"),
            0xA4 => text.get(at.saturating_sub(2)..=at) == Some("।"),
            _ => false,
        };
        if ends {
            sentences.push((start, at + 1));
            start = at + 1;
            in_code = false;
        }
    }
    if text.get(start..).is_some_and(|rest| !rest.trim().is_empty()) {
        sentences.push((start, text.len()));
    } else if let Some(last) = sentences.last_mut() {
        last.1 = text.len();
    }
    sentences
}

/// Whether the mark at `at` ends a sentence: blank space follows, then something that can begin one.
fn ends_here(text: &str, start: usize, at: usize) -> bool {
    let Some(rest) = window(text, at + 1) else { return false };
    let rest = rest.trim_start_matches(['"', '\'', ')', '*', '_', '`', '.', '!', '?']);
    if !rest.starts_with(char::is_whitespace) {
        return rest.is_empty();
    }
    let next = rest.trim_start().trim_start_matches(['"', '\'', '(', '*', '_', '`', '[']);
    let begins = next.chars().next().is_none_or(|c| !c.is_lowercase() || !c.is_ascii());
    if !begins && !rest.starts_with('\n') {
        return false;
    }
    let mut from = at.saturating_sub(32).max(start);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..at).unwrap_or_default();
    let word = before.rsplit([' ', '\n', '(']).next().unwrap_or_default();
    if before.trim().bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    !ABBREVIATIONS.iter().any(|a| word.eq_ignore_ascii_case(a))
}

/// A few bytes from `from` on: what follows a mark is decided nearby, or not at all.
fn window(text: &str, from: usize) -> Option<&str> {
    let mut to = text.len().min(from + 64);
    while !text.is_char_boundary(to) {
        to += 1;
    }
    text.get(from..to)
}
