//! The fields of a skill's header, each with its place in the text.
//!
//! All of YAML is read, within limits that keep a hostile header from costing anything. What the
//! Agent Skills format does not allow (flow style, anchors, tags, a key twice) is read and noted. A
//! header that is no YAML at all is read line by line, as other clients do, and noted too: a skill
//! never fails because of its header.

use serde_saphyr::granit_parser::{
    Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, options,
};
use std::collections::HashSet;

use crate::agents::header::MAX_HEADER_DEPTH;

/// Far more values than any header has.
const MAX_EVENTS: usize = 10_000;

/// Where a header departs from the format, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderNote {
    /// The line, counted like [`read_fields`]'s `first_line`.
    pub line: usize,
    /// What is wrong, for the author.
    pub message: String,
}

impl HeaderNote {
    fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// What a header says.
#[derive(Debug, Default)]
pub struct Fields {
    /// The fields of the top level in their order.
    pub list: Vec<Field>,
    /// What the format does not allow, or why the header is no YAML.
    pub faults: Vec<HeaderNote>,
    /// Whether the header is no YAML and was read line by line.
    pub broken: bool,
}

/// One `key: value` of the top level.
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// Where a field stands in the header.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The line of its key, counted like [`read_fields`]'s `first_line`.
    pub line: usize,
    /// The column of its key, from 0.
    pub column: usize,
    /// The byte after its key.
    pub key_end: usize,
    /// The bytes of its value, where they are known.
    pub value: Option<(usize, usize)>,
    /// How its value is written, if it is a text.
    pub style: Option<ScalarStyle>,
    /// Whether it stands in block style.
    pub block: bool,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text; numbers and booleans are texts too.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping, in its order.
    Map(Vec<(String, Value)>),
    /// A reference to another value, or one of the marks `<<` and `=`, which stand for no text.
    Other,
}

impl Fields {
    /// The first field of this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Field> {
        self.list.iter().find(|field| field.key == key)
    }

    /// A text that is there and not blank.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key).map(|field| &field.value) {
            Some(Value::Text(text)) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }
}

/// Reads a header whose first line is line `first_line` of its file.
#[must_use]
pub fn read_fields(header: &str, first_line: usize) -> Fields {
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(header, limits()),
        left: MAX_EVENTS,
        lines_above: first_line.saturating_sub(1),
        scalars: Vec::new(),
        faults: Vec::new(),
    };
    match reader.document() {
        Ok(list) => {
            reader.find_tabs(header);
            Fields { list, faults: reader.faults, broken: false }
        }
        Err(fault) => {
            reader.faults.push(fault);
            Fields { list: by_lines(header, first_line), faults: reader.faults, broken: true }
        }
    }
}

fn limits() -> Options {
    options! {
        emit_comments: false,
        flow_nesting_limit: MAX_HEADER_DEPTH,
        block_nesting_limit: MAX_HEADER_DEPTH,
    }
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    left: usize,
    lines_above: usize,
    /// The bytes of every text, and whether it is a plain one.
    scalars: Vec<(usize, usize, bool)>,
    faults: Vec<HeaderNote>,
}

/// A key and what belongs to it, before it is known what the mapping is for.
type Entry = (String, Place, Value);

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Vec<Field>, HeaderNote> {
        let entries = loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::MappingStart(style, anchor, tag), span) => {
                    self.note(span, style, anchor != 0, tag.is_some());
                    break self.mapping(style)?;
                }
                (Event::StreamEnd, span) => {
                    return Err(self.fault(span, "the header is empty".into()));
                }
                (_, span) => {
                    return Err(self.fault(span, "expected lines of `key: value`".into()));
                }
            }
        };
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => break,
                (Event::DocumentEnd, _) => {}
                (_, span) => {
                    return Err(
                        self.fault(span, "unexpected content after the end of the header".into())
                    );
                }
            }
        }
        Ok(entries.into_iter().map(|(key, place, value)| Field { key, value, place }).collect())
    }

    fn mapping(&mut self, style: StructureStyle) -> Result<Vec<Entry>, HeaderNote> {
        let block = style == StructureStyle::Block;
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        let mut indent = None;
        loop {
            let (key, key_span) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(entries),
                (Event::Scalar(key, key_style, anchor, tag), span) => {
                    self.note(span, StructureStyle::Block, anchor != 0, tag.is_some());
                    if key == "<<" && key_style == ScalarStyle::Plain {
                        self.complain(span, "the format has no merge key `<<`".into());
                    }
                    (text_of(&key, key_style, span), span)
                }
                (_, span) => return Err(self.fault(span, "a key must be plain text".into())),
            };
            if !keys.insert(key.clone()) {
                self.complain(key_span, format!("`{}` appears twice", escaped(&key)));
            }
            let (event, span) = self.next()?;
            let style = match &event {
                Event::Scalar(_, style, ..) => Some(*style),
                _ => None,
            };
            if matches!(event, Event::MappingStart(StructureStyle::Block, ..)) {
                let column = span.start.col();
                if *indent.get_or_insert(column) != column {
                    self.complain(
                        span,
                        "has a different indentation from the mapping before it".into(),
                    );
                }
            }
            let value = self.value(event, span)?;
            let place = Place {
                line: self.line(key_span),
                column: key_span.start.col(),
                key_end: key_span.end.byte_offset().unwrap_or_default(),
                value: span.start.byte_offset().zip(span.end.byte_offset()),
                style,
                block,
            };
            entries.push((key, place, value));
        }
    }

    fn value(&mut self, event: Event<'a>, span: Span) -> Result<Value, HeaderNote> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.note(span, StructureStyle::Block, anchor != 0, tag.is_some());
                let marks = style == ScalarStyle::Plain && matches!(&*text, "<<" | "=");
                let text = text_of(&text, style, span);
                Ok(if marks { Value::Other } else { Value::Text(text) })
            }
            Event::MappingStart(style, anchor, tag) => {
                self.note(span, style, anchor != 0, tag.is_some());
                let entries = self.mapping(style)?;
                Ok(Value::Map(entries.into_iter().map(|(key, _, value)| (key, value)).collect()))
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.note(span, style, anchor != 0, tag.is_some());
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => return Ok(Value::List(list)),
                        (event, span) => list.push(self.value(event, span)?),
                    }
                }
            }
            Event::Alias(_) => {
                self.complain(span, "the format has no aliases (`*`)".into());
                Ok(Value::Other)
            }
            _ => Err(self.fault(span, "expected a value".into())),
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), HeaderNote> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(HeaderNote::at(self.lines_above + 1, "the header has too many values"));
        };
        self.left = left;
        match self.events.next_event() {
            Some(Ok((event, span))) => {
                if let (Event::Scalar(_, style, ..), Some(start), Some(end)) =
                    (&event, span.start.byte_offset(), span.end.byte_offset())
                {
                    self.scalars.push((start, end, *style == ScalarStyle::Plain));
                }
                Ok((event, span))
            }
            Some(Err(error)) => Err(self.explain(&error)),
            None => Err(HeaderNote::at(self.lines_above + 1, "unexpected end of the header")),
        }
    }

    /// Notes the first tab that is neither in a quoted text, in a block of text nor in a comment:
    /// the format's YAML allows blanks only.
    fn find_tabs(&mut self, header: &str) {
        let mut scalars = self.scalars.iter().copied().peekable();
        let mut in_comment = false;
        for (offset, byte) in header.bytes().enumerate() {
            while scalars.peek().is_some_and(|(_, end, _)| *end <= offset) {
                scalars.next();
            }
            let plain = match scalars.peek() {
                Some((start, _, plain)) if *start <= offset => Some(*plain),
                _ => None,
            };
            in_comment = plain.is_none() && byte != b'\n' && (in_comment || byte == b'#');
            if byte == b'\t' && !in_comment && plain != Some(false) {
                let above = header.bytes().take(offset).filter(|byte| *byte == b'\n').count();
                let message = "contains a tab: use spaces, or quote the text";
                self.faults.push(HeaderNote::at(self.lines_above + 1 + above, message));
                return;
            }
        }
    }

    fn note(&mut self, span: Span, style: StructureStyle, anchor: bool, tag: bool) {
        if style == StructureStyle::Flow {
            let text = "the format has no `[…]` and `{…}`: write one item per line, or quote \
                        the text";
            self.complain(span, text.into());
        }
        if anchor {
            self.complain(span, "the format has no anchors (`&`): quote the value".into());
        }
        if tag {
            self.complain(span, "the format has no tags (`!`): quote the value".into());
        }
    }

    fn complain(&mut self, span: Span, message: String) {
        let fault = self.fault(span, message);
        self.faults.push(fault);
    }

    fn fault(&self, span: Span, message: String) -> HeaderNote {
        HeaderNote::at(self.line(span), message)
    }

    fn explain(&self, error: &ScanError) -> HeaderNote {
        let line = self.lines_above + error.marker().line().max(1);
        HeaderNote::at(line, foreword::visible_line(&error.info().replace('\n', " ")))
    }

    fn line(&self, span: Span) -> usize {
        self.lines_above + span.start.line().max(1)
    }
}

/// The text of a scalar. For one that is not there the parser says `~`, which is also a text.
fn text_of(text: &str, style: ScalarStyle, span: Span) -> String {
    let absent = style == ScalarStyle::Plain && span.start.index() == span.end.index();
    if absent { String::new() } else { text.to_owned() }
}

/// A key as a message repeats it.
#[must_use]
pub fn escaped(text: &str) -> String {
    foreword::visible_start(text, 60)
}

/// The fields of a header that is no YAML: `key: value` at the start of a line, with the indented
/// lines below as the rest of the value.
fn by_lines(header: &str, first_line: usize) -> Vec<Field> {
    let mut list: Vec<Field> = Vec::new();
    let mut at = 0;
    for (index, raw) in header.split_inclusive('\n').enumerate().take(MAX_EVENTS) {
        let line = raw.trim_end();
        if let Some((key, rest)) = key_and_rest(line) {
            let value = rest.trim();
            let start = at + line.len() - rest.trim_start().len();
            let place = Place {
                line: first_line + index,
                column: 0,
                key_end: at + key.len(),
                value: Some((start, start + value.len())),
                style: Some(ScalarStyle::Plain),
                block: true,
            };
            let known = list.iter().any(|field| field.key == key);
            if !known {
                let text = if matches!(value, "|" | ">" | "|-" | ">-") { "" } else { value };
                // A bracket that never closes says nothing.
                let says_nothing = !text.is_empty() && !text.contains(char::is_alphanumeric);
                let value = match unquoted(text) {
                    _ if says_nothing => Value::Other,
                    text => Value::Text(text.to_owned()),
                };
                list.push(Field { key: key.to_owned(), value, place });
            }
        } else if line.starts_with([' ', '\t', '-'])
            && let Some(Field { value, .. }) = list.last_mut()
        {
            continue_value(value, line.trim());
        }
        at += raw.len();
    }
    list
}

/// `key: rest` or `key:"rest"`, with a key that could be a field's.
fn key_and_rest(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_key = !key.is_empty() && key.len() <= 64 && key.chars().all(plain);
    (is_key && !key.starts_with('-')).then_some((key, rest))
}

fn continue_value(value: &mut Value, line: &str) {
    if let Some(item) = line.strip_prefix("- ") {
        let item = Value::Text(unquoted(item.trim()).to_owned());
        match value {
            Value::List(items) => items.push(item),
            Value::Text(text) if text.is_empty() => *value = Value::List(vec![item]),
            _ => {}
        }
    } else if let Value::Text(text) = value {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
}

fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let half = || text.trim_start_matches(['"', '\'']);
    inner('"').or_else(|| inner('\'')).unwrap_or_else(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(header: &str) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        read_fields(header, 1).list.iter().map(|f| (f.key.clone(), text(&f.value))).collect()
    }

    #[test]
    fn what_is_no_yaml_is_read_line_by_line() {
        let header = "name: Tea_Time\ndescription: Use for: (1) tea\n  and more\nversion:\"2\"\n\
                      tags:\n- a\n- b\n";
        assert!(read_fields(header, 1).broken);
        let found = texts(header);
        assert_eq!(found[0], ("name".into(), "Tea_Time".into()));
        assert_eq!(found[1], ("description".into(), "Use for: (1) tea and more".into()));
        assert_eq!(found[2], ("version".into(), "2".into()));
        assert_eq!(found[3].1, "List([Text(\"a\"), Text(\"b\")])");
    }

    #[test]
    fn a_bracket_that_never_closes_is_no_text() {
        let fields = read_fields("name: [\ndescription: [beta] Brews: tea\n", 1);
        assert!(fields.broken);
        assert_eq!(fields.text("name"), None);
        assert_eq!(fields.text("description"), Some("[beta] Brews: tea"));
    }

    #[test]
    fn flow_style_is_read_and_noted() {
        let fields = read_fields("name: tea\nmetadata: {a: [b, c]}\n", 1);
        assert!(!fields.broken);
        assert_eq!(fields.faults.len(), 2);
        assert!(matches!(fields.get("metadata").unwrap().value, Value::Map(_)));
    }
}
