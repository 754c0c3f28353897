//! A text with all signals found in it, as input for the rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::screen::context::{Stance, stance};
use crate::screen::decode::{payloads, undisguised};
use crate::screen::document::{Document, Place, Unit, newlines};
use crate::screen::normalise::{Hidden, Normalised, normalise};
use crate::screen::policy::Policy;
use crate::screen::scan::{Scan, Signal, scan};

/// How a piece of text came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// As written.
    Written,
    /// With its spelling made plain.
    Undisguised,
    /// Decoded from a payload or from invisible characters.
    Decoded,
}

/// A text to read, with its units.
#[derive(Debug)]
struct Layer {
    text: String,
    document: Document,
    origin: Origin,
}

/// A signal and its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting {
    pub(crate) signal: Signal,
    pub(crate) line: u32,
    pub(crate) place: Place,
    pub(crate) block: u32,
    pub(crate) stance: Stance,
    pub(crate) origin: Origin,
    layer: usize,
    unit: u32,
    start: usize,
    end: usize,
}

/// A text with everything that was seen in it.
#[derive(Debug)]
pub(crate) struct Page {
    layers: Vec<Layer>,
    sightings: Vec<Sighting>,
    /// Which sightings are of a signal.
    by_signal: BTreeMap<Signal, Vec<usize>>,
    /// The way back to the text as written.
    normalised: Normalised,
    /// Some pattern matched so often that not every match was kept.
    pub(crate) flooded: bool,
    /// What was seen in the text as written.
    written: Scan,
}

/// No unit, and no block in which signals have to do with each other, has more lines than this.
const UNIT_LINES: u32 = 100;
const BLOCK_LINES: u32 = 200;

/// Payloads within payloads are followed this deep.
const MAX_DEPTH: usize = 3;

impl Page {
    /// Reads a skill.
    pub(crate) fn read(content: &str, policy: Policy) -> Self {
        let mut normalised: Normalised = normalise(content);
        let text = normalised.take_text();
        let document = Document::read(&text);
        let mut page = Self {
            layers: Vec::new(),
            sightings: Vec::new(),
            by_signal: BTreeMap::new(),
            normalised,
            flooded: false,
            written: Scan::default(),
        };
        let plain = undisguised_layer(&text, &document);
        let mut decoded = decoded_layer(&text, page.hidden());
        page.push(Layer { text, document, origin: Origin::Written }, policy);
        if let Some(layer) = plain {
            let inner = decoded_layer(&layer.text, &[]);
            page.push(layer, policy);
            if let Some(inner) = inner {
                page.push(inner, policy);
            }
        }
        for _ in 0..MAX_DEPTH {
            let Some(layer) = decoded else { break };
            decoded = deeper_layer(&layer);
            page.push(layer, policy);
        }
        page.sightings.sort_by_key(|s| (s.line, s.layer, s.start));
        for (index, sighting) in page.sightings.iter().enumerate() {
            page.by_signal.entry(sighting.signal).or_default().push(index);
        }
        page
    }

    fn push(&mut self, layer: Layer, policy: Policy) {
        let found: Scan = scan(&layer.text, &layer.document, policy);
        self.flooded |= found.flooded;
        let index = self.layers.len();
        let known: BTreeSet<(Signal, u32)> = match layer.origin {
            Origin::Undisguised => self.sightings.iter().map(|s| (s.signal, s.line)).collect(),
            _ => BTreeSet::new(),
        };
        for m in &found.matches {
            let Some(unit) = unit(&layer.document, m.unit) else { continue };
            let stance = match layer.origin {
                Origin::Decoded => Stance::Use,
                _ => stance(&layer.text, &layer.document, &found, m.unit, m.start, m.end),
            };
            let line = match layer.origin {
                Origin::Written => {
                    unit.line + newlines(layer.text.get(unit.start..m.start).unwrap_or_default())
                }
                _ => unit.line,
            };
            let around = (m.signal, line.saturating_sub(3))..=(m.signal, line.saturating_add(3));
            if known.range(around).next().is_some() {
                continue;
            }
            self.sightings.push(Sighting {
                signal: m.signal,
                line,
                place: unit.place,
                block: unit.block,
                stance,
                origin: layer.origin,
                layer: index,
                unit: m.unit,
                start: m.start,
                end: m.end,
            });
        }
        if layer.origin == Origin::Written {
            self.written = found;
        }
        self.layers.push(layer);
    }

    /// Whether a stretch of a unit of the text as written is used, mentioned or forbidden.
    pub(crate) fn stance(&self, unit: u32, start: usize, end: usize) -> Stance {
        self.layers.first().map_or(Stance::Use, |layer| {
            stance(&layer.text, &layer.document, &self.written, unit, start, end)
        })
    }

    /// Runs of invisible characters that had no business being there.
    pub(crate) fn hidden(&self) -> &[Hidden] {
        self.normalised.hidden()
    }

    /// Lines with words that mix Latin letters and their lookalikes.
    pub(crate) fn forged_lines(&self) -> &[u32] {
        self.normalised.forged_lines()
    }

    /// Where a sighting starts in the original, in bytes, if it is there to be read.
    pub(crate) fn original_offset(&self, sighting: &Sighting) -> Option<usize> {
        let written = sighting.origin == Origin::Written;
        written.then(|| self.normalised.original_offset(sighting.start))
    }

    /// Every use of a signal, in order of lines.
    pub(crate) fn uses(&self, signal: Signal) -> impl Iterator<Item = &Sighting> {
        self.all(signal).filter(|s| s.stance == Stance::Use)
    }

    /// Every mention of a signal that nothing plainly forbids.
    pub(crate) fn mentions(&self, signal: Signal) -> impl Iterator<Item = &Sighting> {
        self.all(signal).filter(|s| s.stance == Stance::Mention)
    }

    /// Every sighting of a signal, mentions included.
    pub(crate) fn all(&self, signal: Signal) -> impl Iterator<Item = &Sighting> {
        self.by_signal.get(&signal).into_iter().flatten().filter_map(|i| self.sightings.get(*i))
    }

    /// Every sighting in text that is not visible as written.
    pub(crate) fn in_hidden_text(&self) -> impl Iterator<Item = &Sighting> {
        self.sightings.iter().filter(|s| s.place.is_hidden())
    }

    /// The uses of a signal within `lines` lines of `from`, by line.
    fn around(
        &self,
        from: &Sighting,
        signal: Signal,
        lines: u32,
    ) -> impl Iterator<Item = &Sighting> {
        let (first, last) = (from.line.saturating_sub(lines), from.line.saturating_add(lines));
        let all = self.by_signal.get(&signal).map(Vec::as_slice).unwrap_or_default();
        let line = |i: &usize| self.sightings.get(*i).map_or(0, |s| s.line);
        let start = all.partition_point(|i| line(i) < first);
        let near = all.iter().skip(start).filter_map(|i| self.sightings.get(*i));
        near.take_while(move |s| s.line <= last).filter(|s| s.stance == Stance::Use)
    }

    /// The first use of a signal within `lines` lines of `from`.
    pub(crate) fn near(&self, from: &Sighting, signal: Signal, lines: u32) -> Option<&Sighting> {
        self.around(from, signal, lines).next()
    }

    /// The first use of a signal in the same unit of text.
    pub(crate) fn beside(&self, from: &Sighting, signal: Signal) -> Option<&Sighting> {
        let unit = (from.layer, from.unit);
        self.around(from, signal, UNIT_LINES).find(|s| (s.layer, s.unit) == unit)
    }

    /// The first use of a signal in the same paragraph, list item or fence.
    pub(crate) fn in_block(&self, from: &Sighting, signal: Signal) -> Option<&Sighting> {
        let block = (from.block, from.place);
        self.around(from, signal, BLOCK_LINES).find(|s| (s.block, s.place) == block)
    }

    /// The text that matched.
    pub(crate) fn matched(&self, sighting: &Sighting) -> &str {
        self.piece(sighting, sighting.start, sighting.end)
    }

    /// The sentence or line of code around a sighting.
    pub(crate) fn unit_text(&self, sighting: &Sighting) -> &str {
        match self.unit(sighting) {
            Some(unit) => self.piece(sighting, unit.start, unit.end),
            None => "",
        }
    }

    /// The text before a sighting in its unit.
    pub(crate) fn before(&self, sighting: &Sighting) -> &str {
        match self.unit(sighting) {
            Some(unit) => self.piece(sighting, unit.start, sighting.start),
            None => "",
        }
    }

    /// Whether a sighting is in running text: outside code, or in a line of a fence that reads as a
    /// sentence rather than as code.
    pub(crate) fn in_text(&self, sighting: &Sighting) -> bool {
        sighting.place != Place::Code || reads_as_sentence(self.unit_text(sighting))
    }

    /// Whether a sighting stands between backticks or quotes within its sentence.
    pub(crate) fn is_quoted(&self, sighting: &Sighting) -> bool {
        let before = self.before(sighting);
        let odd = |c: char| before.matches(c).count() % 2 == 1;
        odd('`') || odd('"')
    }

    /// The text as normalised.
    pub(crate) fn text(&self) -> &str {
        self.layers.first().map_or("", |l| l.text.as_str())
    }

    /// The units of the text as written.
    pub(crate) fn units(&self) -> &[Unit] {
        self.layers.first().map_or(&[], |l| l.document.units.as_slice())
    }

    /// The lines of code, each with the language of its fence. Indented code has none.
    pub(crate) fn code_units(&self) -> impl Iterator<Item = (&Unit, &str)> {
        self.layers.first().into_iter().flat_map(|layer| {
            let units = layer.document.units.iter().filter(|u| u.place == Place::Code);
            units.map(|u| {
                let fence = layer.document.fence(u.block);
                (u, fence.map_or("", |fence| fence.language.as_str()))
            })
        })
    }

    fn unit(&self, sighting: &Sighting) -> Option<&Unit> {
        unit(&self.layers.get(sighting.layer)?.document, sighting.unit)
    }

    fn piece(&self, sighting: &Sighting, start: usize, end: usize) -> &str {
        self.layers.get(sighting.layer).and_then(|l| l.text.get(start..end)).unwrap_or_default()
    }
}

fn unit(document: &Document, id: u32) -> Option<&Unit> {
    usize::try_from(id).ok().and_then(|i| document.units.get(i))
}

/// The units that wore a disguise, without it.
fn undisguised_layer(text: &str, document: &Document) -> Option<Layer> {
    let mut out = String::new();
    let mut units = Vec::new();
    for unit in &document.units {
        let body = text.get(unit.start..unit.end).unwrap_or_default();
        let Some(plain) = undisguised(body, unit.place == Place::Code) else { continue };
        let start = out.len();
        out.push_str(normalise(&plain).text());
        units.push(Unit { start, end: out.len(), heading: None, lead: None, ..*unit });
        out.push('\n');
    }
    let document = Document { units, fences: Vec::new() };
    (!out.is_empty()).then_some(Layer { text: out, document, origin: Origin::Undisguised })
}

/// What payloads and invisible characters in a text as written say.
fn decoded_layer(text: &str, hidden: &[Hidden]) -> Option<Layer> {
    let mut builder = Builder::default();
    for run in hidden.iter().filter(|h| !h.spelled.is_empty()) {
        builder.add(&run.spelled, run.line);
    }
    let mut line = 1;
    let mut counted = 0;
    for payload in payloads(text) {
        line += newlines(text.get(counted..payload.range.start).unwrap_or_default());
        counted = payload.range.start;
        builder.add(&payload.text, line);
    }
    builder.finish()
}

fn deeper_layer(layer: &Layer) -> Option<Layer> {
    let mut builder = Builder::default();
    for unit in &layer.document.units {
        for payload in payloads(layer.text.get(unit.start..unit.end).unwrap_or_default()) {
            builder.add(&payload.text, unit.line);
        }
    }
    builder.finish()
}

#[derive(Default)]
struct Builder {
    text: String,
    units: Vec<Unit>,
}

impl Builder {
    fn add(&mut self, decoded: &str, line: u32) {
        let plain = normalise(decoded);
        for unit in Document::read_lines(plain.text(), line, Place::Decoded).units {
            let base = self.text.len();
            self.units.push(Unit { start: base + unit.start, end: base + unit.end, ..unit });
        }
        self.text.push_str(plain.text());
        self.text.push('\n');
    }

    fn finish(self) -> Option<Layer> {
        let document = Document { units: self.units, fences: Vec::new() };
        (!self.text.is_empty()).then_some(Layer {
            text: self.text,
            document,
            origin: Origin::Decoded,
        })
    }
}

/// Words and blanks, not the marks of code; code between backticks does not count.
fn reads_as_sentence(line: &str) -> bool {
    let mut words = 0;
    let mut marks = 0;
    let mut letters = 0;
    for (index, part) in line.trim().split('`').enumerate() {
        if index % 2 == 0 {
            words += part
                .split_whitespace()
                .filter(|w| {
                    w.bytes()
                        .all(|b| b.is_ascii_alphabetic() || b >= 0x80 || b",.:;!?'-".contains(&b))
                })
                .count();
            letters += part.chars().filter(|c| c.is_alphabetic()).count();
            marks += part.bytes().filter(|b| b"=(){}[]<>|&$;\\\"+/_@".contains(b)).count();
        }
    }
    let start = line.trim_start();
    let comment =
        ["#", "//", "/*", "*", "--", "\"", "'", "<"].iter().any(|mark| start.starts_with(mark));
    words >= 6 && marks * 12 <= letters && !comment
}
