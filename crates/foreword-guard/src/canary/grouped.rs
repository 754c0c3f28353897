//! Encodings in which a few characters are a few whole bytes: base32 in three alphabets, and base64 and
//! hexadecimal digits where a second encoding lies below them.
//!
//! Each character is shifted into a register that holds one group. Only a group of printable bytes is
//! looked at further, which by chance is rare. A group can begin at any character: each place within a
//! group has its own sequence of bytes.

use crate::canary::Words;
use crate::canary::alphabet::{Alphabet, base64, in_any_case, value};
use crate::canary::decoded::{Decoded, Layer, is_printable};
use crate::canary::detector::Encoding;
use crate::canary::readings::{Hit, Place};

/// Characters that may stand between two of a group: line breaks, quotes, blanks.
const MAX_GAP: usize = 8;
const MAX_CHARS: usize = 8;

/// Some encodings, read side by side.
#[derive(Debug)]
pub(crate) struct Grouped {
    registers: Vec<Register>,
    layer: Layer,
}

impl Grouped {
    /// base32: RFC 4648, its variant with hexadecimal digits first, and Crockford's.
    pub(crate) fn base32(layer: Layer) -> Self {
        Self {
            registers: BASE32.iter().map(|alphabet| Register::new(5, alphabet)).collect(),
            layer,
        }
    }

    /// The same, and base64 and hexadecimal digits for a second layer.
    pub(crate) fn all() -> Self {
        let mut all = Self::base32(Layer::Outer);
        all.registers.extend([Register::new(6, &BASE64), Register::new(4, &HEX)]);
        all
    }

    pub(crate) fn read(&mut self, words: &Words, b: u8, here: Place) -> Option<(Encoding, Hit)> {
        let mut found = None;
        for register in &mut self.registers {
            let hit = register.read(words, b, here, self.layer);
            found = found.or(hit.map(|hit| (register.encoding(), hit)));
        }
        found
    }

    pub(crate) fn finish(&mut self, words: &Words, here: Place) -> Option<(Encoding, Hit)> {
        let end = |register: &mut Register| {
            register.end(words, here).map(|hit| (register.encoding(), hit))
        };
        self.registers.iter_mut().find_map(end)
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        self.registers.iter().filter_map(|register| register.held_from(here)).min()
    }
}

/// One encoding.
#[derive(Debug)]
struct Register {
    alphabet: &'static Alphabet,
    bits: usize,
    /// Characters of a group.
    chars: usize,
    /// The bits of the last characters.
    window: u64,
    /// How many characters in a row it holds.
    filled: usize,
    count: usize,
    starts: [Place; MAX_CHARS],
    last: Place,
    streams: Vec<Stream>,
}

/// The groups that begin at one place within a group.
#[derive(Debug)]
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
        Self {
            alphabet,
            bits,
            chars,
            window: 0,
            filled: 0,
            count: 0,
            starts: Default::default(),
            last: Place::default(),
            streams: Vec::new(),
        }
    }

    fn read(&mut self, words: &Words, b: u8, here: Place, layer: Layer) -> Option<Hit> {
        let Some(value) = value(self.alphabet, b) else {
            // A letter or digit of another encoding ends this one, and so does padding. Marks between
            // are passed over.
            let ends = b == b'=' || b.is_ascii_alphanumeric() || self.is_far(here);
            return if ends { self.end(words, here) } else { None };
        };
        let mut hit = if self.is_far(here) { self.end(words, here) } else { None };
        self.last = here;
        self.count += 1;
        self.filled += 1;
        if let Some(slot) = self.starts.get_mut(self.count % MAX_CHARS) {
            *slot = here;
        }
        self.window = self.window << self.bits | u64::from(value);
        const HIGH_BITS: u64 = 0x80_8080_8080;
        let group = self.window & ((1 << (self.bits * self.chars)) - 1);
        if self.filled >= self.chars && group & HIGH_BITS == 0 {
            hit = hit.or(self.decode(words, group, here, layer));
        }
        if !self.streams.is_empty() {
            hit = hit.or(self.end_broken(words, here));
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

    fn is_far(&self, here: Place) -> bool {
        here.nth - self.last.nth > MAX_GAP + 1
    }

    /// Reads a group, if all of it is printable.
    fn decode(&mut self, words: &Words, group: u64, here: Place, layer: Layer) -> Option<Hit> {
        let bytes = group.to_be_bytes();
        let bytes = bytes.get(8 - self.bits * self.chars / 8..)?;
        if !bytes.iter().copied().all(is_printable) {
            return None;
        }
        let (phase, count) = (self.count % self.chars, self.count);
        let start = self.starts.get((count + 1 - self.chars) % MAX_CHARS).copied()?;
        let at = match self.streams.iter().position(|stream| stream.phase == phase) {
            Some(at) => at,
            None => {
                let decoded = Decoded::new(layer);
                self.streams.push(Stream { phase, last: count, decoded });
                self.streams.len() - 1
            }
        };
        let stream = self.streams.get_mut(at)?;
        stream.last = count;
        bytes.iter().find_map(|b| stream.decoded.read(words, *b, start, here))
    }

    /// Ends the sequence whose next group was not printable.
    fn end_broken(&mut self, words: &Words, here: Place) -> Option<Hit> {
        let at = self.streams.iter().position(|s| self.count - s.last >= self.chars)?;
        self.streams.swap_remove(at).decoded.finish(words, here)
    }

    /// The encoding has ended: the rest of a group may hold another byte or two.
    fn end(&mut self, words: &Words, here: Place) -> Option<Hit> {
        self.filled = 0;
        let mut hit = None;
        for mut stream in std::mem::take(&mut self.streams) {
            let bits = (self.count - stream.last) * self.bits;
            let bytes = bits / 8;
            let rest = (self.window >> (bits % 8) << (64 - 8 * bytes).min(63)).to_be_bytes();
            let rest = rest.iter().take(bytes).copied().take_while(|b| is_printable(*b));
            for b in rest {
                hit = hit.or(stream.decoded.read(words, b, self.last, here));
            }
            hit = hit.or(stream.decoded.finish(words, here));
        }
        hit
    }

    fn held_from(&self, here: Place) -> Option<usize> {
        if self.is_far(here) {
            return None;
        }
        let back = self.filled.min(self.chars);
        let open = (back > 0)
            .then(|| self.starts.get((self.count + 1 - back) % MAX_CHARS))
            .flatten()
            .map(|place| place.byte);
        let going_on = self.streams.iter().filter(|s| self.count - s.last < self.chars);
        let streams = going_on.filter_map(|stream| stream.decoded.held_from(here)).min();
        [open, streams].into_iter().flatten().min()
    }
}

static BASE32: [Alphabet; 3] = [
    in_any_case(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    in_any_case(b"0123456789ABCDEFGHIJKLMNOPQRSTUV"),
    in_any_case(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
];
static BASE64: Alphabet = base64();
static HEX: Alphabet = in_any_case(b"0123456789ABCDEF");
