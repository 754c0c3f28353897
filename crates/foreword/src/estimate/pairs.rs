//! The cost of an ASCII character after another.

/// Stands for a character outside ASCII that is neither of the two below.
pub(super) const OTHER: u8 = 1;
/// Stands for punctuation and blanks outside ASCII.
pub(super) const MARK: u8 = 2;
/// Stands for a Latin letter with a diacritic.
pub(super) const LATIN: u8 = b'e';

/// For each of 128 characters (the one before) and 128 characters (this one),
/// hundredths of a token: the mean number of `o200k_base` tokens that begin
/// between the two in real text, smoothed toward the mean of their classes.
/// Made by the example `fit_pairs` of `foreword-tokens`.
///
/// Blanks are the exception: a run of them and the word after it are two
/// tokens, the second of which takes the last blank. The table has that cost
/// at the run's first blank, so that long runs stay as cheap as they are.
const FITTED: &[u8; 1 << 14] = include_bytes!("pairs.bin");

/// [`FITTED`] spread out so that two neighbouring bytes of a text, read as one
/// little-endian number, are the index.
static PAIRS: [u8; 1 << 15] = spread();

#[expect(
    clippy::indexing_slicing,
    reason = "runs at compile time, where an index out of bounds is an error"
)]
const fn spread() -> [u8; 1 << 15] {
    let mut pairs = [0; 1 << 15];
    let mut at = 0;
    while at < FITTED.len() {
        let (before, byte) = (at >> 7, at & 0x7F);
        pairs[byte << 8 | before] = FITTED[at];
        at += 1;
    }
    pairs
}

#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "the index is masked to 15 bits and the table holds 2^15"
)]
fn at(pair: u64) -> u64 {
    u64::from(PAIRS[pair as usize & 0x7FFF])
}

/// The cost of `byte` after `before`, both ASCII.
#[inline(always)]
pub(super) fn cost(before: u8, byte: u8) -> u64 {
    at(u64::from(byte) << 8 | u64::from(before))
}

/// The cost of eight ASCII bytes after `before`, the first lowest in `word`.
#[inline(always)]
pub(super) fn cost_of_eight(before: u64, word: u64) -> u64 {
    let shifted = word << 8 | before;
    at(shifted)
        + at(shifted >> 8)
        + at(shifted >> 16)
        + at(shifted >> 24)
        + at(shifted >> 32)
        + at(shifted >> 40)
        + at(shifted >> 48)
        + at(word >> 48)
}
