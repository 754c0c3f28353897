//! YAML headers: the lines between two `---` at the top of a markdown file.

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{DefaultMessageFormatter, Error, MessageFormatter, Options};

use crate::error::WorkspaceError;
use crate::read::{SourceFile, line_of};
use foreword::nearest;

/// The longest header there may be, in bytes; what parses it is kept from larger input altogether.
pub const MAX_HEADER_BYTES: usize = 64 << 10;
/// The deepest nesting of values in a header.
pub const MAX_HEADER_DEPTH: usize = 16;

/// A text taken apart where it stands: its header, if it has one, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderSplit<'a> {
    /// The lines between the two `---`, which themselves are not part of it. Its first line is
    /// line 2 of the text.
    pub header: Option<&'a str>,
    /// The text after the header and the blank lines that follow it.
    pub body: &'a str,
    /// The line of the text, from 1, on which the body starts.
    pub body_first_line: usize,
}

/// Why a text cannot be taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// It starts with `---`, and there is no second one.
    #[error("the header starts here and is never closed")]
    Unclosed,
    /// The header is longer than any header is meant to be.
    #[error("the header is {size} bytes long, more than the limit of {MAX_HEADER_BYTES}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
    },
}

/// A file taken apart: its header, if it has one, and what follows.
#[derive(Debug)]
pub(crate) struct Parts {
    header: Option<String>,
    /// The text after the header and the blank lines that follow it.
    pub(crate) body: SourceFile,
}

/// Lines before the first line of the header's own text.
const LINES_ABOVE: usize = 1;

/// Takes a text apart. One that does not start with a line of `---` has no header.
pub fn split_header(text: &str) -> Result<HeaderSplit<'_>, HeaderFault> {
    let Some(opening) = first_line(text).filter(|line| line.trim_end() == "---") else {
        return Ok(HeaderSplit { header: None, body: text, body_first_line: 1 });
    };
    let start = opening.len();
    // Searched for, not looked for line by line: most of a large file may have to be passed over.
    // The line break before the closing line may be that of the opening one.
    let mut from = start.saturating_sub(1);
    let (end, closing) = loop {
        let rest = text.get(from..).unwrap_or_default();
        from += rest.find("\n---").ok_or(HeaderFault::Unclosed)? + 1;
        match text.get(from..).and_then(first_line) {
            Some(line) if line.trim_end() == "---" => break (from, line),
            _ => {}
        }
    };
    if end - start > MAX_HEADER_BYTES {
        return Err(HeaderFault::TooLarge { size: end - start });
    }
    let mut body_start = end + closing.len();
    let mut body_first_line = line_of(text.as_bytes(), end) + 1;
    let after = text.get(body_start..).unwrap_or_default();
    for line in after.split_inclusive('\n').take_while(|line| line.trim().is_empty()) {
        body_start += line.len();
        body_first_line += 1;
    }
    Ok(HeaderSplit {
        header: text.get(start..end),
        body: text.get(body_start..).unwrap_or_default(),
        body_first_line,
    })
}

/// The first line of a text with its line break; none, if the text is empty.
fn first_line(text: &str) -> Option<&str> {
    text.split_inclusive('\n').next()
}

/// Takes a file apart.
pub(crate) fn split(file: SourceFile) -> Result<Parts, WorkspaceError> {
    let split = match split_header(&file.text) {
        Ok(split) => split,
        Err(HeaderFault::Unclosed) => {
            return Err(WorkspaceError::HeaderUnclosed { path: file.path });
        }
        Err(HeaderFault::TooLarge { size }) => {
            let limit = MAX_HEADER_BYTES;
            return Err(WorkspaceError::HeaderTooLarge { path: file.path, size, limit });
        }
    };
    let Some(header) = split.header.map(str::to_owned) else {
        return Ok(Parts { header: None, body: file });
    };
    let (text, first_line) = (split.body.to_owned(), split.body_first_line);
    Ok(Parts { header: Some(header), body: SourceFile { path: file.path, text, first_line } })
}

impl Parts {
    /// Reads the header into a type; one that is absent or empty is an empty mapping.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, WorkspaceError> {
        let header = self.header.as_deref().unwrap_or_default();
        let says_nothing =
            header.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'));
        let text = if says_nothing { "{}" } else { header };
        serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| explain(&self.body.path, &error))
    }
}

/// The line in the file of a line in its header.
pub(crate) fn line_in_file(location: &serde_saphyr::Location) -> usize {
    usize::try_from(location.line()).unwrap_or_default().max(1) + LINES_ABOVE
}

/// Limits far above any real header and far below what could hurt.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 20_000,
            max_nodes: 10_000,
            max_depth: MAX_HEADER_DEPTH,
            flow_nesting_limit: MAX_HEADER_DEPTH,
            max_documents: 1,
            max_aliases: 64,
            max_anchors: 64,
            max_merge_keys: 0,
            max_total_scalar_bytes: MAX_HEADER_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 1_000,
            max_replay_stack_depth: 4,
            max_alias_expansions_per_anchor: 64,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    }
}

fn explain(path: &str, error: &Error) -> WorkspaceError {
    let error = error.without_snippet();
    let path = path.to_owned();
    let line = error.location().map_or(1, |location| line_in_file(&location));
    if let Error::SerdeUnknownField { field, expected, .. } = error {
        let suggestion =
            synonym(field, expected).or_else(|| nearest(field, expected.iter().copied()));
        return WorkspaceError::UnknownKey {
            path,
            line,
            key: field.clone(),
            suggestion: suggestion.map(str::to_owned),
            known: expected.iter().map(ToString::to_string).collect(),
        };
    }
    WorkspaceError::Yaml { path, line, message: message(error) }
}

/// What is wrong, in words for whoever wrote the header rather than for whoever parses it.
fn message(error: &Error) -> String {
    match error {
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            format!("unknown value `{}`, expected {}", variant.escape_debug(), expected.join(", "))
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("`{}` appears twice", key.escape_debug())
        }
        Error::Unexpected { expected: "sequence start", .. } => "expected a list".into(),
        Error::Unexpected { expected: "mapping start", .. } => "expected `key: value`".into(),
        Error::Unexpected { expected: "string scalar", .. } => "expected a text".into(),
        Error::InvalidBooleanStrict { .. } => "expected `true` or `false`".into(),
        Error::Budget { .. } => "too deep, too many values or too many aliases".into(),
        other => DefaultMessageFormatter.format_message(other).replace('\n', " "),
    }
}

/// Keys that other tools use for one of ours.
fn synonym(field: &str, expected: &[&'static str]) -> Option<&'static str> {
    let meant = match field {
        "name" => "id",
        "allowed-tools" | "allowed_tools" => "tools",
        _ => return None,
    };
    expected.iter().copied().find(|key| *key == meant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;
    use std::time::{Duration, Instant};

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Sample {
        id: String,
        tools: Vec<String>,
        flag: bool,
    }

    fn file(text: &str) -> SourceFile {
        SourceFile { path: "f.md".into(), text: text.into(), first_line: 1 }
    }

    fn parse(text: &str) -> Result<Sample, WorkspaceError> {
        split(file(text))?.parse()
    }

    #[test]
    fn a_header_and_its_body_are_told_apart() {
        let parts = split(file("---\nid: a\n---\n\n\n# Body\n---\n")).unwrap();
        assert_eq!(parts.parse::<Sample>().unwrap().id, "a");
        assert_eq!(parts.body.text, "# Body\n---\n");
        assert_eq!(parts.body.first_line, 6);
    }

    #[test]
    fn a_file_without_a_header_is_all_body() {
        for text in ["", "# Title\n", "text\n---\nid: a\n---\n", "----\n"] {
            let parts = split(file(text)).unwrap();
            assert_eq!((parts.body.text.as_str(), parts.body.first_line), (text, 1));
            assert_eq!(parts.parse::<Sample>().unwrap(), Sample::default());
        }
    }

    #[test]
    fn an_empty_header_says_nothing() {
        for text in ["---\n---\nbody", "---\n# later\n\n---\nbody"] {
            let parts = split(file(text)).unwrap();
            assert_eq!(parts.parse::<Sample>().unwrap(), Sample::default());
            assert_eq!(parts.body.text, "body");
        }
        let parts = split(file("---\nid: a\n---")).unwrap();
        assert_eq!((parts.body.text.as_str(), parts.body.first_line), ("", 4));
    }

    #[test]
    fn an_open_header_is_an_error() {
        assert_eq!(
            parse("---\nid: a\n").unwrap_err().to_string(),
            "f.md:1: the header starts here and is never closed"
        );
    }

    #[test]
    fn an_unknown_key_has_its_line_in_the_file() {
        let error = parse("---\nid: a\ntoolz: [x]\n---\n").unwrap_err();
        assert_eq!(error.to_string(), "f.md:3: unknown key `toolz`");
        assert_eq!(error.hint(), "did you mean `tools`?");
        assert_eq!(parse("---\nname: a\n---\n").unwrap_err().hint(), "did you mean `id`?");
        assert_eq!(
            parse("---\nbanana: a\n---\n").unwrap_err().hint(),
            "remove it; known here: id, tools, flag"
        );
    }

    #[test]
    fn what_does_not_parse_has_its_line_in_the_file() {
        for (text, line) in [
            ("---\nid: a\ntools: 3\n---\n", 3),
            ("---\nid: a\nid: b\n---\n", 3),
            ("---\nid: a\nflag: yes\n---\n", 3),
            ("---\nid: a: b\n---\n", 2),
            ("---\n- a\n---\n", 2),
            ("---\n<<: {id: a}\n---\n", 2),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line(), Some(line), "{text:?}: {error}");
        }
    }

    #[test]
    fn messages_are_for_people() {
        for (text, message) in [
            ("---\nid: [a]\n---\n", "f.md:2: in the header: expected a text"),
            ("---\ntools: a\n---\n", "f.md:2: in the header: expected a list"),
            ("---\nwords\n---\n", "f.md:2: in the header: expected `key: value`"),
            ("---\nflag: yes\n---\n", "f.md:2: in the header: expected `true` or `false`"),
            ("---\nid: a\nid: b\n---\n", "f.md:3: in the header: `id` appears twice"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn bombs_and_deep_nesting_are_refused_quickly() {
        let mut bomb = String::from("---\na: &a [x, x, x, x, x, x, x, x, x, x]\n");
        for (previous, next) in "abcdefghi".chars().zip("bcdefghij".chars()) {
            bomb += &format!("{next}: &{next} [{}]\n", vec![format!("*{previous}"); 10].join(","));
        }
        bomb += "tools: *j\n---\n";
        let block: String = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        for hostile in [
            bomb,
            format!("---\ntools: {}\n---\n", "[".repeat(10_000)),
            format!("---\ntools: {}{}\n---\n", "[".repeat(10_000), "]".repeat(10_000)),
            format!("---\ntools: {}\n---\n", "{a: ".repeat(10_000)),
            format!("---\n{}x\n---\n", "- ".repeat(10_000)),
            format!("---\ntools:\n {}x\n---\n", "- ".repeat(10_000)),
            format!("---\n{}x\n---\n", "? ".repeat(10_000)),
            format!("---\n{block}---\n"),
            format!("---\nid: {}\n---\n", "x".repeat(100_000)),
            format!("---\nid: {}\n---\n", "!a ".repeat(20_000)),
            format!("---\nid: {}\n---\n", "&a ".repeat(20_000)),
        ] {
            let start = Instant::now();
            let error = parse(&hostile).unwrap_err();
            let took = start.elapsed();
            assert!(took < Duration::from_millis(100), "{took:?}: {error}");
            assert!(error.to_string().len() < 300, "{error}");
            assert!(error.line().is_some(), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_header_parser_panic(
            header in "(\\PC|[\n\t:\\-\\[\\]{}&*!|>#'\"%@`]|id: |tools:|\n- ){0,60}"
        ) {
            let _ = parse(&header);
            let _ = parse(&format!("---\n{header}\n---\nbody"));
        }

        #[test]
        fn header_and_body_never_lose_a_line(text in "(---\n|[a-z:]{0,4}\n|\n){0,12}") {
            if let Ok(parts) = split(file(&text)) {
                let skipped = text.lines().count() - parts.body.text.lines().count();
                prop_assert_eq!(parts.body.first_line, skipped + 1);
                prop_assert!(text.ends_with(&parts.body.text));
            }
        }
    }
}
