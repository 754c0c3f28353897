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
static PAIRS: &[u8; 1 << 14] = include_bytes!("pairs.bin");

/// The cost of `byte` after `before`, both ASCII.
#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "both indices are masked to 7 bits and the table holds 2^14"
)]
pub(super) fn cost(before: u8, byte: u8) -> u64 {
    u64::from(PAIRS[usize::from(before & 0x7F) << 7 | usize::from(byte & 0x7F)])
}
