//! The default embedder: the mean of the vectors of a text's pieces, from one table read in place.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::embedder::{EmbedError, Embedder};
use crate::static_table::bytes::table_bytes;
use crate::static_table::table::StaticTable;
use crate::static_table::word_cache::Cached;
use crate::tokenizer::sentence_piece::{Lattice, Scratch, UNKNOWN};
use crate::vector::{EmbedderId, Vector, dot, normalise};

/// Embeds with a static table, in microseconds a text and without loading anything.
#[derive(Debug)]
pub struct StaticEmbedder {
    table: StaticTable,
    id: Arc<EmbedderId>,
}

impl StaticEmbedder {
    /// The table that is part of this program, or of its package.
    pub fn embedded() -> Result<Self, EmbedError> {
        Self::from_bytes(table_bytes()?)
    }

    /// Reads a table that is part of the program or already in memory.
    ///
    /// The header and the bounds of every section are checked, the hash is not: see
    /// [`StaticEmbedder::verify`]. A table that passes cannot make an embedding fail or panic.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, EmbedError> {
        let table = StaticTable::new(bytes.into())?;
        let version: String =
            table.digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let id = Arc::new(EmbedderId::new("static", version, table.dims));
        Ok(Self { table, id })
    }

    /// Reads a table from a file and checks its hash.
    pub fn open(path: &Path) -> Result<Self, EmbedError> {
        let bytes = std::fs::read(path).map_err(|source| EmbedError::Unreadable {
            path: path.display().to_string(),
            source,
        })?;
        let embedder = Self::from_bytes(bytes)?;
        embedder.verify()?;
        Ok(embedder)
    }

    /// The bytes of the table.
    #[must_use]
    pub fn size(&self) -> usize {
        self.table.size()
    }

    /// Checks the hash of the whole table, which takes some milliseconds.
    pub fn verify(&self) -> Result<(), EmbedError> {
        self.table.verify()
    }

    /// The pieces of a text as their numbers in the vocabulary; 0 is an unknown character.
    #[must_use]
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        let mut pieces = Vec::new();
        self.tokenise(text, &mut Scratch::default(), |piece| pieces.push(piece));
        pieces
    }

    /// Passes on the pieces of a text, with a buffer kept between texts.
    pub(crate) fn tokenise(&self, text: &str, scratch: &mut Scratch, sink: impl FnMut(u32)) {
        self.table.vocabulary().tokenise(text, scratch, sink);
    }

    /// Writes the direction of a piece, a vector of length one, and gives the length it has in the
    /// table: how much the piece counts. Zeros and 0 for a piece without a vector.
    pub fn direction(&self, piece: u32, into: &mut Vec<f32>) -> f32 {
        into.clear();
        into.resize(self.table.dims, 0.0);
        let Some((scale, codes)) = self.table.rows().get(piece).filter(|_| piece != UNKNOWN) else {
            return 0.0;
        };
        add_row(into, codes, self.table.bits, scale, &self.table.levels);
        into.iter_mut().zip(&self.table.gains).for_each(|(x, gain)| *x *= gain);
        let length = dot(into, into).sqrt();
        normalise(into);
        length
    }

    /// The sum of the rows of a text's pieces, gains applied; not scaled, so that the sums of parts
    /// make the sum of the whole.
    pub fn sum(&self, text: &str, scratch: &mut Scratch) -> Vec<f32> {
        let mut sum = vec![0.0; self.table.dims];
        let vocabulary = self.table.vocabulary();
        let Scratch { lattice, words } = scratch;
        if let Some(words) = words {
            words.begin(&self.table.digest, self.table.dims);
        }
        vocabulary.each_word(text, lattice, |lattice| {
            match words.as_mut().map_or(Cached::NotKept, |words| words.get(&lattice.word)) {
                Cached::Known(word) => add(&mut sum, word),
                Cached::New(word) => {
                    self.add_pieces(lattice, word);
                    add(&mut sum, word);
                }
                Cached::NotKept => self.add_pieces(lattice, &mut sum),
            }
        });
        sum.iter_mut().zip(&self.table.gains).for_each(|(x, gain)| *x *= gain);
        sum
    }

    /// Adds the rows of the pieces of a word.
    fn add_pieces(&self, lattice: &mut Lattice, sum: &mut [f32]) {
        let rows = self.table.rows();
        self.table.vocabulary().segment(lattice, &mut |piece| {
            if piece != UNKNOWN
                && let Some((scale, codes)) = rows.get(piece)
            {
                match self.table.bits {
                    3 => add_row_of_three_bits(sum, codes, scale, &self.table.pairs),
                    bits => add_row(sum, codes, bits, scale, &self.table.levels),
                }
            }
        });
    }
}

impl Embedder for StaticEmbedder {
    fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let mut scratch = Scratch::default();
        let vector = |text: &&str| {
            Vector::new(Arc::clone(&self.id), self.sum(text, &mut scratch))
                .map_err(|error| EmbedError::corrupt(error.to_string()))
        };
        texts.iter().map(vector).collect()
    }
}

fn add(sum: &mut [f32], more: &[f32]) {
    sum.iter_mut().zip(more).for_each(|(x, y)| *x += y);
}

/// Adds one packed row to a sum: [`add_row`] for the width of the built-in table, two codes at a time.
fn add_row_of_three_bits(sum: &mut [f32], codes: &[u8], scale: f32, pairs: &[[f32; 2]; 64]) {
    let pair = |code: u32| pairs.get((code & 63) as usize).copied().unwrap_or_default();
    let (eights, rest) = sum.as_chunks_mut::<8>();
    let (packed, _) = codes.as_chunks::<3>();
    let tail = codes.get(3 * eights.len()..).unwrap_or_default();
    for (eight, [low, mid, high]) in eights.iter_mut().zip(packed) {
        let word = u32::from_le_bytes([*low, *mid, *high, 0]);
        let ([a, b], [c, d]) = (pair(word), pair(word >> 6));
        let ([e, f], [g, h]) = (pair(word >> 12), pair(word >> 18));
        for (x, level) in eight.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *x += level * scale;
        }
    }
    let tail = tail.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    for (place, x) in rest.iter_mut().enumerate() {
        let [level, _] = pair(tail >> (3 * place));
        *x += level * scale;
    }
}

/// Adds one packed row to a sum.
fn add_row(sum: &mut [f32], codes: &[u8], bits: u32, scale: f32, levels: &[f32; 256]) {
    let level = |code: u64| levels.get((code & 0xFF) as usize).copied().unwrap_or_default() * scale;
    // `bits` bytes hold eight codes, whatever the width of a code is.
    let mask = (1 << bits) - 1;
    for (eight, packed) in sum.chunks_mut(8).zip(codes.chunks(bits as usize)) {
        let word = packed.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        for (place, x) in eight.iter_mut().enumerate() {
            *x += level((word >> (place as u32 * bits)) & mask);
        }
    }
}
