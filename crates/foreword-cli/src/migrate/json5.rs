//! JSON5, of which several tools accept all or some in their settings: comments, trailing commas, keys without
//! quotes, single quotes, and numbers in more forms. It is rewritten as JSON, line by line, and then parsed.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

/// Parses JSON, or JSON5.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    serde_json::from_str(&plain(text)).map_err(|error| format!("not valid JSON: {error}"))
}

/// The text as JSON. Comments are spaces, so that lines stay the same; what is no JSON5 stays as it is.
fn plain(text: &str) -> String {
    let mut json = Json { out: String::with_capacity(text.len()), open: Vec::new(), is_key: false };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        json.take(c, &mut chars);
    }
    json.out
}

struct Json {
    out: String,
    /// The brackets that are open.
    open: Vec<char>,
    /// Whether a key comes next.
    is_key: bool,
}

impl Json {
    fn take(&mut self, c: char, rest: &mut Peekable<Chars<'_>>) {
        match c {
            '"' | '\'' => self.string(c, rest),
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|c| *c != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => self.comment(rest),
            '{' | '[' => {
                self.open.push(c);
                self.is_key = c == '{';
                self.out.push(c);
            }
            '}' | ']' => {
                self.open.pop();
                self.is_key = false;
                let end = self.out.trim_end().len();
                if self.out.get(..end).is_some_and(|before| before.ends_with(',')) {
                    self.out.truncate(end - 1);
                }
                self.out.push(c);
            }
            ',' => {
                self.is_key = self.open.last() == Some(&'{');
                self.out.push(c);
            }
            ':' => {
                self.is_key = false;
                self.out.push(c);
            }
            c if c.is_alphabetic() || matches!(c, '_' | '$') => self.word(c, rest),
            c if c.is_ascii_digit() || matches!(c, '+' | '-' | '.') => self.number(c, rest),
            c if c.is_ascii() => self.out.push(c),
            c if c.is_whitespace() || c == '\u{feff}' => self.out.push(' '),
            c => self.out.push(c),
        }
    }

    fn comment(&mut self, rest: &mut Peekable<Chars<'_>>) {
        rest.next();
        let mut last = ' ';
        for c in rest.by_ref() {
            if c == '\n' {
                self.out.push('\n');
            }
            if last == '*' && c == '/' {
                break;
            }
            last = c;
        }
        self.out.push(' ');
    }

    /// A string in either kind of quotes, with the escapes that JSON does not have.
    fn string(&mut self, quote: char, rest: &mut Peekable<Chars<'_>>) {
        self.out.push('"');
        while let Some(c) = rest.next() {
            match c {
                c if c == quote => {
                    self.out.push('"');
                    return;
                }
                '"' => self.out.push_str("\\\""),
                '\\' => match rest.next() {
                    Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => {
                        self.out.extend(['\\', c]);
                    }
                    Some('x') => self.out.push_str("\\u00"),
                    Some('v') => self.out.push_str("\\u000b"),
                    Some('0') => self.out.push_str("\\u0000"),
                    // A line that goes on.
                    Some('\r') => _ = rest.next_if_eq(&'\n'),
                    Some('\n' | '\u{2028}' | '\u{2029}') | None => {}
                    Some(c) => self.out.push(c),
                },
                c => self.out.push(c),
            }
        }
    }

    /// A key without quotes, or a word such as `true`.
    fn word(&mut self, first: char, rest: &mut Peekable<Chars<'_>>) {
        let mut word = String::from(first);
        while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            word.push(c);
        }
        match word.as_str() {
            _ if self.is_key => self.out.push_str(&format!("\"{word}\"")),
            "Infinity" | "NaN" => self.out.push_str("null"),
            word => self.out.push_str(word),
        }
    }

    fn number(&mut self, first: char, rest: &mut Peekable<Chars<'_>>) {
        let mut text = String::from(first);
        while let Some(c) =
            rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        {
            text.push(c);
        }
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(&text)),
        };
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let number = match hex.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
            Some(number) => number.to_string(),
            None if matches!(digits, "Infinity" | "NaN") => return self.out.push_str("null"),
            None => {
                let whole = if digits.starts_with('.') { "0" } else { "" };
                let end = if digits.ends_with('.') { "0" } else { "" };
                format!("{whole}{digits}{end}")
            }
        };
        self.out.push_str(sign);
        self.out.push_str(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_passed_over() {
        let text = "{ // a, b\n  \"a\": \"x // no /* no\", /* c\n */ \"b\": [1, 2, ],\n}\n";
        assert_eq!(parse(text).unwrap(), json!({"a": "x // no /* no", "b": [1, 2]}));
        assert_eq!(parse("{\"a\": \"\\\"}\"}").unwrap(), json!({"a": "\"}"}));
        assert!(parse("{a: b}").unwrap_err().contains("line 1"));
        assert!(parse("{ /* ").is_err());
    }

    #[test]
    fn keys_strings_and_numbers_come_in_the_forms_of_json5() {
        let text = "// mine\n{\n  agents: { defaults: { model: 'a/b', $x_1: true, true: null } },\n  \
                    list: ['it\\'s \"x\"', \"a\\\nb\", '\\x41', 0x1F, +1, .5, 5., -2e3, Infinity],\n}\n";
        assert_eq!(
            parse(text).unwrap(),
            json!({
                "agents": {"defaults": {"model": "a/b", "$x_1": true, "true": null}},
                "list": ["it's \"x\"", "ab", "A", 31, 1, 0.5, 5.0, -2e3, null],
            })
        );
    }
}
