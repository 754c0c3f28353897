//! Giving a text the header it lacks, without touching the rest of it.

use foreword_workspace::{Field, FieldValue as Value, read_fields, split_header};
use serde_saphyr::granit_parser::ScalarStyle;

/// The text with a `name` and a `description` in its header where it lacks them.
///
/// An edit of the text, not a rewriting: every other byte stays as it is, but for a byte order mark,
/// which could not stay in front of a header. Line breaks are written as the text has them. What is
/// there and not blank is never changed. A header that is no mapping stays as it is;
/// [`validate`](crate::validate) says what is wrong with it.
///
/// ```
/// let text = foreword_skills::complete_header("# Tea\n", "tea", "Brews tea: green or black.");
/// assert_eq!(text, "---\nname: tea\ndescription: \"Brews tea: green or black.\"\n---\n\n# Tea\n");
/// ```
#[must_use]
pub fn complete_header(text: &str, name: &str, description: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first_line = text.split_inclusive('\n').next().unwrap_or_default();
    let newline = if first_line.ends_with("\r\n") { "\r\n" } else { "\n" };
    let wanted = [("name", name_scalar(name)), ("description", quoted(description))];
    let Some(header) = split_header(text).ok().and_then(|split| split.header) else {
        let fields: String = wanted.map(|(key, value)| format!("{key}: {value}{newline}")).concat();
        return format!("---{newline}{fields}---{newline}{newline}{text}");
    };
    let fields = read_fields(header, 1);
    let says_nothing =
        header.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'));
    if fields.list.is_empty() && !says_nothing {
        return text.to_owned();
    }
    let flow = fields.list.iter().any(|field| !field.place.block);
    let indent = " ".repeat(fields.list.first().map_or(0, |field| field.place.column));
    let mut edits: Vec<Edit> = Vec::new();
    for (key, value) in wanted {
        match fields.get(key) {
            None if flow => {
                let at = header.find('{').map_or(0, |brace| brace + 1);
                edits.push(Edit { start: at, end: at, text: format!("{key}: {value}, ") });
            }
            None => {
                let text = format!("{indent}{key}: {value}{newline}");
                edits.push(Edit { start: 0, end: 0, text });
            }
            Some(field) => edits.extend(fill(header, field, &value)),
        }
    }
    edits.sort_by_key(|edit| edit.start);
    with_edits(text, first_line, header, &edits)
}

/// The text with another `name` in its header; as it is if its header has none.
pub(crate) fn replace_name(text: &str, name: &str) -> String {
    let Some(header) = split_header(text).ok().and_then(|split| split.header) else {
        return text.to_owned();
    };
    let first_line = text.split_inclusive('\n').next().unwrap_or_default();
    let fields = read_fields(header, 1);
    let place = fields.get("name").filter(|field| matches!(field.value, Value::Text(_)));
    let place = place.and_then(|field| Some((field.place.style?, field.place.value?)));
    let Some((style, (start, end))) = place else { return text.to_owned() };
    if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
        return text.to_owned();
    }
    let edit = Edit { start, end, text: name_scalar(name) };
    with_edits(text, first_line, header, &[edit])
}

/// The text with edits in its header, which stands right behind the first line.
fn with_edits(text: &str, first_line: &str, header: &str, edits: &[Edit]) -> String {
    let mut out = first_line.to_owned();
    let mut done = 0;
    for edit in edits {
        out.push_str(header.get(done..edit.start).unwrap_or_default());
        out.push_str(&edit.text);
        done = edit.end;
    }
    out.push_str(header.get(done..).unwrap_or_default());
    out.push_str(text.get(first_line.len() + header.len()..).unwrap_or_default());
    out
}

/// Bytes of the header and what comes in their place.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Puts a value where a field has none, or a blank one.
fn fill(header: &str, field: &Field, value: &str) -> Option<Edit> {
    let Value::Text(text) = &field.value else { return None };
    if !text.trim().is_empty() {
        return None;
    }
    let (start, end) = field.place.value?;
    match field.place.style? {
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            Some(Edit { start, end, text: value.to_owned() })
        }
        ScalarStyle::Literal | ScalarStyle::Folded => {
            // From the `|` to the end of its line: what follows are blank lines.
            let colon = after_colon(header, field)?;
            let line = header.get(colon..)?.split(['\r', '\n']).next()?.len();
            Some(Edit { start: colon, end: colon + line, text: format!(" {value}") })
        }
        ScalarStyle::Plain => {
            let colon = after_colon(header, field)?;
            Some(Edit { start: colon, end: colon, text: format!(" {value}") })
        }
    }
}

/// The byte after the colon behind a key.
fn after_colon(header: &str, field: &Field) -> Option<usize> {
    let key_end = field.place.key_end;
    let rest = header.get(key_end..)?;
    let colon = rest.find(':').filter(|colon| {
        rest.get(..*colon).is_some_and(|between| between.trim_matches([' ', '\t']).is_empty())
    })?;
    Some(key_end + colon + 1)
}

/// A name needs quotes only where YAML would take it for something else than a text.
fn name_scalar(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !matches!(name, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    if plain { name.to_owned() } else { quoted(name) }
}

/// A text as a double-quoted scalar in one line.
///
/// `---` is broken up: there are readers for which it ends the header wherever it stands.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut hyphens = 0;
    for c in text.chars() {
        hyphens = if c == '-' { hyphens + 1 } else { 0 };
        match c {
            '-' if hyphens == 3 => {
                hyphens = 0;
                quoted.push_str("\\x2d");
            }
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if is_printable(c) => quoted.push(c),
            _ => quoted.push_str(&match u32::from(c) {
                code @ ..=0xff => format!("\\x{code:02x}"),
                code @ ..=0xffff => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether every reader of YAML takes the character as it is, in the middle of a line.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SkillDocument;
    use crate::validate;
    use proptest::prelude::*;

    fn done(text: &str) -> String {
        complete_header(text, "tea", "Brews.")
    }

    #[test]
    fn a_text_without_header_gets_one() {
        assert_eq!(done("Tea.\n"), "---\nname: tea\ndescription: \"Brews.\"\n---\n\nTea.\n");
        assert_eq!(
            done("Tea.\r\nMore.\r\n"),
            "---\r\nname: tea\r\ndescription: \"Brews.\"\r\n---\r\n\r\nTea.\r\nMore.\r\n"
        );
        assert_eq!(done("\u{feff}"), "---\nname: tea\ndescription: \"Brews.\"\n---\n\n");
    }

    #[test]
    fn what_is_missing_is_put_in_front_and_the_rest_stays() {
        for (text, expected) in [
            (
                "---\nlicense: MIT # mine\n---\nTea",
                "---\nname: tea\ndescription: \"Brews.\"\nlicense: MIT # mine\n---\nTea",
            ),
            ("---\nname: tea\n---\n", "---\ndescription: \"Brews.\"\nname: tea\n---\n"),
            (
                "--- \r\n  # mine\r\n  name:   'tea'\r\n---\r\nTea\r\n",
                "--- \r\n  description: \"Brews.\"\r\n  # mine\r\n  name:   'tea'\r\n---\r\nTea\r\n",
            ),
            ("---\n---\nTea", "---\nname: tea\ndescription: \"Brews.\"\n---\nTea"),
            ("---\n# x\n\n---\nTea", "---\nname: tea\ndescription: \"Brews.\"\n# x\n\n---\nTea"),
        ] {
            assert_eq!(done(text), expected);
            assert_eq!(validate(expected.trim_end(), Some("tea")), [], "{expected}");
        }
    }

    #[test]
    fn what_is_blank_is_filled_where_it_stands() {
        for (text, expected) in [
            (
                "---\nname:\ndescription:   # to do\n---\n",
                "---\nname: tea\ndescription: \"Brews.\"   # to do\n---\n",
            ),
            (
                "---\ndescription: ''\nname: \" \"\n---\n",
                "---\ndescription: \"Brews.\"\nname: tea\n---\n",
            ),
            (
                "---\nname: tea\ndescription: |\n\n---\n",
                "---\nname: tea\ndescription: \"Brews.\"\n\n---\n",
            ),
            (
                "---\r\nname : tea\r\ndescription : >-\r\n---\r\n",
                "---\r\nname : tea\r\ndescription : \"Brews.\"\r\n---\r\n",
            ),
        ] {
            assert_eq!(done(text), expected);
            assert_eq!(validate(expected, Some("tea")), [], "{expected}");
        }
    }

    #[test]
    fn what_is_there_or_broken_stays_as_it_is() {
        for text in ["---\nname: Other\ndescription: x\n---\n", "---\n- a\n---\n"] {
            assert_eq!(done(text), text);
        }
    }

    #[test]
    fn flow_style_and_what_is_no_yaml_are_completed_too() {
        for (text, expected) in [
            ("---\nname: a: b\n---\n", "---\ndescription: \"Brews.\"\nname: a: b\n---\n"),
            (
                "---\n{license: MIT}\n---\n",
                "---\n{name: tea, description: \"Brews.\", license: MIT}\n---\n",
            ),
        ] {
            assert_eq!(done(text), expected);
            assert_eq!(done(expected), expected);
        }
    }

    #[test]
    fn a_name_is_replaced_where_it_stands() {
        for (text, expected) in [
            ("---\nname: Tea_Time # x\n---\nA", "---\nname: tea-time # x\n---\nA"),
            ("---\r\nname: 'Tea Time'\r\n---\r\n", "---\r\nname: tea-time\r\n---\r\n"),
            ("---\n{name: Tea, x: y}\n---\n", "---\n{name: tea-time, x: y}\n---\n"),
            ("---\nname: Tea\nx: a: b\n---\n", "---\nname: tea-time\nx: a: b\n---\n"),
            ("---\nx: y\n---\n", "---\nx: y\n---\n"),
            ("name: Tea", "name: Tea"),
        ] {
            assert_eq!(replace_name(text, "tea-time"), expected);
        }
    }

    #[test]
    fn names_that_yaml_takes_for_something_else_are_quoted() {
        for name in ["7", "true", "no", "1e5", "2024-01-01"] {
            assert!(
                complete_header("", name, "x").starts_with(&format!("---\nname: \"{name}\"\n"))
            );
        }
    }

    proptest! {
        #[test]
        fn a_completed_text_says_what_was_asked_and_keeps_the_rest(
            body in "(\\PC|\r?\n){0,40}",
            description in "[^\u{feff}]{0,3}\\PC(\\PC|[\"'\\\\:#\n\t\u{85}\u{2028}-]|---){0,60}",
            license in "[a-z]{1,8}",
        ) {
            prop_assume!(!body.starts_with(['\u{feff}', '-']) && !description.trim().is_empty());
            for text in [body.clone(), format!("---\nlicense: {license}\n---\n{body}")] {
                let text = complete_header(&text, "tea", &description);
                let document = SkillDocument::parse(&text, Some("tea"));
                prop_assert_eq!(&document.faults, &[], "{}", text);
                prop_assert_eq!(document.name.as_deref(), Some("tea"));
                prop_assert_eq!(document.description.as_deref(), Some(description.trim()));
                prop_assert!(text.ends_with(&body));
                prop_assert_eq!(complete_header(&text, "x", "y"), text);
            }
        }
    }
}
