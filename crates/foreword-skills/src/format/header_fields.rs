//! The fields of a header, each with its place in the text.
//!
//! The format's YAML is a small one: every value is a text, a list or a mapping in block style.
//! Everything else that YAML can say (flow style, anchors, tags, a key twice) is read where it can
//! be and noted as a fault. Limits keep a hostile header from costing anything.

use serde_saphyr::granit_parser::{
    Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, options,
};
use std::collections::HashSet;

use foreword_workspace::MAX_HEADER_DEPTH;

use crate::format::FormatFault;

/// Far more values than any header has.
const MAX_EVENTS: usize = 10_000;

/// What a header says.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// The fields of the top level in their order; none if the header does not parse.
    pub(crate) list: Vec<Field>,
    /// What the format does not allow, or why nothing could be read.
    pub(crate) faults: Vec<FormatFault>,
}

/// One `key: value` of the top level.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// Where a field stands in the header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The line of its key, counted like [`read_fields`]'s `first_line`.
    pub(crate) line: usize,
    /// The column of its key, from 0.
    pub(crate) column: usize,
    /// The byte after its key.
    pub(crate) key_end: usize,
    /// The bytes of its value, where they are known.
    pub(crate) value: Option<(usize, usize)>,
    /// How its value is written, if it is a text.
    pub(crate) style: Option<ScalarStyle>,
    /// Whether it stands in block style.
    pub(crate) block: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A reference to another value, or one of the marks `<<` and `=`, which stand for no text.
    Other,
}

impl Fields {
    pub(crate) fn get(&self, key: &str) -> Option<&Field> {
        self.list.iter().find(|field| field.key == key)
    }

    /// A text that is there and not blank.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key).map(|field| &field.value) {
            Some(Value::Text(text)) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }
}

/// Reads a header whose first line is line `first_line` of its file.
pub(crate) fn read_fields(header: &str, first_line: usize) -> Fields {
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
            Fields { list, faults: reader.faults }
        }
        Err(fault) => {
            reader.faults.push(fault);
            Fields { list: Vec::new(), faults: reader.faults }
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
    faults: Vec<FormatFault>,
}

/// A key and what belongs to it, before it is known what the mapping is for.
type Entry = (String, Place, Value);

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Vec<Field>, FormatFault> {
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

    fn mapping(&mut self, style: StructureStyle) -> Result<Vec<Entry>, FormatFault> {
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

    fn value(&mut self, event: Event<'a>, span: Span) -> Result<Value, FormatFault> {
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

    fn next(&mut self) -> Result<(Event<'a>, Span), FormatFault> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(FormatFault::at(self.lines_above + 1, "the header has too many values"));
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
            None => Err(FormatFault::at(self.lines_above + 1, "unexpected end of the header")),
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
                self.faults.push(FormatFault::at(self.lines_above + 1 + above, message));
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

    fn fault(&self, span: Span, message: String) -> FormatFault {
        FormatFault::at(self.line(span), message)
    }

    fn explain(&self, error: &ScanError) -> FormatFault {
        let line = self.lines_above + error.marker().line().max(1);
        FormatFault::at(line, foreword::visible_line(&error.info().replace('\n', " ")))
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
pub(crate) fn escaped(text: &str) -> String {
    foreword::visible_line(&text.chars().take(60).collect::<String>())
}
