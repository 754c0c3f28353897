//! Text to pieces, as SentencePiece's unigram model does it, over tables that are read in place.

use crate::static_table::word_cache::WordCache;
use crate::tokenizer::double_array::DoubleArray;

/// The visible space of SentencePiece, U+2581.
const SPACE: [u8; 3] = [0xE2, 0x96, 0x81];

/// The piece for an unknown character.
pub(crate) const UNKNOWN: u32 = 0;

/// No replacement of the normaliser is longer; what is, comes from a damaged file.
const MAX_REPLACEMENT: usize = 256;

/// The scores of pieces, stored as `low + step * value`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scores<'a> {
    pub(crate) low: f64,
    pub(crate) step: f64,
    pub(crate) stored: &'a [[u8; 2]],
}

impl Scores<'_> {
    fn of(self, piece: u32) -> Option<f64> {
        let stored = self.stored.get(piece as usize)?;
        Some(self.low + self.step * f64::from(u16::from_le_bytes(*stored)))
    }

    /// An unknown character costs ten more than the rarest piece.
    fn unknown(self) -> f64 {
        self.low - 10.0
    }
}

/// A vocabulary: the normaliser's map, the pieces and their scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vocabulary<'a> {
    pub(crate) pieces: DoubleArray<'a>,
    pub(crate) scores: Scores<'a>,
    pub(crate) map: DoubleArray<'a>,
    pub(crate) replacements: &'a [u8],
}

/// Room that is kept from text to text, so that one costs a handful of allocations.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) lattice: Lattice,
    /// Vectors of words that were met, if they are to be kept.
    pub(crate) words: Option<WordCache>,
}

impl Scratch {
    /// Keeps the vectors of words, which pays off for texts of a page or more.
    #[must_use]
    pub fn for_long_texts() -> Self {
        Self { lattice: Lattice::default(), words: Some(WordCache::default()) }
    }
}

/// Room for one word.
#[derive(Debug, Default)]
pub(crate) struct Lattice {
    pub(crate) word: Vec<u8>,
    /// For every end in the word: the best score, where its last piece starts, and that piece.
    best: Vec<(f64, u32, u32)>,
    pieces: Vec<u32>,
}

impl Vocabulary<'_> {
    /// Passes the most probable pieces of `text` to `sink` in order; an earlier start wins a tie.
    ///
    /// A piece holds a visible space at its start or not at all (the model was trained so), so
    /// every word is segmented by itself and memory does not grow with the text.
    pub(crate) fn tokenise(self, text: &str, scratch: &mut Scratch, mut sink: impl FnMut(u32)) {
        self.each_word(text, &mut scratch.lattice, |word| self.segment(word, &mut sink));
    }

    /// Passes every word of `text` to `sink`, normalised and with the space in front of it.
    pub(crate) fn each_word(
        self,
        text: &str,
        lattice: &mut Lattice,
        mut sink: impl FnMut(&mut Lattice),
    ) {
        let mut rest = text.as_bytes();
        let mut after_space = true;
        lattice.word.clear();
        while let Some(first) = rest.first() {
            let (width, replacement) = match self.map.prefixes(rest).last() {
                Some((width, value)) => (width, self.replacement(value)),
                None => (width_of(*first).min(rest.len()), None),
            };
            let Some((piece, after)) = rest.split_at_checked(width) else { break };
            for byte in replacement.unwrap_or(piece) {
                if *byte == b' ' {
                    after_space = true;
                } else {
                    if after_space {
                        if !lattice.word.is_empty() {
                            sink(lattice);
                        }
                        lattice.word.clear();
                        lattice.word.extend_from_slice(&SPACE);
                        after_space = false;
                    }
                    lattice.word.push(*byte);
                }
            }
            rest = after;
        }
        if !lattice.word.is_empty() {
            sink(lattice);
        }
    }

    /// The text at an offset, up to its zero byte.
    fn replacement(&self, offset: u32) -> Option<&[u8]> {
        let from = self.replacements.get(offset as usize..)?;
        let end = from.iter().take(MAX_REPLACEMENT).position(|byte| *byte == 0)?;
        from.get(..end)
    }

    /// Emits the pieces of the current word.
    ///
    /// A visible space in the text itself also starts a word: no piece crosses it.
    pub(crate) fn segment(self, lattice: &mut Lattice, sink: &mut impl FnMut(u32)) {
        let Lattice { word, best, pieces } = lattice;
        best.clear();
        best.resize(word.len() + 1, (f64::NEG_INFINITY, 0, UNKNOWN));
        if let Some(start) = best.first_mut() {
            start.0 = 0.0;
        }
        let mut start = 0;
        while let Some(first) = word.get(start) {
            let width = width_of(*first).min(word.len() - start);
            let here = best.get(start).map_or(f64::NEG_INFINITY, |x| x.0);
            let mut single = false;
            let mut offer = |length: usize, piece: u32, score: f64| {
                if let Some(end) = best.get_mut(start + length)
                    && here + score > end.0
                {
                    *end = (here + score, u32::try_from(start).unwrap_or(u32::MAX), piece);
                }
            };
            for (length, piece) in self.pieces.prefixes(word.get(start..).unwrap_or_default()) {
                if let Some(score) = self.scores.of(piece) {
                    single |= length == width;
                    offer(length, piece, score);
                }
            }
            if !single {
                offer(width, UNKNOWN, self.scores.unknown());
            }
            start += width;
        }
        pieces.clear();
        let mut end = word.len();
        while let Some((_, start, piece)) = best.get(end).filter(|_| end > 0) {
            pieces.push(*piece);
            end = (*start as usize).min(end - 1);
        }
        pieces.iter().rev().for_each(|piece| sink(*piece));
    }
}

/// How many bytes the character that starts with this byte has.
fn width_of(first: u8) -> usize {
    match first {
        0x00..=0x7F => 1,
        0x80..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    }
}
