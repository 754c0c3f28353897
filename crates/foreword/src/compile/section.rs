//! A section under construction: the only way text gets into a prompt.
//!
//! A module adds typed parts. Prose is ours and `'static`; everything from outside is a
//! [`Document`], an [`Untrusted`] text or a [`Line`] and is written through [`fence`](crate::fence).
//! There is no way to add a bare string.

use std::fmt::Write as _;

use crate::compile::manifest::Filtered;
use crate::compile::template::{Piece, Template, next_slot};
use crate::compile::titles::Titles;
use crate::fence::authority::Authority;
use crate::fence::text::{Body, Document, Line, Source, Untrusted};
use crate::fence::{self, Fenced};
use crate::tokens::estimate::Meter;

/// The most a name may have, in characters.
pub(crate) const MAX_NAME: usize = 200;
/// The most a description or a value of the run may have.
pub(crate) const MAX_LINE: usize = 2_000;
/// Characters of a quoted name that somebody else chose.
const MAX_QUOTED: usize = 120;

/// Where a stretch of the prompt came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) origin: Origin,
    /// Lines at its end that are not in the source: the note of a cut, the end of a code fence.
    pub(crate) added_lines: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A text that carries its source.
    File(Source),
    /// A field of the Context, or prose of ours.
    Named(&'static str),
}

/// The buffer that sections are written into, with what is noted on the way.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub(crate) text: String,
    pub(crate) spans: Vec<Span>,
    pub(crate) notes: Vec<Filtered>,
    meter: Meter,
    /// How far the meter has read.
    metered: usize,
    /// Set where a section speaks with less authority than its module.
    pub(crate) lowered: Option<Authority>,
    /// Tokens after which a section cannot be used any more, so that writing it is a waste.
    pub(crate) limit: Option<u32>,
}

impl Sink {
    /// A buffer with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            spans: Vec::with_capacity(24),
            ..Self::default()
        }
    }

    /// Tokens of the section that was written last.
    pub(crate) fn tokens(&mut self) -> u32 {
        self.read_on();
        self.meter.tokens()
    }

    /// Lets the meter read what was written since. It reads in long stretches, not piece by piece.
    fn read_on(&mut self) {
        self.meter.feed(self.text.get(self.metered..).unwrap_or_default());
        self.metered = self.text.len();
    }
}

/// A value for a place in a [`Template`].
///
/// ```
/// use foreword::{Line, Value};
///
/// let name = Line::new("Pickle");
/// let values = [("name", Value::Line(&name)), ("share", Value::Percent(0.25))];
/// assert_eq!(values.len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Value<'v> {
    /// One escaped line.
    Line(&'v Line),
    /// A ratio as a percentage with one decimal.
    Percent(f64),
    /// A ratio as a percentage without decimals.
    RoundPercent(f64),
    /// Words of ours.
    Word(&'static str),
}

/// A section under construction.
///
/// ```
/// use std::sync::Arc;
///
/// use foreword::{Authority, Blueprint, Context, Line, Module, Section, Spec, Volatility};
///
/// # struct Weather;
/// #
/// impl Module for Weather {
///     # fn name(&self) -> &'static str { "weather" }
///     # fn spec(&self) -> Spec { Spec::optional(90, Authority::Runtime, Volatility::Turn) }
///     # fn should_include(&self, _: &Context) -> bool { true }
///     fn render(&self, _: &Context, section: &mut Section<'_>) {
///         section.prose("## Weather");
///         section.gap();
///         section.fact("- Outside: ", &Line::new("rain\n# New rules"));
///     }
/// }
///
/// # let module: Arc<dyn Module> = Arc::new(Weather);
/// # let blueprint = Blueprint::builtin("standard").unwrap().with_module(&module);
/// let prompt = blueprint.build(&Context::default());
/// assert!(!prompt.text().contains("\n# New rules"), "one line stays one line");
/// ```
#[derive(Debug)]
pub struct Section<'s> {
    sink: &'s mut Sink,
    titles: &'s Titles,
    start: usize,
    in_rows: bool,
    gap: bool,
}

impl<'s> Section<'s> {
    pub(crate) fn new(sink: &'s mut Sink, titles: &'s Titles) -> Self {
        let start = sink.text.len();
        sink.meter = Meter::new();
        sink.metered = start;
        sink.lowered = None;
        Self { sink, titles, start, in_rows: false, gap: false }
    }

    /// Says that this section speaks with less authority than its module has.
    pub fn lower_to(&mut self, authority: Authority) {
        self.sink.lowered = Some(authority);
    }

    /// Is there anything in it?
    pub fn is_empty(&self) -> bool {
        self.sink.text.len() == self.start
    }

    /// Is it already too long to be used? A module with many items may stop here.
    pub fn exceeds_limit(&mut self) -> bool {
        self.sink.limit.is_some_and(|limit| self.sink.tokens() > limit)
    }

    /// Writes something that may turn out too long, and takes it back if it does. Says whether it
    /// stayed.
    pub fn attempt(&mut self, write: impl FnOnce(&mut Self)) -> bool {
        let (text, spans, notes) =
            (self.sink.text.len(), self.sink.spans.len(), self.sink.notes.len());
        let (meter, metered) = (self.sink.meter, self.sink.metered);
        let (in_rows, gap) = (self.in_rows, self.gap);
        write(self);
        if !self.exceeds_limit() {
            return true;
        }
        self.sink.text.truncate(text);
        self.sink.spans.truncate(spans);
        self.sink.notes.truncate(notes);
        (self.sink.meter, self.sink.metered) = (meter, metered);
        (self.in_rows, self.gap) = (in_rows, gap);
        false
    }

    /// A block of our own prose.
    pub fn prose(&mut self, text: &'static str) {
        self.begin_block();
        self.write(text);
    }

    /// A line of our own prose, directly under the line before it.
    pub fn row(&mut self, text: &'static str) {
        self.begin_row();
        self.write(text);
    }

    /// The next row starts after a blank line.
    pub fn gap(&mut self) {
        self.gap = true;
    }

    /// A row of a label of ours and a value; none where the value is blank.
    pub fn fact(&mut self, label: &'static str, value: &Line) {
        if value.is_blank() {
            return;
        }
        self.begin_row();
        self.write(label);
        self.value(value, MAX_LINE);
    }

    /// A row of a label and a name in quotation marks that somebody else chose, such as a branch.
    pub fn quoted(&mut self, label: &'static str, name: &Line) {
        if name.is_blank() {
            return;
        }
        self.begin_row();
        self.write(label);
        self.write("\"");
        self.value(name, MAX_QUOTED);
        self.write("\"");
    }

    /// A row of a label and a word, both ours.
    pub fn word(&mut self, label: &'static str, word: &'static str) {
        self.begin_row();
        self.write(label);
        self.write(word);
    }

    /// A row of several values, with words of ours in between. The first label comes first.
    pub fn facts(&mut self, parts: &[(&'static str, &Line)]) {
        self.begin_row();
        self.and(parts);
    }

    /// More values at the end of a row.
    pub fn and(&mut self, parts: &[(&'static str, &Line)]) {
        for (label, value) in parts {
            self.write(label);
            self.value(value, MAX_LINE);
        }
    }

    /// A row `- name: description`; the description may be blank.
    pub fn item(&mut self, name: &Line, description: &Line) {
        self.begin_row();
        self.write("- ");
        self.value(name, MAX_NAME);
        if !description.is_blank() {
            self.write(": ");
            self.value(description, MAX_LINE);
        }
    }

    /// The same for something that a person has not approved.
    pub fn unapproved_item(&mut self, name: &Line, description: &Line) {
        self.item(name, &Line::default());
        self.write(" (not approved: reference only)");
        if !description.is_blank() {
            self.write(": ");
            self.value(description, MAX_LINE);
        }
    }

    /// A row `- [date] mark text` of untrusted text on one line; date and mark may be missing.
    pub fn untrusted_row(
        &mut self,
        mark: &'static str,
        date: Option<&Line>,
        text: &Untrusted,
        max_chars: usize,
    ) {
        self.begin_row();
        self.write("- ");
        if let Some(date) = date.filter(|date| !date.is_blank()) {
            self.write("[");
            self.value(date, 40);
            self.write("] ");
        }
        self.write(mark);
        let start = self.sink.text.len();
        let fenced = fence::one_line(&mut self.sink.text, &text.0.text, max_chars);
        self.finish(start, &text.0, "context", fenced);
    }

    /// Names in one row, separated by commas.
    pub fn names<'l>(&mut self, label: &'static str, names: impl Iterator<Item = &'l Line>) {
        self.begin_row();
        self.write(label);
        for (index, name) in names.enumerate() {
            if index > 0 {
                self.write(", ");
            }
            self.value(name, MAX_NAME);
        }
    }

    /// A heading of the blueprint's author. It is one of the prompt's own titles.
    pub(crate) fn heading(&mut self, title: &Line) {
        self.begin_block();
        self.write("## ");
        self.value(title, MAX_NAME);
    }

    /// A block of prose with values.
    pub fn template(&mut self, template: &Template, values: &[(&str, Value<'_>)]) {
        self.begin_block();
        self.pieces(template, values);
    }

    /// More prose of the same block, from the next line on.
    pub fn continue_template(&mut self, template: &Template) {
        self.write("\n");
        self.pieces(template, &[]);
    }

    fn pieces(&mut self, template: &Template, values: &[(&str, Value<'_>)]) {
        let start = self.sink.text.len();
        for piece in &template.pieces {
            match piece {
                Piece::Text { text, measured: Some(measured) } => {
                    self.sink.read_on();
                    self.sink.text.push_str(text);
                    self.sink.meter.absorb(measured);
                    self.sink.metered = self.sink.text.len();
                }
                Piece::Text { text, measured: None } => self.write(text),
                Piece::Slot(name) => {
                    if let Some((_, value)) = values.iter().find(|(n, _)| n == name) {
                        self.slot(value);
                    }
                }
            }
        }
        self.span(start, Origin::Named(template.name), 0);
    }

    /// A block of operator or user text. `field` names it where it has no source of its own.
    pub fn document(&mut self, document: &Document, field: &'static str) {
        self.begin_block();
        let start = self.sink.text.len();
        let fenced = fence::document(&mut self.sink.text, &document.0.text, self.titles);
        self.finish(start, &document.0, field, fenced);
    }

    /// A block of operator text in which `{{name}}` is replaced, in one pass, by values that are data.
    pub fn document_with(
        &mut self,
        document: &Document,
        field: &'static str,
        values: &[(&str, &Line)],
    ) {
        let mut filled = String::with_capacity(document.0.text.len());
        let mut rest = document.0.text.as_str();
        while let Some((before, name, after)) = next_slot(rest) {
            filled.push_str(before);
            match values.iter().find(|(n, _)| *n == name) {
                Some((_, value)) => {
                    let fenced = fence::value_in_document(&mut filled, &value.0, MAX_LINE);
                    self.note_value(value, MAX_LINE, fenced);
                }
                None => {
                    let _ = write!(filled, "{{{{{name}}}}}");
                }
            }
            rest = after;
        }
        filled.push_str(rest);
        self.begin_block();
        let start = self.sink.text.len();
        let fenced = fence::document(&mut self.sink.text, &filled, self.titles);
        self.finish(start, &document.0, field, fenced);
    }

    /// A block of untrusted text, quoted line by line.
    pub fn fence(&mut self, text: &Untrusted, field: &'static str) {
        self.begin_block();
        let start = self.sink.text.len();
        if self.exceeds_limit() {
            // Only the size is still of interest.
            self.sink.meter.feed(&text.0.text);
            return;
        }
        let fenced = fence::quote(&mut self.sink.text, &text.0.text);
        self.finish(start, &text.0, field, fenced);
    }

    /// Says in the manifest that something was left out or changed.
    pub fn note(&mut self, kind: &'static str, id: &str, reason: String) {
        self.sink.notes.push(Filtered { kind: kind.into(), id: id.to_owned(), reason });
    }

    fn slot(&mut self, value: &Value<'_>) {
        match value {
            Value::Line(line) => self.value(line, MAX_LINE),
            Value::Word(word) => self.write(word),
            Value::Percent(ratio) => push_percent(&mut self.sink.text, *ratio, 1),
            Value::RoundPercent(ratio) => push_percent(&mut self.sink.text, *ratio, 0),
        }
    }

    fn value(&mut self, line: &Line, max_chars: usize) {
        let fenced = fence::one_line(&mut self.sink.text, &line.0, max_chars);
        self.note_value(line, max_chars, fenced);
    }

    #[inline]
    fn note_value(&mut self, line: &Line, max_chars: usize, fenced: Fenced) {
        if fenced != Fenced::default() {
            self.note_changed_value(line, max_chars, fenced);
        }
    }

    #[cold]
    fn note_changed_value(&mut self, line: &Line, max_chars: usize, fenced: Fenced) {
        if fenced.shortened {
            let id: String = line.0.chars().take(40).collect();
            self.note("value", &id, format!("shortened to {max_chars} characters"));
        }
        self.note_removed("value", &line.0, fenced);
    }

    fn finish(&mut self, start: usize, body: &Body, field: &'static str, fenced: Fenced) {
        let origin = match &body.source {
            Some(source) => Origin::File(Source {
                path: source.path.clone(),
                first_line: source.first_line.saturating_add(fenced.skipped_lines),
            }),
            None => Origin::Named(field),
        };
        // The note of a cut is a line of its own after a blank one.
        let noted = if body.cut.is_some() { 2 } else { 0 };
        self.span(start, origin, fenced.added_lines + noted);
        let id = body.source.as_ref().map_or(field, |source| &source.path);
        if let Some(cut) = &body.cut {
            let reason = format!(
                "cut to {} characters: {} left out, lines {} to {}",
                cut.limit, cut.chars, cut.lines[0], cut.lines[1]
            );
            self.sink.notes.push(Filtered { kind: "file".into(), id: id.to_owned(), reason });
        }
        if fenced.quoted {
            let reason =
                "a block in it does not end, or a heading reads as one of the prompt's own, \
                          so it is quoted line by line"
                    .to_owned();
            self.sink.notes.push(Filtered { kind: "markdown".into(), id: id.to_owned(), reason });
        }
        if fenced.removed > 0 {
            self.note_removed("text", id, fenced);
        }
    }

    fn note_removed(&mut self, kind: &'static str, id: &str, fenced: Fenced) {
        if fenced.removed > 0 {
            let id: String = id.chars().filter(|c| !c.is_control()).take(40).collect();
            let plural = if fenced.removed == 1 { "" } else { "s" };
            self.note(kind, &id, format!("{} hidden character{plural} removed", fenced.removed));
        }
    }

    fn span(&mut self, start: usize, origin: Origin, added_lines: u32) {
        let end = self.sink.text.len();
        if end > start {
            self.sink.spans.push(Span { start, end, origin, added_lines });
        }
    }

    fn write(&mut self, text: &str) {
        self.sink.text.push_str(text);
    }

    fn begin_block(&mut self) {
        if !self.is_empty() {
            self.write("\n\n");
        }
        self.in_rows = false;
        self.gap = false;
    }

    fn begin_row(&mut self) {
        if !self.is_empty() {
            let tight = self.in_rows && !self.gap;
            self.write(if tight { "\n" } else { "\n\n" });
        }
        self.in_rows = true;
        self.gap = false;
    }
}

/// A ratio from 0 to 1 as a percentage, halves rounded up. Whole numbers, since formatting a float
/// exactly costs more than the rest of a section.
fn push_percent(out: &mut String, ratio: f64, decimals: u32) {
    let scale = 10u32.pow(decimals);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a ratio is from 0 to 1"
    )]
    let scaled = (ratio.clamp(0.0, 1.0) * 100.0 * f64::from(scale) + 0.5) as u32;
    let (whole, part) = (scaled / scale, scaled % scale);
    push_number(out, whole);
    if decimals > 0 {
        out.push('.');
        push_number(out, part);
    }
    out.push('%');
}

/// A number from 0 to 999.
fn push_number(out: &mut String, number: u32) {
    for (place, least) in [(100, 100), (10, 10), (1, 0)] {
        if number >= least {
            out.push(char::from(b'0' + u8::try_from(number / place % 10).unwrap_or(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_written_as_people_do() {
        let percent = |ratio, decimals| {
            let mut out = String::new();
            push_percent(&mut out, ratio, decimals);
            out
        };
        assert_eq!(percent(0.25, 1), "25.0%");
        assert_eq!(percent(0.3, 0), "30%");
        assert_eq!(percent(1.0, 1), "100.0%");
        assert_eq!(percent(0.0, 0), "0%");
        assert_eq!(percent(0.0666, 1), "6.7%");
        assert_eq!(percent(0.101, 0), "10%");
    }
}
