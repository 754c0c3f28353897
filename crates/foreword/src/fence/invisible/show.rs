//! Text as it is shown for a decision: invisible characters are written out.

use std::fmt::Write as _;

use crate::fence::invisible::is_emoji;
use crate::fence::invisible::table::Invisible;

/// Text in which every invisible character is written as `\u{…}`, so that what a person approves is
/// what is there. Line feeds and tabs stay, and so does the selector of an emoji's own form.
#[must_use]
pub fn visible(text: &str) -> String {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// The same on one line: line feeds and tabs are written out as well.
#[must_use]
pub fn visible_line(text: &str) -> String {
    escape(text, |_| false)
}

/// The start of a text on one line: at most so many characters as shown, with `…` behind what was cut. An
/// invisible character is written out whole or not at all.
#[must_use]
pub fn visible_start(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    let mut previous = None;
    for c in text.chars() {
        let before = out.len();
        push(&mut out, c, previous, |_| false);
        length += out.get(before..).unwrap_or_default().chars().count();
        if length > most {
            out.truncate(before);
            out.push('…');
            break;
        }
        previous = Some(c);
    }
    out
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = None;
    for c in text.chars() {
        push(&mut out, c, previous, &stays);
        previous = Some(c);
    }
    out
}

fn push(out: &mut String, c: char, previous: Option<char>, stays: impl Fn(char) -> bool) {
    // The empty Braille cell is text in Braille, and nothing to see for everyone else.
    let hidden = c.is_control() || c == '\u{2800}' || Invisible::of(c).is_some();
    let emoji_form = matches!(c, '\u{FE0E}' | '\u{FE0F}') && previous.is_some_and(is_emoji);
    if hidden && !emoji_form && !stays(c) {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_written_out() {
        assert_eq!(
            visible("a\u{3164}b\u{200b}\u{2028}\u{1b}\u{fe0f}\u{2800}"),
            "a\\u{3164}b\\u{200b}\\u{2028}\\u{1b}\\u{fe0f}\\u{2800}"
        );
        assert_eq!(visible("⚠\u{fe0f} é\tü\n"), "⚠\u{fe0f} é\tü\n");
        assert_eq!(visible_line("a\tb\r\n"), "a\\u{9}b\\u{d}\\u{a}");
    }

    #[test]
    fn a_start_is_counted_as_it_is_shown() {
        assert_eq!(visible_start("short", 5), "short");
        assert_eq!(visible_start("longer", 5), "longe…");
        assert_eq!(visible_start("", 0), "");
        assert_eq!(visible_start("a", 0), "…");
        assert_eq!(visible_start("a\u{11}b", 6), "a…", "no half of an escape");
        assert_eq!(visible_start("a\u{11}b", 7), "a\\u{11}…");
        assert_eq!(visible_start(&"\u{e0041}".repeat(1000), 60).chars().count(), 55);
    }
}
