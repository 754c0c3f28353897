//! Caches what may be needed again, until the memories change.

use std::collections::HashMap;
use std::sync::Arc;

use foreword_store::{MemoryEntry, MemoryKind, MemoryRows, StoreError};

use crate::memory::error::MemoryError;
use crate::memory::index::Index;
use crate::memory::likeness;
use crate::memory::number_map::NumberMap;
use crate::memory::speaker::speaker;
use crate::memory::words;

/// Maximum number of cached entries.
const MAX_ENTRIES: usize = 16_384;
/// Maximum number of cached word positions.
const MAX_POSTINGS: usize = 1 << 20;
/// Vectors of up to this many bytes in total are all cached.
const MAX_VECTOR_BYTES: usize = 16 << 20;
/// After this many queries on unchanged memories, reading all vectors at once pays off.
const WARM_AFTER: u32 = 4;

/// A memory and what is compared of it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) entry: MemoryEntry,
    /// The words it is found by, as sorted numbers.
    pub(crate) terms: Vec<u64>,
    /// The words of its speaker's name, as sorted numbers; empty if it has none.
    pub(crate) speaker: Vec<u64>,
    /// Its pieces in the static table.
    pub(crate) pieces: Box<[u32]>,
}

/// The numbers of the kinds that are treated apart.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    pub(crate) activity: Option<u32>,
    pub(crate) never: [Option<u32>; 3],
}

/// The number of memories that have a word and, if requested, the newest of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holders {
    pub(crate) count: u64,
    postings: Option<(usize, Arc<[u32]>)>,
}

#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub(crate) kinds: Kinds,
    entries: NumberMap<u32, Arc<Known>>,
    holders: HashMap<String, Holders>,
    postings: usize,
    vectors: NumberMap<u32, Arc<[u8]>>,
    vectors_of: u32,
    complete: bool,
    questions: u32,
}

impl Cache {
    /// Forgets everything: the memories changed.
    pub(crate) fn clear(&mut self, rows: &MemoryRows<'_>) -> Result<(), StoreError> {
        let [a, b, c] = MemoryKind::NEVER_GIVEN;
        let kinds = Kinds {
            activity: rows.number(MemoryKind::ACTIVITY)?,
            never: [rows.number(a)?, rows.number(b)?, rows.number(c)?],
        };
        *self = Self { kinds, ..Self::default() };
        Ok(())
    }

    /// Another question.
    pub(crate) fn begin(&mut self) {
        self.questions = self.questions.saturating_add(1);
    }

    /// A memory and its words.
    pub(crate) fn known(
        &mut self,
        rows: &MemoryRows<'_>,
        index: &Index,
        place: u32,
    ) -> Result<Arc<Known>, MemoryError> {
        if let Some(known) = self.entries.get(&place) {
            return Ok(Arc::clone(known));
        }
        let key = index.key(place);
        let memory = rows.at(key)?.ok_or_else(|| gone(rows, key))?;
        let text = &memory.entry.text;
        let known = Arc::new(Known {
            terms: words::numbers(text),
            speaker: speaker(text).map(words::numbers).unwrap_or_default(),
            pieces: likeness::pieces(text),
            entry: memory.entry,
        });
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.clear();
        }
        self.entries.insert(place, Arc::clone(&known));
        Ok(known)
    }

    /// The vector of a memory that has one of this embedder.
    pub(crate) fn vector(
        &mut self,
        rows: &MemoryRows<'_>,
        index: &Index,
        place: u32,
        embedder: u32,
    ) -> Result<Arc<[u8]>, MemoryError> {
        if self.vectors_of != embedder {
            (self.vectors_of, self.complete) = (embedder, false);
            self.vectors.clear();
        }
        if let Some(code) = self.vectors.get(&place) {
            return Ok(Arc::clone(code));
        }
        let key = index.key(place);
        let code = rows.vector(key, embedder)?.ok_or_else(|| gone(rows, key))?;
        let code: Arc<[u8]> = code.into();
        let most = MAX_VECTOR_BYTES / code.len().max(1);
        if self.questions >= WARM_AFTER && !self.complete && index.len() <= most {
            self.complete = true;
            rows.vectors(embedder, |key, code| {
                if let Some(place) = index.index(key) {
                    self.vectors.insert(place, code.into());
                }
            })?;
        }
        if self.vectors.len() >= most {
            self.vectors.clear();
        }
        self.vectors.insert(place, Arc::clone(&code));
        Ok(code)
    }

    /// How many memories have a word.
    pub(crate) fn count(&mut self, rows: &MemoryRows<'_>, term: &str) -> Result<u64, StoreError> {
        if let Some(holders) = self.holders.get(term) {
            return Ok(holders.count);
        }
        let count = rows.holders(term)?;
        self.holders.insert(term.to_owned(), Holders { count, postings: None });
        Ok(count)
    }

    /// The places of the newest memories that have a word.
    pub(crate) fn postings(
        &mut self,
        rows: &MemoryRows<'_>,
        index: &Index,
        term: &str,
        limit: usize,
    ) -> Result<Arc<[u32]>, StoreError> {
        if let Some(Holders { postings: Some((asked, places)), .. }) = self.holders.get(term)
            && *asked == limit
        {
            return Ok(Arc::clone(places));
        }
        let keys = rows.postings(term, limit)?;
        let places: Arc<[u32]> = keys.iter().filter_map(|key| index.index(*key)).collect();
        self.postings += places.len();
        if self.postings > MAX_POSTINGS {
            self.holders.clear();
            self.postings = places.len();
        }
        let count = self.count(rows, term)?;
        let kept = Holders { count, postings: Some((limit, Arc::clone(&places))) };
        self.holders.insert(term.to_owned(), kept);
        Ok(places)
    }
}

/// A memory that is listed and not there: the rows do not fit together.
fn gone(rows: &MemoryRows<'_>, key: i64) -> MemoryError {
    rows.damaged(format!("the text or the vector of entry {key} is missing")).into()
}
