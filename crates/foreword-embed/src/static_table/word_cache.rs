//! Vectors of words that were met, so that a word that is repeated costs one addition.

/// Longer words are rare, and texts without spaces are one long word.
const MAX_WORD: usize = 32;
/// How many words are kept; a power of two.
const SLOTS: usize = 1024;

/// The vectors of up to [`SLOTS`] words. A word has one place; the next word for that place replaces it.
#[derive(Debug, Default)]
pub(crate) struct WordCache {
    /// Whose vectors these are.
    table: [u8; 32],
    dims: usize,
    slots: Vec<Slot>,
    rows: Vec<f32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    length: u8,
    word: [u8; MAX_WORD],
    row: u16,
}

/// What the cache knows of a word.
pub(crate) enum Cached<'a> {
    Known(&'a [f32]),
    /// Zeros, to be filled with the vector of the word.
    New(&'a mut [f32]),
    NotKept,
}

impl WordCache {
    /// Prepares for vectors of a table; those of another are forgotten.
    pub(crate) fn begin(&mut self, table: &[u8; 32], dims: usize) {
        if self.table != *table || self.dims != dims || self.slots.is_empty() {
            *self =
                Self { table: *table, dims, slots: vec![Slot::default(); SLOTS], rows: Vec::new() };
        }
    }

    /// The vector of a word, or room for it. A free slot has the length 0, so no empty word is looked up.
    pub(crate) fn get(&mut self, word: &[u8]) -> Cached<'_> {
        let dims = self.dims;
        if word.is_empty() {
            return Cached::NotKept;
        }
        let Some(slot) = self.slots.get_mut(place(word)) else { return Cached::NotKept };
        let Some(kept) = slot.word.get_mut(..word.len()) else { return Cached::NotKept };
        let length = word.len() as u8;
        if slot.length == length && kept == word {
            let start = usize::from(slot.row) * dims;
            return self.rows.get(start..start + dims).map_or(Cached::NotKept, Cached::Known);
        }
        kept.copy_from_slice(word);
        if slot.length == 0 {
            // there are no more rows than slots
            slot.row = (self.rows.len() / dims.max(1)) as u16;
            self.rows.resize(self.rows.len() + dims, 0.0);
        }
        slot.length = length;
        let start = usize::from(slot.row) * dims;
        let Some(row) = self.rows.get_mut(start..start + dims) else { return Cached::NotKept };
        row.fill(0.0);
        Cached::New(row)
    }
}

fn place(word: &[u8]) -> usize {
    let hash = word.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    (hash >> 32) as usize % SLOTS
}
