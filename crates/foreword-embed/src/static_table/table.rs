//! The layout of the static table: one header, eight sections, read in place.
//!
//! ```text
//! 0   "FWSTATIC"                     24  f32 lowest score of a piece
//! 8   u32 version, 1                 28  f32 step of a stored score
//! 12  u32 dimensions                 32  u32 bytes of the longest piece
//! 16  u32 pieces                     36  u32 where the body starts
//! 20  u32 bits of a code, 1 to 8     40  32 bytes, BLAKE3 of the body
//! 72  eight times u32 offset, u32 length: trie, scores, map, replacements, levels, gains, scales, codes
//! ```
//!
//! All numbers are little-endian. The vector of a piece is `levels[code] * scale * gain`, codes
//! being packed row by row, lowest bit first.

use std::borrow::Cow;
use std::ops::Range;

use crate::embedder::EmbedError;
use crate::tokenizer::double_array::DoubleArray;
use crate::tokenizer::sentence_piece::{Scores, Vocabulary};

const MAGIC: &[u8] = b"FWSTATIC";
const VERSION: u32 = 1;
const SECTIONS: usize = 8;
const DIRECTORY: usize = 72;
/// Larger tables than this are not ours, and sizes computed from them could overflow.
const MOST: u32 = 1 << 20;

/// The table as bytes, checked so far that every section lies inside and has the right length.
#[derive(Debug)]
pub(crate) struct StaticTable {
    bytes: Cow<'static, [u8]>,
    pub(crate) dims: usize,
    pub(crate) bits: u32,
    pub(crate) digest: [u8; 32],
    low: f32,
    step: f32,
    body: usize,
    sections: [Range<usize>; SECTIONS],
    /// Per dimension; read once because every text needs them.
    pub(crate) gains: Vec<f32>,
    /// Per code, filled up to 256 so that any code has a level.
    pub(crate) levels: [f32; 256],
    /// The levels of two codes of three bits.
    pub(crate) pairs: [[f32; 2]; 64],
}

impl StaticTable {
    pub(crate) fn new(bytes: Cow<'static, [u8]>) -> Result<Self, EmbedError> {
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(EmbedError::corrupt("it does not start like a static table"));
        }
        let number = |at: usize| {
            let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
            four.copied()
                .map(u32::from_le_bytes)
                .ok_or_else(|| EmbedError::corrupt("it is cut off"))
        };
        let version = number(8)?;
        if version != VERSION {
            return Err(EmbedError::Version { found: version, known: VERSION });
        }
        let (dims, pieces, bits) = (number(12)?, number(16)?, number(20)?);
        if dims == 0 || dims > MOST || pieces == 0 || pieces > MOST || bits == 0 || bits > 8 {
            return Err(EmbedError::corrupt("its header makes no sense"));
        }
        let (dims, pieces) = (dims as usize, pieces as usize);
        let row = (dims * bits as usize).div_ceil(8);
        let lengths = [
            None,
            Some(pieces * 2),
            None,
            None,
            Some(4 << bits),
            Some(dims * 4),
            Some(pieces * 2),
            Some(pieces * row),
        ];
        let mut sections: [Range<usize>; SECTIONS] = std::array::from_fn(|_| 0..0);
        for ((at, section), expected) in (DIRECTORY..).step_by(8).zip(&mut sections).zip(lengths) {
            let (start, length) = (number(at)? as usize, number(at + 4)? as usize);
            *section = start..start.saturating_add(length);
            if bytes.get(section.clone()).is_none() {
                return Err(EmbedError::corrupt("it is cut off"));
            }
            if expected.is_some_and(|expected| expected != length) {
                return Err(EmbedError::corrupt("a section has the wrong length"));
            }
        }
        let digest = bytes.get(40..DIRECTORY).and_then(|x| x.first_chunk().copied());
        let mut table = Self {
            dims,
            bits,
            digest: digest.unwrap_or_default(),
            low: f32::from_bits(number(24)?),
            step: f32::from_bits(number(28)?),
            body: number(36)? as usize,
            sections,
            gains: Vec::new(),
            levels: [0.0; 256],
            pairs: [[0.0; 2]; 64],
            bytes,
        };
        if !table.low.is_finite() || !table.step.is_finite() {
            return Err(EmbedError::corrupt("its scores make no sense"));
        }
        table.gains = floats(table.section(5)).collect();
        let mut levels = table.levels;
        levels.iter_mut().zip(floats(table.section(4))).for_each(|(slot, level)| *slot = level);
        table.levels = levels;
        let level = |code: usize| levels.get(code & 7).copied().unwrap_or_default();
        table.pairs = std::array::from_fn(|code| [level(code), level(code >> 3)]);
        Ok(table)
    }

    fn section(&self, number: usize) -> &[u8] {
        self.sections
            .get(number)
            .and_then(|range| self.bytes.get(range.clone()))
            .unwrap_or_default()
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Hashes the body and compares. 16 MB take some milliseconds, so this is not done on opening.
    pub(crate) fn verify(&self) -> Result<(), EmbedError> {
        let body = self.bytes.get(self.body..).unwrap_or_default();
        if *blake3::hash(body).as_bytes() == self.digest {
            Ok(())
        } else {
            Err(EmbedError::corrupt("its content does not match its hash"))
        }
    }

    pub(crate) fn vocabulary(&self) -> Vocabulary<'_> {
        let stored = self.section(1).as_chunks().0;
        Vocabulary {
            pieces: DoubleArray::new(self.section(0)),
            scores: Scores { low: self.low.into(), step: self.step.into(), stored },
            map: DoubleArray::new(self.section(2)),
            replacements: self.section(3),
        }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        let width = (self.dims * self.bits as usize).div_ceil(8);
        Rows { scales: self.section(6).as_chunks().0, codes: self.section(7), width }
    }
}

/// The packed vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    scales: &'a [[u8; 2]],
    codes: &'a [u8],
    width: usize,
}

impl<'a> Rows<'a> {
    /// The scale and the packed codes of a piece.
    pub(crate) fn get(self, piece: u32) -> Option<(f32, &'a [u8])> {
        let piece = piece as usize;
        let start = piece.checked_mul(self.width)?;
        let codes = self.codes.get(start..start.checked_add(self.width)?)?;
        Some((half(u16::from_le_bytes(*self.scales.get(piece)?)), codes))
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x))
}

/// Converts an IEEE half to a single; a value that is not finite becomes zero.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (u32::from(bits >> 15), (bits >> 10) & 31, bits & 1023);
    let size = match exponent {
        0 => f32::from(fraction) / 16_777_216.0,
        31 => 0.0,
        _ => f32::from_bits((u32::from(exponent) + 112) << 23 | u32::from(fraction) << 13),
    };
    f32::from_bits(size.to_bits() | sign << 31)
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_read() {
        let cases = [(0x3C00, 1.0), (0xC000, -2.0), (0x0001, 2.0_f32.powi(-24)), (0x7BFF, 65504.0)];
        for (bits, value) in cases {
            assert_eq!(half(bits), value);
        }
        assert_eq!(half(0x7C00), 0.0);
        assert_eq!(half(0x3555), 0.333_251_95);
    }
}
