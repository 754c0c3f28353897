//! Bytes that an encoding stands for: held against the canaries, and read as an encoding once more.
//!
//! Almost no text decodes to printable characters by chance. So the second layer, which costs as much as
//! a whole text, begins only after some of them in a row and ends with the first byte that is not one.

use crate::canary::Words;
use crate::canary::grouped::Grouped;
use crate::canary::readings::{Base64, Hex, Hit, Numbers, Place, Track};
use crate::canary::shifted::Shifted;
use crate::canary::tokens::Tokens;

/// Printable bytes in a row before the second layer begins.
const MIN_PRINTABLE: usize = 6;

/// How many encodings lie around what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Outer,
    Inner,
}

/// Whether a byte can be part of a text.
pub(crate) fn is_printable(b: u8) -> bool {
    matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// A sequence of decoded bytes.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    track: Track,
    shifted: Shifted,
    /// The first printable bytes, until the second layer begins.
    waiting: Vec<(u8, Place)>,
    inner: Option<Box<Inner>>,
    layer: Layer,
}

impl Decoded {
    pub(crate) fn new(layer: Layer) -> Self {
        Self {
            track: Track::default(),
            shifted: Shifted::default(),
            waiting: Vec::new(),
            inner: None,
            layer,
        }
    }

    /// Takes one byte, whose form starts at `start` and was complete at `here`.
    pub(crate) fn read(&mut self, words: &Words, b: u8, start: Place, here: Place) -> Option<Hit> {
        let hit = self.track.read(&words.plain, b, start, here);
        let hit = hit.or(self.shifted.read(&words.shifted, b, start, here));
        if hit.is_some() || self.layer == Layer::Inner {
            return hit;
        }
        if let Some(inner) = &mut self.inner {
            return inner.read(words, b, start);
        }
        self.waiting.push((b, start));
        if self.waiting.len() < MIN_PRINTABLE {
            return None;
        }
        let mut inner = Box::<Inner>::default();
        let waiting = std::mem::take(&mut self.waiting);
        let hit = waiting.into_iter().find_map(|(b, start)| inner.read(words, b, start));
        self.inner = Some(inner);
        hit
    }

    pub(crate) fn finish(&mut self, words: &Words, here: Place) -> Option<Hit> {
        self.inner.as_mut()?.finish(words, here)
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let waiting = self.waiting.first().map(|(_, place)| *place);
        let waiting = waiting.filter(|place| here.reaches(*place)).map(|place| place.byte);
        let inner = self.inner.as_ref().and_then(|inner| inner.held_from(here));
        let own = [self.track.held_from(here), self.shifted.held_from(here)];
        own.into_iter().chain([waiting, inner]).flatten().min()
    }
}

/// The readings of a text that was encoded once already.
#[derive(Debug, Clone)]
struct Inner {
    hex: Hex,
    base64: Base64,
    numbers: Numbers,
    base32: Grouped,
    tokens: Tokens,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            hex: Hex::default(),
            base64: Base64::default(),
            numbers: Numbers::default(),
            base32: Grouped::base32(Layer::Inner),
            tokens: Tokens::new(Layer::Inner),
        }
    }
}

impl Inner {
    fn read(&mut self, words: &Words, b: u8, here: Place) -> Option<Hit> {
        let runs = &words.plain;
        let hit = self.hex.read(runs, b, here);
        let hit = hit.or_else(|| self.base64.read(runs, b, here));
        let hit = hit.or_else(|| self.numbers.read(runs, b, here));
        let hit = hit.or_else(|| self.base32.read(words, b, here).map(|found| found.1));
        let hit = hit.or_else(|| self.tokens.read(words, b, here));
        hit.map(|hit| Hit { twice: true, ..hit })
    }

    fn finish(&mut self, words: &Words, here: Place) -> Option<Hit> {
        let hit = self.base32.finish(words, here).map(|found| found.1);
        let hit = hit.or_else(|| self.hex.finish(&words.plain, here));
        let hit = hit.or_else(|| self.numbers.finish(&words.plain, here));
        let hit = hit.or_else(|| self.tokens.finish(words, here));
        hit.map(|hit| Hit { twice: true, ..hit })
    }

    fn held_from(&self, here: Place) -> Option<usize> {
        let held = [
            self.hex.held_from(here),
            self.base64.held_from(here),
            self.numbers.held_from(here),
            self.base32.held_from(here),
            self.tokens.held_from(here),
        ];
        held.into_iter().flatten().min()
    }
}
