//! The fitted table: what each n-gram, fact and dimension of a vector weighs, and how the windows of a
//! document make its score. Read in place.
//!
//! ```text
//!  0  "FWINJECT"                     16  buckets per bag of n-grams
//!  8  version of the format          20  facts, 24 measures of a document
//! 12  dimensions of a vector         28  first 8 bytes of the digest of the static table
//! 36  BLAKE3 of all that follows
//! 68  two heads, with vectors and without; each:
//!     constant, scales of both bags, flag, block, slope, flag and block for a stored vector (f32)
//!     measures, facts, then dimensions (f32), then weights of characters and of words (i8)
//!     then known short texts, see `exemplars`, and units of the first head, see `hidden_units`
//! ```
//!
//! All numbers are little-endian. `tools/model/INJECTION.md` says how it is made.

use std::ops::Range;

use super::document_score::{MEASURES, add};
use super::exemplars::Exemplars;
use super::features::{BUCKETS, FACTS, Facts, Features, with_pairs};
use super::hidden_units::HiddenUnits;
use foreword_embed::{EmbedError, dot};

const MAGIC: &[u8] = b"FWINJECT";
const VERSION: u32 = 3;
const BODY: usize = 68;
const NUMBERS: usize = 8;
/// Longer vectors than this are not ours, and sizes computed from them could overflow.
const MAX_DIMS: u32 = 1 << 16;

/// Both heads.
#[derive(Debug)]
pub(crate) struct Heads {
    /// For blocks with a vector of the static table.
    pub(crate) full: Head,
    /// For blocks without one.
    pub(crate) lexical: Head,
    /// Short texts that were seen, for texts with a vector of the static table.
    pub(super) exemplars: Exemplars,
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
    constant: f32,
    slope: f32,
    /// For a text whose blocks were embedded.
    pub(crate) bounds: Bounds,
    /// For a text of which one vector is known.
    pub(crate) stored: Bounds,
    chars_scale: f32,
    words_scale: f32,
    /// What each measure of a document weighs.
    pub(crate) measures: [f32; MEASURES],
    facts: Vec<f32>,
    vector: Vec<f32>,
    chars: &'static [u8],
    words: &'static [u8],
    units: HiddenUnits,
}

/// What a block adds to its windows.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockWeight {
    chars: i32,
    words: i32,
    char_count: u32,
    word_count: u32,
    pub(crate) facts: Facts,
    /// The weight of its vector, which is not normalised.
    vector: f32,
    /// What its vector adds to each hidden unit, not normalised either.
    units: Vec<f32>,
}

impl Heads {
    /// The table that is part of this program.
    pub(crate) fn embedded() -> Result<Self, EmbedError> {
        Self::new(include_bytes!("injection.bin"))
    }

    /// The table for instructions in skills, of the same format.
    pub(crate) fn for_instructions() -> Result<Self, EmbedError> {
        Self::new(include_bytes!("instructions.bin"))
    }

    /// The table for programs of skills, of the same format.
    pub(crate) fn for_programs() -> Result<Self, EmbedError> {
        Self::new(include_bytes!("programs.bin"))
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
        let known = [(16, BUCKETS), (20, FACTS), (24, MEASURES)];
        for (at, known) in known {
            if number(at)? as usize != known || dims == 0 || dims > MAX_DIMS {
                return Err(EmbedError::corrupt(
                    "the injection table was fitted on other features",
                ));
            }
        }
        let dims = dims as usize;
        let size = (NUMBERS + MEASURES + FACTS + dims) * 4 + 2 * BUCKETS;
        let head = |at: usize| Head::new(bytes.get(at..at + size)?, dims);
        let hex = |range: Range<usize>| {
            bytes.get(range).unwrap_or_default().iter().map(|b| format!("{b:02x}")).collect()
        };
        let mut full = head(BODY).ok_or_else(cut)?;
        let rest = bytes.get(BODY + 2 * size..).ok_or_else(cut)?;
        let (exemplars, rest) = Exemplars::split_from(rest, dims).ok_or_else(cut)?;
        full.units = HiddenUnits::new(rest, dims).ok_or_else(cut)?;
        Ok(Self {
            full,
            lexical: head(BODY + size).ok_or_else(cut)?,
            exemplars,
            table: hex(28..36),
            version: hex(36..44),
        })
    }
}

impl Head {
    fn new(bytes: &'static [u8], dims: usize) -> Option<Self> {
        let (numbers, bags) = bytes.split_at_checked((NUMBERS + MEASURES + FACTS + dims) * 4)?;
        let (chars, words) = bags.split_at_checked(BUCKETS)?;
        let floats: Vec<f32> = numbers
            .as_chunks()
            .0
            .iter()
            .map(|x| Some(f32::from_le_bytes(*x)).filter(|x| x.is_finite()))
            .collect::<Option<_>>()?;
        let (
            [constant, chars_scale, words_scale, flag, block, slope, stored_flag, stored_block],
            rest,
        ) = floats.split_first_chunk::<NUMBERS>()?;
        let (measures, rest) = rest.split_first_chunk::<MEASURES>()?;
        let (facts, vector) = rest.split_at_checked(FACTS)?;
        Some(Self {
            constant: *constant,
            slope: *slope,
            bounds: Bounds { flag: *flag, block: *block },
            stored: Bounds { flag: *stored_flag, block: *stored_block },
            chars_scale: *chars_scale,
            words_scale: *words_scale,
            measures: *measures,
            facts: facts.to_vec(),
            vector: vector.to_vec(),
            chars,
            words,
            units: HiddenUnits::default(),
        })
    }

    /// What a block adds to its windows.
    pub(crate) fn weigh_block(&self, features: &Features, vector: Option<&[f32]>) -> BlockWeight {
        let count = |bag: &[u16]| u32::try_from(bag.len()).unwrap_or(u32::MAX);
        BlockWeight {
            chars: bag(self.chars, &features.chars),
            words: bag(self.words, &features.words),
            char_count: count(&features.chars),
            word_count: count(&features.words),
            facts: features.facts,
            vector: vector.map_or(0.0, |v| self.weigh_vector(v)),
            units: vector.map_or_else(Vec::new, |v| self.units.project(v)),
        }
    }

    /// The weight of a window: its blocks together, whose vectors sum up to one of this length.
    pub(crate) fn weigh_window(&self, blocks: &[&BlockWeight], length: f32) -> f32 {
        let mut sum = BlockWeight::default();
        for block in blocks {
            sum.chars += block.chars;
            sum.words += block.words;
            sum.char_count += block.char_count;
            sum.word_count += block.word_count;
            sum.facts |= block.facts;
            sum.vector += block.vector;
            add(&mut sum.units, &block.units);
        }
        // A window does not weigh more because it is longer.
        let spread = |sum: i32, count: u32| sum as f32 / (count.max(1) as f32).sqrt();
        let vector = if length > 0.0 { sum.vector / length } else { 0.0 };
        let facts = with_pairs(sum.facts);
        self.constant
            + self.weigh_facts(facts)
            + self.units.weigh(&sum.units, length, facts)
            + spread(sum.chars, sum.char_count) * self.chars_scale
            + spread(sum.words, sum.word_count) * self.words_scale
            + vector
    }

    fn weigh_facts(&self, facts: Facts) -> f32 {
        self.facts.iter().enumerate().filter(|(bit, _)| facts >> bit & 1 == 1).map(|(_, w)| w).sum()
    }

    /// The weight of a vector.
    pub(crate) fn weigh_vector(&self, vector: &[f32]) -> f32 {
        dot(&self.vector, vector)
    }

    /// A sum of weights as a number between 0 and 1, with one half at the bound for a flag.
    pub(crate) fn score(&self, sum: f32, bounds: Bounds) -> f32 {
        1.0 / (1.0 + (-(sum - bounds.flag) * self.slope).exp())
    }
}

/// The weights of the buckets that occur.
fn bag(weights: &[u8], buckets: &[u16]) -> i32 {
    let found = buckets.iter().filter_map(|b| weights.get(usize::from(*b)));
    found.map(|w| i32::from(w.cast_signed())).sum()
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
        assert_eq!(blake3::hash(&bytes[BODY..]).as_bytes()[..], bytes[36..68]);
        let heads = Heads::embedded().unwrap();
        for head in [&heads.full, &heads.lexical] {
            assert!(head.bounds.flag < head.bounds.block && head.stored.flag < head.stored.block);
            assert_eq!(head.score(head.bounds.flag, head.bounds), 0.5);
        }
    }

    #[test]
    fn a_damaged_table_is_an_error() {
        let good = bytes();
        for end in [0, 7, 11, 40, 68, 500, good.len() - 1] {
            assert!(Heads::new(good[..end].to_vec().leak()).is_err(), "cut at {end}");
        }
        // another version, no dimensions, other buckets, facts and measures, a weight that is no number
        let changes: [(usize, [u8; 4]); 6] = [
            (8, [9, 0, 0, 0]),
            (12, [0; 4]),
            (16, [1; 4]),
            (20, [9; 4]),
            (24, [9; 4]),
            (68, [0, 0, 0x80, 0x7F]),
        ];
        for (at, value) in changes {
            let mut bad = good.clone();
            bad[at..at + 4].copy_from_slice(&value);
            assert!(Heads::new(bad.leak()).is_err(), "changed at {at}");
        }
    }
}
