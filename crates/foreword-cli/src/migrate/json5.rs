//! JSON with comments and trailing commas, as several tools accept it in their settings.

use serde_json::Value;

/// Parses JSON, if need be without its comments and trailing commas.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    serde_json::from_str(&plain(text)).map_err(|error| format!("not valid JSON: {error}"))
}

/// The text with comments as spaces and without trailing commas, so that lines stay the same.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_string => {
                out.push(c);
                out.extend(chars.next());
            }
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '/' if !in_string && chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '/' if !in_string && chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if c == '\n' {
                        out.push('\n');
                    }
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            '}' | ']' if !in_string => {
                let end = out.trim_end().len();
                if out.get(..end).is_some_and(|before| before.ends_with(',')) {
                    out.truncate(end - 1);
                }
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
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
        assert!(parse("{a: 1}").unwrap_err().contains("line 1"));
        assert!(parse("{ /* ").is_err());
    }
}
