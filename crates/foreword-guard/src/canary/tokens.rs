//! Encodings that are read as a whole: base58, which is one large number, and base85 in three alphabets.
//!
//! They are decoded where a stretch of text without blanks is long enough to hold a canary. In prose
//! there are none, so this costs next to nothing there.

use crate::canary::Words;
use crate::canary::alphabet::{Alphabet, alphabet, value};
use crate::canary::decoded::{Decoded, Layer, is_printable};
use crate::canary::readings::{Hit, Place};

/// Sixteen characters of a canary are twenty of base85, and twenty-two of base58.
const MIN_TOKEN: usize = 20;
/// The stretch that is looked at once; the next one starts with the end of it.
const MAX_TOKEN: usize = 256;
/// A whole canary is thirty-seven characters of base85.
const OVERLAP: usize = 64;
/// The longest number of base58.
const MAX_BASE58: usize = 128;

#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    bytes: Vec<u8>,
    places: Vec<Place>,
    layer: Layer,
}

impl Tokens {
    pub(crate) fn new(layer: Layer) -> Self {
        Self { bytes: Vec::new(), places: Vec::new(), layer }
    }

    pub(crate) fn read(&mut self, words: &Words, b: u8, here: Place) -> Option<Hit> {
        if b <= b' ' {
            return self.finish(words, here);
        }
        self.bytes.push(b);
        self.places.push(here);
        if self.bytes.len() < MAX_TOKEN {
            return None;
        }
        let hit = self.decode(words, here);
        self.bytes.drain(..MAX_TOKEN - OVERLAP);
        self.places.drain(..MAX_TOKEN - OVERLAP);
        hit
    }

    /// The stretch has ended.
    pub(crate) fn finish(&mut self, words: &Words, here: Place) -> Option<Hit> {
        let hit = if self.bytes.len() < MIN_TOKEN { None } else { self.decode(words, here) };
        self.bytes.clear();
        self.places.clear();
        hit
    }

    pub(crate) fn held_from(&self, _: Place) -> Option<usize> {
        self.places.first().map(|place| place.byte)
    }

    fn decode(&self, words: &Words, here: Place) -> Option<Hit> {
        let runs =
            self.bytes.chunk_by(|a, b| a.is_ascii_alphanumeric() == b.is_ascii_alphanumeric());
        let mut at = 0;
        for run in runs {
            let start = self.places.get(at).copied()?;
            at += run.len();
            let fits = (MIN_TOKEN..=MAX_BASE58).contains(&run.len());
            let Some(bytes) = fits.then(|| base58(run)).flatten() else { continue };
            let mut decoded = Decoded::new(self.layer);
            let hit = bytes.iter().find_map(|b| decoded.read(words, *b, start, here));
            if let Some(hit) = hit.or_else(|| decoded.finish(words, here)) {
                return Some(hit);
            }
        }
        for alphabet in &BASE85 {
            for phase in 0..5 {
                let groups = self.bytes.get(phase..)?.chunks_exact(5);
                let starts = self.places.iter().skip(phase).step_by(5);
                let mut decoded = None;
                for (group, start) in groups.zip(starts) {
                    let Some(bytes) = base85(alphabet, group) else { continue };
                    let decoded = decoded.get_or_insert_with(|| Decoded::new(self.layer));
                    for b in bytes {
                        if let Some(hit) = decoded.read(words, b, *start, here) {
                            return Some(hit);
                        }
                    }
                }
                if let Some(hit) = decoded.and_then(|mut decoded| decoded.finish(words, here)) {
                    return Some(hit);
                }
            }
        }
        None
    }
}

/// The four bytes of a group, if all of them are printable.
fn base85(alphabet: &Alphabet, group: &[u8]) -> Option<[u8; 4]> {
    let mut number = 0u64;
    for b in group {
        number = number * 85 + u64::from(value(alphabet, *b)?);
    }
    if number & !0x7f7f_7f7f != 0 {
        return None;
    }
    let bytes = u32::try_from(number).ok()?.to_be_bytes();
    bytes.iter().copied().all(is_printable).then_some(bytes)
}

/// The bytes of a number of base58; `None` if it is not one.
fn base58(run: &[u8]) -> Option<Vec<u8>> {
    // Least significant first, in units of 32 bits.
    let mut number: Vec<u32> = Vec::with_capacity(run.len() * 6 / 32 + 1);
    for b in run {
        let mut carry = u64::from(value(&BASE58, *b)?);
        for unit in &mut number {
            carry += u64::from(*unit) * 58;
            *unit = u32::try_from(carry & u64::from(u32::MAX)).unwrap_or_default();
            carry >>= 32;
        }
        if carry > 0 {
            number.push(u32::try_from(carry).unwrap_or_default());
        }
    }
    Some(number.iter().rev().flat_map(|unit| unit.to_be_bytes()).collect())
}

static BASE58: Alphabet = alphabet(b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz");
/// Ascii85, RFC 1924 and Z85.
static BASE85: [Alphabet; 3] = [
    alphabet(
        b"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu",
    ),
    alphabet(
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    ),
    alphabet(
        b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
    ),
];
