//! What a program says to people: its comments and docstrings.

use super::Language;

/// What opens a comment up to the end of its line, and what opens and closes a longer one.
type Signs = (&'static [&'static str], &'static [(&'static str, &'static str)]);

fn signs(language: Language) -> Signs {
    match language {
        // Batch files too.
        Language::Shell => (&["#", "::", "rem ", "REM "], &[]),
        Language::Python => (&["#"], &[("\"\"\"", "\"\"\""), ("'''", "'''")]),
        Language::JavaScript | Language::TypeScript | Language::Tsx => (&["//"], &[("/*", "*/")]),
        Language::PowerShell => (&["#"], &[("<#", "#>")]),
        Language::Ruby => (&["#"], &[("=begin", "=end")]),
        Language::Loose(dialect) => (dialect.signs().lines, dialect.signs().blocks),
    }
}

/// The comments of a program, each on its own line; every other line is empty.
///
/// A comment stands at the start of a line or behind a space. Quotes are not looked at: a text that
/// holds such a sign is read too.
pub(crate) fn comments(language: Language, text: &str) -> String {
    let (lines, blocks) = signs(language);
    let mut out = String::new();
    let mut closes: Option<&str> = None;
    for line in text.lines() {
        let mut rest = line;
        loop {
            if let Some(close) = closes {
                let (inside, after) = match rest.split_once(close) {
                    Some((inside, after)) => (inside, Some(after)),
                    None => (rest, None),
                };
                out.push_str(inside.trim().trim_start_matches('*'));
                let Some(after) = after else { break };
                closes = None;
                rest = after;
            }
            let opens = |sign: &str| {
                let starts = rest.match_indices(sign).map(|(at, _)| at);
                starts.into_iter().find(|at| {
                    rest.get(..*at).is_some_and(|b| b.is_empty() || b.ends_with([' ', '\t', ';']))
                })
            };
            let block = blocks
                .iter()
                .filter_map(|(open, close)| Some((opens(open)?, open.len(), Some(*close))));
            let single = lines.iter().filter_map(|sign| Some((opens(sign)?, sign.len(), None)));
            // The longer sign of two at one place: `--[[` is no `--`.
            let first =
                block.chain(single).min_by_key(|(at, length, _)| (*at, usize::MAX - length));
            let Some((at, length, close)) = first else { break };
            rest = rest.get(at + length..).unwrap_or_default();
            if close.is_none() {
                out.push_str(rest.trim());
                break;
            }
            closes = close;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::code::language::Dialect;

    #[test]
    fn only_comments_are_left_at_their_lines() {
        let of = |language, text: &str| comments(language, text);
        let go = "package a // first\n/* more\n * lines */ var u = \"http://a.test\"\n";
        assert_eq!(
            of(Language::Loose(Dialect::C), go),
            "first\nmore\nlines\n".replace("lines", " lines")
        );
        let lua = "--[[ one\ntwo ]] x = 1 -- three\n";
        assert_eq!(of(Language::Loose(Dialect::Lua), lua), "one\ntwothree\n");
        let python = "def a():\n    \"\"\"Says it.\"\"\"\n    return 1  # one\n";
        assert_eq!(of(Language::Python, python), "\nSays it.\none\n");
        assert_eq!(of(Language::Shell, "@echo off\nREM hello\n"), "\nhello\n");
    }
}
