//! `hidden-characters`: characters that nobody sees and that will be removed. They come from a paste,
//! or from someone who meant the model to read what the reviewer could not.

use std::fmt::Write as _;

use super::{Desk, Report, Rule};
use crate::fence::invisible::clean;

pub(super) const RULE: Rule =
    Rule { id: "hidden-characters", about: "no text has invisible characters", check };

/// How many different characters a message names.
const MAX_NAMED: usize = 4;

fn check(desk: &Desk<'_>, report: &mut Report) {
    for text in &desk.texts {
        let mut raw = text.document.inspect();
        if text.line(0) == 1 {
            // A byte order mark is a habit of some editors, not a secret.
            raw = raw.strip_prefix('\u{FEFF}').unwrap_or(raw);
        }
        for (index, line) in raw.split_inclusive('\n').enumerate() {
            let (cleaned, removed) = clean(line);
            if removed == 0 {
                continue;
            }
            let plural = if removed == 1 { "" } else { "s" };
            report.warning(
                &text.file,
                text.line(index),
                format!("{removed} hidden character{plural}: {}", names(line, &cleaned)),
                "delete them; the prompt leaves them out anyway",
            );
        }
    }
}

/// The code points that `raw` has and `cleaned` lacks, each once, a few of them.
fn names(raw: &str, cleaned: &str) -> String {
    let mut kept = cleaned.chars().peekable();
    let mut gone: Vec<char> = Vec::new();
    for c in raw.chars() {
        let is_break =
            matches!(c, '\n' | '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        if kept.next_if(|k| *k == c || (is_break && *k == '\n')).is_some() {
            continue;
        }
        if !is_break && !gone.contains(&c) {
            gone.push(c);
            if gone.len() > MAX_NAMED {
                break;
            }
        }
    }
    let mut out = String::new();
    for c in gone.iter().take(MAX_NAMED) {
        let comma = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{comma}U+{:04X}", u32::from(*c));
    }
    if gone.len() > MAX_NAMED {
        out.push_str(" and others");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};
    use crate::fence::text::{Document, Source};

    fn soul(text: &str) -> Vec<String> {
        let mut fixture = Fixture::default();
        fixture.context.identity_files.soul = doc("SOUL.md", text);
        fixture.messages("hidden-characters")
    }

    #[test]
    fn the_line_the_count_and_the_characters() {
        assert_eq!(
            soul("fine\nig\u{200b}no\u{202e}re\u{200b}\r\nfine\n\u{ad}"),
            [
                "SOUL.md:2 3 hidden characters: U+200B, U+202E",
                "SOUL.md:4 1 hidden character: U+00AD"
            ]
        );
        assert_eq!(
            soul("\u{e0041}\u{e0042}\u{e0043}\u{e0044}\u{e0045}\u{e0046}"),
            ["SOUL.md:1 6 hidden characters: U+E0041, U+E0042, U+E0043, U+E0044 and others"]
        );
    }

    #[test]
    fn what_a_script_or_an_emoji_needs_is_not_hidden() {
        for text in ["می‌خواهم", "👩‍👩‍👧‍👦", "a\r\nb\u{2028}c", "plain", "\u{feff}# Soul"]
        {
            assert_eq!(soul(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn a_mark_in_the_middle_of_a_file_is_hidden() {
        let mut fixture = Fixture::default();
        let source = Source { path: "AGENT.md".into(), first_line: 8 };
        fixture.context.persona = Document::new("\u{feff}x").from_source(source);
        assert_eq!(
            fixture.messages("hidden-characters"),
            ["AGENT.md:8 1 hidden character: U+FEFF"]
        );
    }
}
