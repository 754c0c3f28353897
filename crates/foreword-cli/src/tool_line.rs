//! A tool call on one line, and the first lines of its result.

use std::fmt::Write as _;

use serde_json::Value;

use crate::terminal::{counted, plain_line};

/// Lines of a result that are shown.
const MAX_LINES: usize = 3;
const MAX_LINE: usize = 120;
const MAX_VALUE: usize = 100;
const MAX_OTHER: usize = 40;

/// Arguments that say what a call is about, the most telling first.
const TELLING: [&str; 14] = [
    "command",
    "path",
    "file_path",
    "pattern",
    "query",
    "url",
    "skill",
    "name",
    "role",
    "title",
    "prompt",
    "text",
    "content",
    "id",
];

/// Fields that name an item of a list, the most telling first.
const NAMING: [&str; 6] = ["name", "title", "text", "skill", "path", "id"];

/// A call: its tool, what it is about, and its other arguments.
pub(crate) fn call(name: &str, input: &Value) -> String {
    let mut line = format!("→ {}", plain_line(name, 60));
    let Some(fields) = input.as_object() else {
        if !input.is_null() {
            let _ = write!(line, " {}", plain_line(&input.to_string(), MAX_VALUE));
        }
        return line;
    };
    let telling = TELLING.iter().find(|key| fields.get(**key).is_some_and(Value::is_string));
    if let Some(value) = telling.and_then(|key| fields.get(*key)).and_then(Value::as_str) {
        let _ = write!(line, " {}", plain_line(value, MAX_VALUE));
    }
    for (key, value) in fields.iter().filter(|(key, _)| Some(&key.as_str()) != telling) {
        let value = match value {
            Value::Null => continue,
            Value::String(text) => plain_line(text, MAX_OTHER),
            other => plain_line(&other.to_string(), MAX_OTHER),
        };
        let _ = write!(line, "  {}={value}", plain_line(key, MAX_OTHER));
    }
    plain_line_keeping(&line)
}

/// The first lines of a result, and how many more there are. The answer of an action is JSON, which is shown
/// as lines that read like text.
pub(crate) fn result(content: &str, is_error: bool) -> String {
    let readable = match serde_json::from_str(content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Some(readable(&value)),
        _ => None,
    };
    let content = readable.as_deref().unwrap_or(content);
    let mut lines = content.lines().filter(|line| !line.trim().is_empty());
    let mut out = String::new();
    for (number, line) in lines.by_ref().take(MAX_LINES).enumerate() {
        let mark = if number == 0 && is_error { "failed: " } else { "" };
        let _ = writeln!(out, "  │ {mark}{}", plain_line(line, MAX_LINE));
    }
    let more = u64::try_from(lines.count()).unwrap_or(u64::MAX);
    if more > 0 {
        let _ = writeln!(out, "  │ … {}", counted(more, "more line"));
    }
    out.truncate(out.trim_end().len());
    out
}

/// JSON as lines: short values together on one, then texts and lists, an item to a line.
fn readable(value: &Value) -> String {
    let mut out = String::new();
    let Value::Object(fields) = value else {
        items(value, &mut out);
        return out;
    };
    let is_short = |value: &Value| match value {
        Value::String(text) => !text.is_empty() && text.len() <= MAX_OTHER && !text.contains('\n'),
        Value::Bool(_) | Value::Number(_) => true,
        _ => false,
    };
    let short: Vec<String> = fields
        .iter()
        .filter(|(_, value)| is_short(value))
        .map(|(key, value)| format!("{key}: {}", plain(value)))
        .collect();
    out.push_str(&short.join(", "));
    out.push('\n');
    for (key, value) in fields.iter().filter(|(_, value)| !is_short(value)) {
        match value {
            Value::String(text) if text.contains('\n') => {
                let _ = writeln!(out, "{key}:\n{text}");
            }
            Value::String(text) if !text.is_empty() => {
                let _ = writeln!(out, "{key}: {text}");
            }
            Value::Array(list) if list.is_empty() => {
                let _ = writeln!(out, "{key}: none");
            }
            Value::Array(list) => {
                let _ = writeln!(out, "{}:", counted_key(list.len(), key));
                items(value, &mut out);
            }
            Value::Object(_) => {
                let _ = writeln!(out, "{key}: {}", item(value));
            }
            _ => {}
        }
    }
    out
}

/// `3 skills`, and `1 skill`.
fn counted_key(count: usize, key: &str) -> String {
    match key.strip_suffix('s') {
        Some(one) => counted(u64::try_from(count).unwrap_or(u64::MAX), one),
        None => format!("{count} {key}"),
    }
}

fn items(list: &Value, out: &mut String) {
    for value in list.as_array().into_iter().flatten() {
        let _ = writeln!(out, "- {}", item(value));
    }
}

/// One value on one line: what it is about first.
fn item(value: &Value) -> String {
    let Value::Object(fields) = value else { return plain(value) };
    let telling = NAMING.iter().find(|key| fields.get(**key).is_some_and(Value::is_string));
    let mut parts: Vec<String> =
        telling.and_then(|key| fields.get(*key)).map(plain).into_iter().collect();
    for (key, value) in fields.iter().filter(|(key, _)| Some(&key.as_str()) != telling) {
        match value {
            Value::Null | Value::Array(_) | Value::Object(_) => {}
            value => parts.push(format!("{key}: {}", plain(value))),
        }
    }
    parts.join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => plain_line(text, MAX_VALUE),
        other => plain_line(&other.to_string(), MAX_VALUE),
    }
}

/// The line, cut to a length that fits most terminals.
fn plain_line_keeping(line: &str) -> String {
    const MAX: usize = 200;
    if line.chars().count() <= MAX {
        return line.to_owned();
    }
    line.chars().take(MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_reads_like_a_command() {
        assert_eq!(call("list", &json!({"path": "."})), "→ list .");
        assert_eq!(
            call("edit", &json!({"path": "a.rs", "old": "x\ny", "all": true})),
            "→ edit a.rs  all=true  old=x y"
        );
        assert_eq!(call("bash", &json!({"command": "ls\n-l"})), "→ bash ls -l");
        assert_eq!(call("taskless", &json!({})), "→ taskless");
        assert_eq!(call("odd", &json!("text\u{1b}[2J")), "→ odd \"text\\u001b[2J\"");
        assert!(call("w", &json!({"content": "x".repeat(9000)})).chars().count() <= 200);
    }

    #[test]
    fn a_result_shows_its_first_lines() {
        assert_eq!(
            result("one\n\ntwo\nthree\nfour\nfive\n", false),
            "  │ one\n  │ two\n  │ three\n  │ … 2 more lines"
        );
        assert_eq!(result("no such file", true), "  │ failed: no such file");
        assert_eq!(result("", false), "");
    }

    #[test]
    fn the_answer_of_an_action_is_no_json() {
        let listed = json!({"skills": [
            {"name": "tea", "approved": true, "description": "Make tea", "path": null},
            {"name": "pie", "approved": false, "path": "skills/pie.md"},
        ]});
        assert_eq!(
            result(&listed.to_string(), false),
            "  │ 2 skills:\n  │ - tea, approved: true, description: Make tea\n  │ - pie, approved: \
             false, path: skills/pie.md"
        );
        let read =
            json!({"name": "tea", "approval": "trusted", "content": "# Tea\n\nBoil.\nPour.\n"});
        assert_eq!(
            result(&read.to_string(), false),
            "  │ approval: trusted, name: tea\n  │ content:\n  │ # Tea\n  │ … 2 more lines"
        );
        assert_eq!(result(&json!({"tasks": []}).to_string(), false), "  │ tasks: none");
        assert_eq!(result(r#"{"recorded":true}"#, false), "  │ recorded: true");
        assert_eq!(result(r#"["a", {"id": "x", "n": 1}]"#, false), "  │ - a\n  │ - x, n: 1");
        assert_eq!(result("12", false), "  │ 12");
        let deep = "[".repeat(200_000);
        assert!(result(&deep, false).starts_with("  │ [[["));
    }
}
