//! The fitted table: what each n-gram, fact and dimension of a vector weighs. Read in place.
//!
//! ```text
//!  0  "FWINJECT"                     16  buckets per bag of n-grams
//!  8  version of the format          20  facts
//! 12  dimensions of a vector         24  first 8 bytes of the digest of the static table
//! 32  BLAKE3 of all that follows
//! 64  two heads, with vectors and without; each:
//!     bias, flag, block, slope, flag and block for a stored vector, scales of both bags (f32)
//!     facts, then dimensions (f32), then weights of characters and of words (i8)
//! ```
//!
//! All numbers are little-endian. `tools/model/INJECTION.md` says how it is made.

use std::ops::Range;

use super::features::{BUCKETS, FACTS, Features};
use foreword_embed::EmbedError;

const MAGIC: &[u8] = b"FWINJECT";
const VERSION: u32 = 1;
const BODY: usize = 64;
const NUMBERS: usize = 8;
/// Longer vectors than this are not ours, and sizes computed from them could overflow.
const MAX_DIMS: u32 = 1 << 16;

/// Both heads.
#[derive(Debug)]
pub(crate) struct Heads {
    /// For windows with a vector of the static table.
    pub(crate) full: Head,
    /// For windows without one.
    pub(crate) lexical: Head,
    /// The version of the static table whose vectors it weighs, as in its id.
    pub(crate) table: String,
    /// Which fit this is.
    pub(crate) version: String,
}

/// Where a score turns into a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) flag: f32,
    pub(crate) block: f32,
}

/// One fitted head.
#[derive(Debug)]
pub(crate) struct Head {
    bias: f32,
    slope: f32,
    /// For a text whose windows were looked at.
    pub(crate) bounds: Bounds,
    /// For a text of which one vector is known.
    pub(crate) stored: Bounds,
    chars_scale: f32,
    words_scale: f32,
    facts: Vec<f32>,
    vector: Vec<f32>,
    chars: &'static [u8],
    words: &'static [u8],
}

impl Heads {
    /// The table that is part of this program.
    pub(crate) fn embedded() -> Result<Self, EmbedError> {
        Self::new(include_bytes!("injection.bin"))
    }

    pub(crate) fn new(bytes: &'static [u8]) -> Result<Self, EmbedError> {
        let cut = || EmbedError::corrupt("the injection table is cut off");
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(EmbedError::corrupt("it does not start like an injection table"));
        }
        let number = |at: usize| {
            let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
            four.copied().map(u32::from_le_bytes).ok_or_else(cut)
        };
        let version = number(8)?;
        if version != VERSION {
            return Err(EmbedError::Version { found: version, known: VERSION });
        }
        let dims = number(12)?;
        let known = number(16)? as usize == BUCKETS && number(20)? as usize == FACTS;
        if !known || dims == 0 || dims > MAX_DIMS {
            return Err(EmbedError::corrupt("the injection table was fitted on other features"));
        }
        let dims = dims as usize;
        let size = (NUMBERS + FACTS + dims) * 4 + 2 * BUCKETS;
        if bytes.len() != BODY + 2 * size {
            return Err(cut());
        }
        let head = |at: usize| Head::new(bytes.get(at..at + size)?, dims);
        let hex = |range: Range<usize>| {
            bytes.get(range).unwrap_or_default().iter().map(|b| format!("{b:02x}")).collect()
        };
        Ok(Self {
            full: head(BODY).ok_or_else(cut)?,
            lexical: head(BODY + size).ok_or_else(cut)?,
            table: hex(24..32),
            version: hex(32..40),
        })
    }
}

impl Head {
    fn new(bytes: &'static [u8], dims: usize) -> Option<Self> {
        let (numbers, bags) = bytes.split_at_checked((NUMBERS + FACTS + dims) * 4)?;
        let (chars, words) = bags.split_at_checked(BUCKETS)?;
        let floats: Vec<f32> = numbers
            .as_chunks()
            .0
            .iter()
            .map(|x| Some(f32::from_le_bytes(*x)).filter(|x| x.is_finite()))
            .collect::<Option<_>>()?;
        let ([bias, flag, block, slope, stored_flag, stored_block, chars_scale, words_scale], rest) =
            floats.split_first_chunk::<NUMBERS>()?;
        let (facts, vector) = rest.split_at_checked(FACTS)?;
        Some(Self {
            bias: *bias,
            slope: *slope,
            bounds: Bounds { flag: *flag, block: *block },
            stored: Bounds { flag: *stored_flag, block: *stored_block },
            chars_scale: *chars_scale,
            words_scale: *words_scale,
            facts: facts.to_vec(),
            vector: vector.to_vec(),
            chars,
            words,
        })
    }

    /// The weight of a window's n-grams and facts.
    pub(crate) fn weigh(&self, features: &Features) -> f32 {
        let facts: f32 = self.facts.iter().zip(&features.facts).map(|(w, x)| w * x).sum();
        self.bias
            + facts
            + bag(self.chars, &features.chars) * self.chars_scale
            + bag(self.words, &features.words) * self.words_scale
    }

    /// The additional weight of a normalised vector.
    pub(crate) fn weigh_vector(&self, vector: &[f32]) -> f32 {
        self.vector.iter().zip(vector).map(|(w, x)| w * x).sum()
    }

    /// A sum of weights as a number between 0 and 1, with one half at the bound for a flag.
    pub(crate) fn score(&self, sum: f32, bounds: Bounds) -> f32 {
        1.0 / (1.0 + (-(sum - bounds.flag) * self.slope).exp())
    }
}

/// The weights of the buckets that occur; a window does not weigh more because it is longer.
fn bag(weights: &[u8], buckets: &[u16]) -> f32 {
    let sum: i32 = buckets
        .iter()
        .filter_map(|b| weights.get(usize::from(*b)))
        .map(|w| i32::from(w.cast_signed()))
        .sum();
    sum as f32 / (buckets.len().max(1) as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Vec<u8> {
        include_bytes!("injection.bin").to_vec()
    }

    #[test]
    fn the_table_matches_its_hash() {
        let bytes = bytes();
        assert_eq!(blake3::hash(&bytes[BODY..]).as_bytes()[..], bytes[32..64]);
        let heads = Heads::embedded().unwrap();
        for head in [&heads.full, &heads.lexical] {
            assert!(head.bounds.flag < head.bounds.block && head.stored.flag < head.stored.block);
            assert_eq!(head.score(head.bounds.flag, head.bounds), 0.5);
        }
    }

    #[test]
    fn a_damaged_table_is_an_error() {
        let good = bytes();
        for end in [0, 7, 11, 40, 64, 500, good.len() - 1] {
            assert!(Heads::new(good[..end].to_vec().leak()).is_err(), "cut at {end}");
        }
        // another version, no dimensions, other buckets, other facts, a weight that is no number
        let changes: [(usize, [u8; 4]); 5] =
            [(8, [9, 0, 0, 0]), (12, [0; 4]), (16, [1; 4]), (20, [9; 4]), (64, [0, 0, 0x80, 0x7F])];
        for (at, value) in changes {
            let mut bad = good.clone();
            bad[at..at + 4].copy_from_slice(&value);
            assert!(Heads::new(bad.leak()).is_err(), "changed at {at}");
        }
    }
}
