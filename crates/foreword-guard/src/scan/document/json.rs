//! JSON and lines of JSON: the strings, without their escapes.

use serde::de::IgnoredAny;

use super::part::{Part, PartKind};

/// The strings of a document in JSON; nothing where it is not JSON.
pub(super) fn read(text: &str) -> Option<Part> {
    if !is_json(text) {
        return None;
    }
    let mut part = Part::empty(PartKind::Visible);
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(open) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == b'"')) {
        let start = at + open + 1;
        let end = string_end(bytes, start);
        unescape(text.get(start..end).unwrap_or_default(), start, &mut part);
        let after = text.get(end + 1..).unwrap_or_default().trim_start();
        // a name and its value belong together
        if after.starts_with(':') {
            part.push(": ", end, 1);
        } else {
            part.separate('\n');
        }
        at = end + 1;
    }
    Some(part)
}

fn is_json(text: &str) -> bool {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) {
        return false;
    }
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return true;
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some()
        && lines.all(|line| {
            line.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(line).is_ok()
        })
}

/// Where the string that starts at `start` ends: at its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn unescape(string: &str, start: usize, part: &mut Part) {
    let mut rest = string;
    let mut at = start;
    while let Some(escape) = rest.find('\\') {
        let (plain, tail) = rest.split_at(escape);
        part.push(plain, at, plain.len());
        at += escape;
        // two units of a character outside the basic plane stand together
        let longest = if tail.starts_with("\\u") { [12, 6] } else { [2, 2] };
        let decoded = longest.into_iter().find_map(|length| {
            let escaped = tail.get(..length)?;
            let decoded: String = serde_json::from_str(&format!("\"{escaped}\"")).ok()?;
            (length != 12 || decoded.chars().count() == 1).then_some((decoded, length))
        });
        let (decoded, length) = decoded.unwrap_or_else(|| (String::new(), 1));
        part.push(&decoded, at, length);
        at += length;
        rest = tail.get(length..).unwrap_or_default();
    }
    part.push(rest, at, rest.len());
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn strings_are_read_without_escapes() {
        let text = r#"{"note": "one\ntwo \u00e9 \ud83d\ude00 \"q\"", "list": ["x", {"k": 7}]}"#;
        let part = read(text).unwrap();
        assert_eq!(part.text, "note: one\ntwo é 😀 \"q\"\nlist: x\nk: ");
        let at = part.original_offset(part.text.find("two").unwrap());
        let there = text.get(at..).unwrap();
        assert!(there.starts_with("two"), "{there}");
        assert!(read("{\"a\": 1}\n{\"b\": \"c\"}\n").is_some(), "lines of JSON");
        for other in ["", "{not json}", "[a link](x)", "plain", "\"a\""] {
            assert!(read(other).is_none(), "{other}");
        }
    }
}
