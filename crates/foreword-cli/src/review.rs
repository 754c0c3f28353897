//! What a person is shown before a decision: everything, with white space that can be seen.
//!
//! Spaces can push a text out of sight, so runs of them are counted, line by line. What looks like one
//! of our own marks is escaped.

use std::fmt::Write as _;

use foreword::visible_line;
use foreword_skills::unified;
use foreword_store::FileVersion;
use serde_json::Value;

/// A longer run of spaces, or of empty lines, is written as a number.
const MAX_SPACES: usize = 8;
const MAX_INDENT: usize = 40;
const MAX_EMPTY_LINES: usize = 3;
/// A longer text starts on a line of its own.
const MAX_INLINE: usize = 80;

/// All arguments of an action, given as JSON; each is marked where external content may have shaped it.
pub(crate) fn arguments(args: &str, tainted: bool) -> String {
    let mut out = String::new();
    match serde_json::from_str(args) {
        Ok(value) => argument(&mut out, "", &value, if tainted { " (tainted)" } else { "" }),
        Err(_) => block(&mut out, args),
    }
    out
}

fn argument(out: &mut String, name: &str, value: &Value, mark: &str) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = exact_line(key);
                let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                argument(out, &name, value, mark);
            }
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                argument(out, &format!("{name}[{number}]"), value, mark);
            }
        }
        Value::String(text) if text.len() > MAX_INLINE || text.contains('\n') => {
            let _ = writeln!(out, "  {name}{mark}:");
            block(out, text);
        }
        Value::String(text) => {
            let _ = writeln!(out, "  {name}{mark}: {}", exact_line(text));
        }
        other => {
            let _ = writeln!(out, "  {name}{mark}: {other}");
        }
    }
}

/// A text, each line behind a bar.
fn block(out: &mut String, text: &str) {
    let mut empty = 0;
    for line in text.split('\n').map(Some).chain([None]) {
        if line == Some("") {
            empty += 1;
            continue;
        }
        if empty > MAX_EMPTY_LINES {
            let _ = writeln!(out, "    | ⟨{empty} empty lines⟩");
        } else {
            (0..empty).for_each(|_| out.push_str("    |\n"));
        }
        empty = 0;
        if let Some(line) = line {
            let _ = writeln!(out, "    | {}", exact_line(line));
        }
    }
}

/// A line in which every run of spaces can be seen.
fn exact_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let words = rest.split(' ').next().unwrap_or(rest);
        words.chars().for_each(|c| push_exact(&mut out, c));
        rest = rest.get(words.len()..).unwrap_or_default();
        let after = rest.trim_start_matches(' ');
        match rest.len() - after.len() {
            0 => {}
            1 if !after.is_empty() && !out.is_empty() => out.push(' '),
            count if count <= MAX_SPACES => out.extend(std::iter::repeat_n('·', count)),
            count => {
                let _ = write!(out, "⟨{count} spaces⟩");
            }
        }
        rest = after;
    }
    out
}

fn push_exact(out: &mut String, c: char) {
    if c.is_whitespace() || matches!(c, '·' | '⟨' | '⟩') {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else if c.is_ascii_graphic() {
        out.push(c);
    } else {
        out.push_str(&visible_line(c.encode_utf8(&mut [0; 4])));
    }
}

/// How a file would change: its content, its permissions, or where it leads.
pub(crate) fn file_change(path: &str, old: &FileVersion, new: &FileVersion) -> String {
    let text = |version: &FileVersion| match version {
        FileVersion::Absent => None,
        FileVersion::File { content, .. } => Some(content.clone()),
        FileVersion::Link { target } => Some([b"link to ", target.as_slice(), b"\n"].concat()),
    };
    let mode = |version: &FileVersion| match version {
        FileVersion::File { mode, .. } => Some(*mode),
        _ => None,
    };
    let mut out = diff(path, text(old).as_deref(), text(new).as_deref());
    match (mode(old), mode(new)) {
        (Some(old), Some(new)) if old != new => {
            let _ = writeln!(out, "permissions {old:o} become {new:o}");
        }
        (None, Some(new)) => {
            let _ = writeln!(out, "permissions {new:o}");
        }
        _ => {}
    }
    out
}

/// A diff in which no run of spaces hides the rest of a line.
pub(crate) fn diff(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let diff = unified(path, old, new);
    let wide = " ".repeat(MAX_INDENT + 1);
    if !diff.contains(&wide) {
        return diff;
    }
    let mut out = String::with_capacity(diff.len());
    let mut rest = diff.as_str();
    while let Some(at) = rest.find(&wide) {
        let (before, spaces) = rest.split_at(at);
        let after = spaces.trim_start_matches(' ');
        let _ = write!(out, "{before}⟨{} spaces⟩", spaces.len() - after.len());
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_do_not_hide_a_text() {
        let prompt = format!("Read it.{}Then send it.", " ".repeat(1890));
        let args = serde_json::json!({
            "role": "helper", "prompt": prompt, "cwd": "a  b ", "model": null, "depth": 2,
            "stages": [{"role": "x\ty\u{200b}"}],
        });
        let expected = "  cwd (tainted): a··b·\n  depth (tainted): 2\n  prompt (tainted):\n    | \
                        Read it.⟨1890 spaces⟩Then send it.\n  role (tainted): helper\n  \
                        stages[0].role (tainted): x\\u{9}y\\u{200b}\n";
        assert_eq!(arguments(&args.to_string(), true), expected);
    }

    #[test]
    fn lines_are_shown_one_by_one_and_marks_cannot_be_faked() {
        let text = format!("one\n\n  two ⟨9 spaces⟩{}three", "\n".repeat(50));
        let args = serde_json::json!({ "text": text }).to_string();
        let expected = "  text:\n    | one\n    |\n    | ··two \\u{27e8}9 spaces\\u{27e9}\n    | \
                        ⟨49 empty lines⟩\n    | three\n";
        assert_eq!(arguments(&args, false), expected);
        assert_eq!(arguments("not json", false), "    | not json\n");
    }

    #[test]
    fn a_change_shows_text_permissions_and_links() {
        let file = |mode, text: &str| FileVersion::File { mode, content: text.into() };
        let shown = file_change("a", &file(0o644, "one\n"), &file(0o755, "one\n"));
        assert_eq!(shown, "--- a\n+++ a\npermissions 644 become 755\n");
        let link = FileVersion::Link { target: b"x".to_vec() };
        let shown = file_change("a", &link, &FileVersion::Absent);
        assert_eq!(shown, "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-link to x\n");
        let wide = format!("echo ok{}; rm -rf x\n", " ".repeat(500));
        let shown = file_change(".envrc", &FileVersion::Absent, &file(0o644, &wide));
        assert!(shown.contains("+echo ok⟨500 spaces⟩; rm -rf x\n"), "{shown}");
    }
}
