//! Encodings in which a few characters are a few whole bytes: base32 in three alphabets, and base64 and
//! hexadecimal digits where a second encoding lies below them.
//!
//! Each character is shifted into a register that holds the last ones. Only where eight in a row are
//! printable bytes is anything looked at further, which by chance is rare. A group can begin at any
//! character: each place within a group has its own sequence of bytes.

use crate::canary::Words;
use crate::canary::alphabet::{Alphabet, BASE64, HEX, in_any_case, value};
use crate::canary::decoded::{Decoded, Layer, is_printable};
use crate::canary::detector::Encoding;
use crate::canary::readings::{Hit, Place};

/// Characters that may stand between two of a group: line breaks, quotes, blanks.
const MAX_GAP: usize = 8;
/// Characters that a sequence begins with: one group of base32, two of base64, four of hexadecimal digits.
const MIN_CHARS: usize = 8;
const HIGH_BITS: u64 = 0x8080_8080_8080;

/// Some encodings, read side by side.
#[derive(Debug, Clone)]
pub(crate) struct Grouped {
    /// base32 and, in the outer layer, hexadecimal digits: letters and digits only.
    alphanumeric: Ring,
    registers: Vec<Register>,
    /// base64, whose alphabet has marks in it, in the outer layer.
    base64: Option<(Ring, Register)>,
    layer: Layer,
}

impl Grouped {
    /// base32: RFC 4648, its variant with hexadecimal digits first, and Crockford's.
    pub(crate) fn base32(layer: Layer) -> Self {
        Self {
            alphanumeric: Ring::default(),
            registers: BASE32.iter().map(|alphabet| Register::new(5, alphabet)).collect(),
            base64: None,
            layer,
        }
    }

    /// The same, and base64 and hexadecimal digits for a second layer.
    pub(crate) fn all() -> Self {
        let mut all = Self::base32(Layer::Outer);
        all.registers.push(Register::new(4, &HEX));
        all.base64 = Some((Ring::default(), Register::new(6, &BASE64)));
        all
    }

    pub(crate) fn read(&mut self, words: &Words, b: u8, here: Place) -> Option<(Encoding, Hit)> {
        let mut found = None;
        if let Some((ring, register)) = &mut self.base64 {
            let read = ring.read(value(&BASE64, b).is_some(), b, here);
            let hit = register.read(words, ring, read, b, here, self.layer);
            found = hit.map(|hit| (Encoding::Base64, hit));
        }
        let ring = &mut self.alphanumeric;
        let read = ring.read(b.is_ascii_alphanumeric(), b, here);
        if read == Read::Nothing {
            return found;
        }
        for register in &mut self.registers {
            let hit = register.read(words, ring, read, b, here, self.layer);
            if let Some(hit) = hit {
                found = found.or(Some((register.encoding(), hit)));
            }
        }
        found
    }

    pub(crate) fn finish(&mut self, words: &Words, here: Place) -> Option<(Encoding, Hit)> {
        let mut hit = None;
        if let Some((ring, register)) = &mut self.base64 {
            hit = register.end(words, ring, here).map(|hit| (Encoding::Base64, hit));
        }
        for register in &mut self.registers {
            let found = register.end(words, &self.alphanumeric, here);
            hit = hit.or(found.map(|found| (register.encoding(), found)));
        }
        hit
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let base64 =
            self.base64.as_ref().and_then(|(ring, register)| register.held_from(ring, here));
        let ring = &self.alphanumeric;
        let others = self.registers.iter().filter_map(|register| register.held_from(ring, here));
        others.chain(base64).min()
    }
}

/// What a byte is to the encodings of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// A mark between two characters.
    Nothing,
    /// The end of what was read so far.
    End,
    /// A character that goes on.
    Character,
    /// A character too far from the one before.
    First,
}

/// Where the last characters of an encoding stand.
#[derive(Debug, Clone, Default)]
struct Ring {
    starts: [Place; MIN_CHARS],
    last: Place,
    /// Characters so far.
    count: usize,
}

impl Ring {
    fn read(&mut self, is_character: bool, b: u8, here: Place) -> Read {
        if !is_character {
            // Padding ends an encoding; marks between characters are passed over.
            let ends = b == b'=' || self.is_far(here);
            return if ends { Read::End } else { Read::Nothing };
        }
        let read = if self.is_far(here) { Read::First } else { Read::Character };
        self.last = here;
        self.count += 1;
        if let Some(slot) = self.starts.get_mut(self.count % MIN_CHARS) {
            *slot = here;
        }
        read
    }

    fn is_far(&self, here: Place) -> bool {
        here.nth - self.last.nth > MAX_GAP + 1
    }

    /// Where the character stands that is so many before the next one.
    fn start(&self, back: usize) -> Option<Place> {
        self.starts.get((self.count + 1).checked_sub(back)? % MIN_CHARS).copied()
    }
}

/// One encoding.
#[derive(Debug, Clone)]
struct Register {
    alphabet: &'static Alphabet,
    bits: usize,
    /// Characters of a group.
    chars: usize,
    /// The bits of the characters that a sequence begins with.
    mask: u64,
    /// The bits of the last characters.
    window: u64,
    /// How many characters in a row it holds.
    filled: usize,
    streams: Vec<Stream>,
}

/// The groups that begin at one place within a group.
#[derive(Debug, Clone)]
struct Stream {
    phase: usize,
    /// The count of its last group.
    last: usize,
    decoded: Decoded,
}

impl Register {
    fn new(bits: usize, alphabet: &'static Alphabet) -> Self {
        let chars = match bits {
            5 => 8,
            6 => 4,
            _ => 2,
        };
        let mask = (1 << (bits * MIN_CHARS)) - 1;
        Self { alphabet, bits, chars, mask, window: 0, filled: 0, streams: Vec::new() }
    }

    // Every character comes here five times, and nearly always goes no further.
    #[inline(always)]
    fn read(
        &mut self,
        words: &Words,
        ring: &Ring,
        read: Read,
        b: u8,
        here: Place,
        layer: Layer,
    ) -> Option<Hit> {
        match value(self.alphabet, b) {
            Some(value) if read == Read::Character => {
                self.shift(value);
                if self.streams.is_empty() && self.window & self.mask & HIGH_BITS != 0 {
                    return None;
                }
                self.decode(words, ring, here, layer)
            }
            None if self.streams.is_empty() => {
                self.filled = if read == Read::Nothing { self.filled } else { 0 };
                None
            }
            value => self.interrupt(words, ring, read, value, here),
        }
    }

    fn shift(&mut self, value: u8) {
        self.filled += 1;
        self.window = self.window << self.bits | u64::from(value);
    }

    /// Something other than the next character: a mark, the end, a character of another encoding, or one
    /// too far from the last.
    #[cold]
    fn interrupt(
        &mut self,
        words: &Words,
        ring: &Ring,
        read: Read,
        value: Option<u8>,
        here: Place,
    ) -> Option<Hit> {
        if read == Read::Nothing {
            return None;
        }
        let count = if read == Read::End { ring.count } else { ring.count - 1 };
        let hit = self.end_at(words, ring, count, here);
        if let Some(value) = value {
            self.shift(value);
        }
        hit
    }

    fn encoding(&self) -> Encoding {
        match self.bits {
            4 => Encoding::Hex,
            6 => Encoding::Base64,
            _ => Encoding::Base32,
        }
    }

    /// Reads the group that ends here, and ends the sequence that it breaks.
    #[inline(never)]
    fn decode(&mut self, words: &Words, ring: &Ring, here: Place, layer: Layer) -> Option<Hit> {
        let (phase, count) = (ring.count % self.chars, ring.count);
        let mut hit = None;
        let known = self.streams.iter_mut().find(|stream| stream.phase == phase);
        // A sequence goes on with a group, and begins with several.
        let chars = if known.is_some() { self.chars } else { MIN_CHARS };
        let length = self.bits * chars / 8;
        let bytes = self.window.to_be_bytes();
        // The bits of the last characters end with the lowest bit.
        let bytes = bytes.get(bytes.len() - length..)?;
        if self.filled >= chars && bytes.iter().copied().all(is_printable) {
            let stream = match known {
                Some(stream) => stream,
                None => {
                    let decoded = Decoded::new(layer);
                    self.streams.push(Stream { phase, last: count, decoded });
                    self.streams.last_mut()?
                }
            };
            stream.last = count;
            for (nth, b) in bytes.iter().enumerate() {
                let start = ring.start(chars - nth * 8 / self.bits)?;
                hit = hit.or(stream.decoded.read(words, *b, start, here));
            }
        }
        let broken = self.streams.iter().position(|s| count - s.last >= self.chars);
        if let Some(at) = broken {
            hit = hit.or(self.streams.swap_remove(at).decoded.finish(words, here));
        }
        hit
    }

    fn end(&mut self, words: &Words, ring: &Ring, here: Place) -> Option<Hit> {
        self.end_at(words, ring, ring.count, here)
    }

    /// The encoding has ended with its character `count`: the rest of a group may hold another byte or two.
    fn end_at(&mut self, words: &Words, ring: &Ring, count: usize, here: Place) -> Option<Hit> {
        self.filled = 0;
        if self.streams.is_empty() {
            return None;
        }
        let mut hit = None;
        let (width, window) = (self.bits, self.window);
        for mut stream in self.streams.drain(..) {
            let bits = count.saturating_sub(stream.last) * width;
            let bytes = bits / 8;
            let rest = (window >> (bits % 8) << (64 - 8 * bytes).min(63)).to_be_bytes();
            let rest = rest.iter().take(bytes).copied().take_while(|b| is_printable(*b));
            for b in rest {
                hit = hit.or(stream.decoded.read(words, b, ring.last, here));
            }
            hit = hit.or(stream.decoded.finish(words, here));
        }
        hit
    }

    fn held_from(&self, ring: &Ring, here: Place) -> Option<usize> {
        if ring.is_far(here) || self.filled == 0 {
            return None;
        }
        let open = ring.start(self.filled.min(MIN_CHARS)).map(|place| place.byte);
        let going_on = self.streams.iter().filter(|s| ring.count - s.last < self.chars);
        let streams = going_on.filter_map(|stream| stream.decoded.held_from(here)).min();
        [open, streams].into_iter().flatten().min()
    }
}

static BASE32: [Alphabet; 3] = [
    in_any_case(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    in_any_case(b"0123456789ABCDEFGHIJKLMNOPQRSTUV"),
    in_any_case(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
];
