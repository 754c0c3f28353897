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

fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = None;
    for c in text.chars() {
        // The empty Braille cell is text in Braille, and nothing to see for everyone else.
        let hidden = c.is_control() || c == '\u{2800}' || Invisible::of(c).is_some();
        let emoji_form = matches!(c, '\u{FE0E}' | '\u{FE0F}') && previous.is_some_and(is_emoji);
        if hidden && !emoji_form && !stays(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
        previous = Some(c);
    }
    out
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
}
