//! The in-memory index of all memories: scope, time and sketch of each.

use foreword_store::{MEMORY_BLOCK, MemoryRows, MemorySlot, StoreError, memory_place};

use crate::memory::number_map::NumberMap;

/// A place without a memory.
const NOBODY: u32 = u32::MAX;

/// Memories with the same of these are seen by the same questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    pub(crate) kind: u32,
    pub(crate) agent: u32,
    pub(crate) user: u32,
    pub(crate) session: u32,
    pub(crate) embedder: u32,
}

/// Words of each sketch that the first pass compares in a large index.
const SCANNED: usize = 2;
/// Up to this many blocks fit the processor's caches, and the first pass compares all words.
const FEW_BLOCKS: usize = 256;

/// The sketches of one embedder.
#[derive(Debug, Default)]
pub(crate) struct Sketches {
    pub(crate) embedder: u32,
    /// 64-bit words of a sketch.
    pub(crate) words: usize,
    /// How many of them the first look takes in.
    pub(crate) scanned: usize,
    /// One sketch after another.
    pub(crate) codes: Vec<u64>,
    /// The first words once more: in each block those of all its sketches, then the second ones.
    pub(crate) planes: Vec<u64>,
    /// Which blocks have any.
    there: Vec<bool>,
    stamp: i64,
}

impl Sketches {
    pub(crate) fn new(embedder: u32, words: usize, blocks: usize) -> Self {
        let scanned = if blocks > FEW_BLOCKS { words.min(SCANNED) } else { words };
        Self { embedder, words, scanned, ..Self::default() }
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.embedder, self.words, self.scanned) == (other.embedder, other.words, other.scanned)
    }

    /// Reserves space for `blocks` blocks.
    pub(crate) fn resize(&mut self, blocks: usize) {
        self.codes.resize(blocks * MEMORY_BLOCK * self.words, 0);
        self.planes.resize(blocks * MEMORY_BLOCK * self.scanned, 0);
        self.there.resize(blocks, false);
    }

    /// Adds a stored block; false if it has the wrong length.
    pub(crate) fn put(&mut self, block: usize, bytes: &[u8]) -> bool {
        let Self { words, scanned, codes, planes, .. } = self;
        let (size, part) = (MEMORY_BLOCK * *words, MEMORY_BLOCK * *scanned);
        let (from, rest) = bytes.as_chunks::<8>();
        let (Some(codes), Some(planes)) = (
            codes.get_mut(block * size..(block + 1) * size),
            planes.get_mut(block * part..(block + 1) * part),
        ) else {
            return false;
        };
        if from.len() != codes.len() || !rest.is_empty() {
            return false;
        }
        codes.iter_mut().zip(from).for_each(|(to, word)| *to = u64::from_le_bytes(*word));
        for (word, plane) in planes.chunks_exact_mut(MEMORY_BLOCK).enumerate() {
            let column = codes.iter().skip(word).step_by((*words).max(1));
            plane.iter_mut().zip(column).for_each(|(to, word)| *to = *word);
        }
        if let Some(there) = self.there.get_mut(block) {
            *there = true;
        }
        true
    }
}

/// All memories, 256 places to a block. A memory's index is its place here, not its key.
#[derive(Debug, Default)]
pub(crate) struct Index {
    stamp: i64,
    /// The numbers of the blocks, rising.
    blocks: Vec<i64>,
    /// Per place.
    classes: Vec<u32>,
    at: Vec<i64>,
    words: Vec<u16>,
    /// Per class: its scope and number of memories.
    known: Vec<(Class, usize)>,
    numbers: NumberMap<Class, u32>,
    pub(crate) sketches: Sketches,
    total_words: u64,
    live: usize,
}

impl Index {
    /// Takes in what changed; says whether anything did.
    pub(crate) fn refresh(&mut self, rows: &MemoryRows<'_>) -> Result<bool, StoreError> {
        let stamp = rows.stamp()?;
        if stamp == self.stamp {
            return Ok(false);
        }
        if stamp < self.stamp {
            *self = Self::default();
        }
        let mut out_of_order = false;
        let since = self.stamp;
        rows.slots_since(since, |block, slots| {
            out_of_order |= !self.take_block(block, slots);
        })?;
        if out_of_order {
            // A block in the midst of others: all places behind it move.
            *self = Self::default();
            rows.slots_since(0, |block, slots| {
                self.take_block(block, slots);
            })?;
        }
        self.stamp = stamp;
        Ok(true)
    }

    /// Makes the sketches of an embedder present.
    pub(crate) fn refresh_sketches(
        &mut self,
        rows: &MemoryRows<'_>,
        embedder: u32,
        words: usize,
    ) -> Result<(), StoreError> {
        let wanted = Sketches::new(embedder, words, self.blocks.len());
        if !self.sketches.is_like(&wanted) {
            self.sketches = wanted;
        }
        if self.sketches.stamp == self.stamp {
            return Ok(());
        }
        let Self { sketches, blocks, classes, known, .. } = self;
        sketches.resize(blocks.len());
        let mut unfit = None;
        rows.sketches_since(embedder, sketches.stamp, |block, bytes| {
            // Remains of memories that were all forgotten have no place.
            if let Ok(place) = blocks.binary_search(&block)
                && !sketches.put(place, bytes)
            {
                unfit = Some(block);
            }
        })?;
        // A memory in a block without sketches would silently not be found.
        let holds = |classes: &[u32]| {
            let of = |class: &u32| known.get(*class as usize).map(|(class, _)| class.embedder);
            classes.iter().any(|class| of(class) == Some(embedder))
        };
        let there = sketches.there.iter().zip(classes.chunks(MEMORY_BLOCK)).zip(&*blocks);
        let lacking = there.filter(|((there, _), _)| !**there).find(|((_, some), _)| holds(some));
        unfit = unfit.or(lacking.map(|(_, block)| *block));
        if let Some(block) = unfit {
            let detail = format!("the sketches of block {block} are missing or too short");
            return Err(rows.damaged(detail));
        }
        sketches.stamp = self.stamp;
        Ok(())
    }

    /// False where the block belongs before another one.
    fn take_block(&mut self, block: i64, slots: &mut dyn Iterator<Item = MemorySlot>) -> bool {
        let place = match self.blocks.binary_search(&block) {
            Ok(place) => place,
            Err(place) if place == self.blocks.len() => {
                self.blocks.push(block);
                self.classes.resize(self.blocks.len() * MEMORY_BLOCK, NOBODY);
                self.at.resize(self.blocks.len() * MEMORY_BLOCK, 0);
                self.words.resize(self.blocks.len() * MEMORY_BLOCK, 0);
                place
            }
            Err(_) => return false,
        };
        // Neighbours are mostly of one class.
        let mut last: Option<(Class, u32)> = None;
        for (index, slot) in (place * MEMORY_BLOCK..).zip(slots) {
            let class = slot.live.then_some(Class {
                kind: slot.kind,
                agent: slot.agent,
                user: slot.user,
                session: slot.session,
                embedder: slot.embedder,
            });
            let number = match (class, last) {
                (None, _) => NOBODY,
                (Some(class), Some((known, number))) if known == class => number,
                (Some(class), _) => {
                    let number = self.number(class);
                    last = Some((class, number));
                    number
                }
            };
            self.put(index, number, &slot);
        }
        true
    }

    fn put(&mut self, index: usize, class: u32, slot: &MemorySlot) {
        let (Some(old_class), Some(at), Some(words)) =
            (self.classes.get_mut(index), self.at.get_mut(index), self.words.get_mut(index))
        else {
            return;
        };
        if *old_class != NOBODY {
            self.live -= 1;
            self.total_words -= u64::from(*words);
        }
        if class != NOBODY {
            self.live += 1;
            self.total_words += u64::from(slot.words);
        }
        for (number, by) in [(*old_class, -1_isize), (class, 1)] {
            if let Some((_, count)) = self.known.get_mut(number as usize) {
                *count = count.saturating_add_signed(by);
            }
        }
        (*old_class, *at, *words) = (class, slot.at, slot.words);
    }

    fn number(&mut self, class: Class) -> u32 {
        let next = u32::try_from(self.known.len()).unwrap_or(NOBODY - 1);
        *self.numbers.entry(class).or_insert_with(|| {
            self.known.push((class, 0));
            next
        })
    }

    /// The classes and how many memories each has.
    pub(crate) fn known(&self) -> &[(Class, usize)] {
        &self.known
    }

    /// How many memories there are.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// The mean number of words of a memory.
    pub(crate) fn mean_words(&self) -> f32 {
        self.total_words as f32 / self.live.max(1) as f32
    }

    /// The class of each place.
    pub(crate) fn classes(&self) -> &[u32] {
        &self.classes
    }

    pub(crate) fn at(&self, index: u32) -> i64 {
        self.at.get(index as usize).copied().unwrap_or_default()
    }

    pub(crate) fn words(&self, index: u32) -> u16 {
        self.words.get(index as usize).copied().unwrap_or_default()
    }

    /// The class of one place, if there is a memory.
    pub(crate) fn class(&self, index: u32) -> Option<&Class> {
        let class = self.classes.get(index as usize)?;
        self.known.get(*class as usize).map(|(class, _)| class)
    }

    /// The key of the memory at an index.
    pub(crate) fn key(&self, index: u32) -> i64 {
        let (block, place) = (index as usize / MEMORY_BLOCK, index as usize % MEMORY_BLOCK);
        let block = self.blocks.get(block).copied().unwrap_or_default();
        block.saturating_mul(MEMORY_BLOCK as i64).saturating_add(place as i64)
    }

    /// The index of a key.
    pub(crate) fn index(&self, key: i64) -> Option<u32> {
        let (block, place) = memory_place(key);
        let block = self.blocks.binary_search(&block).ok()?;
        u32::try_from(block * MEMORY_BLOCK + place).ok()
    }
}
