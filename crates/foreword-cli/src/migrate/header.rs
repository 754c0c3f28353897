//! Headers as other tools write and accept them. They are often not valid YAML: a Claude Code description
//! may contain unquoted colons and quotes. So a header is split at its keys, by line, and a value is
//! whatever follows a key. Only the headers that we write are strict.

/// A markdown file, split into header and body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Keys in order, each with its lines including its own. Empty without a header.
    entries: Vec<(&'a str, Vec<&'a str>)>,
    pub(super) body: &'a str,
}

/// A header without an end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unclosed;

/// Splits a file into header and body.
pub(super) fn split(text: &str) -> Result<Parts<'_>, Unclosed> {
    let fence = |line: &str| line.trim_end() == "---";
    let mut rest = text;
    let mut next = || {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let ended = rest.is_empty();
        rest = after;
        (!ended).then_some((line, after))
    };
    if !next().is_some_and(|(line, _)| fence(line)) {
        return Ok(Parts { entries: Vec::new(), body: text });
    }
    let mut entries: Vec<(&str, Vec<&str>)> = Vec::new();
    while let Some((line, after)) = next() {
        if fence(line) {
            return Ok(Parts { entries, body: after.trim_start_matches(['\n', '\r']) });
        }
        match (key_of(line), entries.last_mut()) {
            (Some(key), _) => entries.push((key, vec![line])),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    Err(Unclosed)
}

fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let inside = |quote| key.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let key = inside('"').or_else(|| inside('\'')).unwrap_or(key);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(plain);
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then_some(key)
}

impl<'a> Parts<'a> {
    pub(super) fn has_header(&self) -> bool {
        !self.entries.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.entries.iter().map(|(key, _)| *key)
    }

    /// The exact lines of a key.
    pub(super) fn raw(&self, key: &str) -> Option<String> {
        self.lines(key).map(|lines| lines.join("\n"))
    }

    pub(super) fn lines(&self, key: &str) -> Option<&[&'a str]> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, lines)| lines.as_slice())
    }

    /// A value as one line; `None` if it is absent or empty.
    pub(super) fn line(&self, key: &str) -> Option<String> {
        let [first, more @ ..] = self.lines(key)? else { return None };
        let first = first.split_once(':').map_or("", |(_, value)| value.trim());
        let block = first.starts_with(['|', '>']) && first.len() <= 3;
        let start = if block { "" } else { first };
        let words: Vec<&str> = std::iter::once(start)
            .chain(more.iter().copied())
            .flat_map(str::split_whitespace)
            .collect();
        let value = words.join(" ");
        Some(if block { value } else { unquoted(&value) }).filter(|value| !value.is_empty())
    }

    /// A value as a list, from lines, brackets or commas. Values in brackets or commas may go on over lines.
    pub(super) fn list(&self, key: &str) -> Vec<String> {
        let Some([first, more @ ..]) = self.lines(key) else { return Vec::new() };
        let first = first.split_once(':').map_or("", |(_, value)| without_comment(value).trim());
        let block = first.starts_with(['|', '>']) && first.len() <= 3;
        let mut rest = more.iter().map(|line| without_comment(line).trim());
        let is_listed = |line: &str| line.starts_with("- ") || line == "-";
        let items: Vec<String> = if first.is_empty()
            && rest.clone().find(|line| !line.is_empty()).is_some_and(is_listed)
        {
            rest.filter_map(|line| line.strip_prefix('-'))
                .map(|item| item.trim().to_owned())
                .collect()
        } else {
            let start = if block { "" } else { first };
            let whole = rest.by_ref().fold(start.to_owned(), |whole, line| whole + " " + line);
            let whole = whole.trim();
            let inner = whole.strip_prefix('[').map_or(whole, |rest| rest.trim_end_matches(']'));
            split_outside_parentheses(inner).into_iter().map(str::to_owned).collect()
        };
        items.iter().map(|item| unquoted(item)).filter(|item| !item.is_empty()).collect()
    }
}

/// A line without the comment at its end.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return line.get(..at).unwrap_or(line),
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        before = c;
    }
    line
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

fn unquoted(text: &str) -> String {
    let inside = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inner) = inside('\'') {
        return inner.replace("''", "'");
    }
    let Some(inner) = inside('"') else { return text.to_owned() };
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, (c == '\\').then(|| chars.next()).flatten()) {
            (_, Some('n' | 't' | 'r')) => out.push(' '),
            (_, Some(escaped)) => out.push(escaped),
            (c, None) => out.push(c),
        }
    }
    out
}

/// A text as a quoted YAML value that cannot be broken out of.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_not_quite_yaml_is_read() {
        let text = "---\nname: code-reviewer\ndescription: Use it when: \"done\".\n  user: hi\n\
                    tools: Read, Bash(git add:*, git commit:*), Grep\nmodel: opus\n---\n\n\nYou review.\n";
        let parts = split(text).unwrap();
        assert_eq!(parts.line("name").as_deref(), Some("code-reviewer"));
        assert_eq!(parts.line("description").as_deref(), Some("Use it when: \"done\". user: hi"));
        assert_eq!(parts.list("tools"), ["Read", "Bash(git add:*, git commit:*)", "Grep"]);
        assert_eq!(parts.body, "You review.\n");
        assert_eq!(parts.keys().collect::<Vec<_>>(), ["name", "description", "tools", "model"]);
    }

    #[test]
    fn values_come_in_every_usual_form() {
        let text = "---\na: 'it''s'\nb: \"x \\\"y\\\"\\nz\"\nc: |-\n  one\n  two\nd: [p, \"q\"]\ne:\n  - r\n  - 's'\nf:\n---\n";
        let parts = split(text).unwrap();
        let lines = ["a", "b", "c", "f", "g"].map(|key| parts.line(key).unwrap_or_default());
        assert_eq!(lines, ["it's", "x \"y\" z", "one two", "", ""]);
        assert_eq!(
            (parts.list("d"), parts.list("e")),
            (vec!["p".into(), "q".into()], vec!["r".into(), "s".into()])
        );
    }

    #[test]
    fn a_list_is_read_whole_however_it_is_written() {
        let list =
            |value: &str| split(&format!("---\ntools:{value}\n---\n")).unwrap().list("tools");
        for value in [
            " Read, Bash(a, b) # why",
            " [Read,\n  Bash(a, b)]",
            " >-\n  Read,\n  Bash(a, b)",
            "\n  Read,\n  Bash(a, b)",
            "\n  # ours\n  - Read # why\n  - \"Bash(a, b)\"",
            "\n- Read\n- Bash(a, b)",
        ] {
            assert_eq!(list(value), ["Read", "Bash(a, b)"], "{value:?}");
        }
        assert_eq!(split("---\n\"tools\": Read\n---\n").unwrap().list("tools"), ["Read"]);
        assert_eq!((list(" []"), list("")), (vec![], vec![]));
    }

    #[test]
    fn text_without_a_header_is_all_body_and_an_open_header_is_an_error() {
        assert_eq!(split("# Hi\n---\n").unwrap().body, "# Hi\n---\n");
        assert_eq!(split("").unwrap().body, "");
        assert!(!split("text").unwrap().has_header());
        assert_eq!(split("---\nname: x\n"), Err(Unclosed));
    }

    #[test]
    fn what_we_write_stays_one_value() {
        assert_eq!(quoted("a\"b\\c\nd\u{85}"), "\"a\\\"b\\\\c\\nd\\u0085\"");
    }
}
