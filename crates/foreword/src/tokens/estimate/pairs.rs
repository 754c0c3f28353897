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
/// Made by the example `fit_pairs` of `foreword`.
///
/// Blanks are the exception: a run of them and the word after it are two
/// tokens, the second of which takes the last blank. The table has that cost
/// at the run's first blank, so that long runs stay as cheap as they are.
const FITTED: &[u8; 1 << 14] = include_bytes!("pairs.bin");

/// [`FITTED`] spread out so that two neighbouring bytes of a text, read as one
/// little-endian number, are the index. Only the quarter for two ASCII bytes is
/// ever looked at.
static PAIRS: [u8; 1 << 16] = spread();

#[expect(
    clippy::indexing_slicing,
    reason = "runs at compile time, where an index out of bounds is an error"
)]
const fn spread() -> [u8; 1 << 16] {
    let mut pairs = [0; 1 << 16];
    let mut at = 0;
    while at < FITTED.len() {
        let (before, byte) = (at >> 7, at & 0x7F);
        pairs[byte << 8 | before] = FITTED[at];
        at += 1;
    }
    pairs
}

/// The cost of a character after another, read as one little-endian number.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the index has 16 bits and the table holds 2^16")]
fn at(pair: [u8; 2]) -> u32 {
    u32::from(PAIRS[usize::from(u16::from_le_bytes(pair))])
}

/// The cost of `byte` after `before`, both ASCII.
#[inline(always)]
pub(super) fn cost(before: u8, byte: u8) -> u64 {
    u64::from(at([before, byte]))
}

/// The cost of all but the first of these ASCII bytes. The plain loop is the fastest of those tried: two
/// neighbours are one load.
#[inline]
pub(super) fn cost_after_first(bytes: &[u8]) -> u64 {
    bytes.array_windows::<2>().map(|pair| u64::from(at(*pair))).sum()
}
