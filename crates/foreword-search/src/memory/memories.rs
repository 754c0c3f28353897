//! Writes memories: checks and embeds a text before it is stored and audited.

use foreword_embed::{EmbedError, Embedder};
use foreword_store::{
    AddOutcome, Event, KeyedMemory, MEMORY_BLOCK, MemoryEntry, MemoryId, MemoryKind, MemoryScope,
    NewMemory, Outcome, Store, StoreError, StoredVector, VectorUpdate, memory_place,
};
use serde_json::{Value, json};

use crate::memory::code;
use crate::memory::engine::embedder_id;
use crate::memory::error::MemoryError;
use crate::memory::sketch::Rotation;
use crate::memory::words;

/// Memories embedded and written per transaction.
const AT_ONCE: usize = 16 * MEMORY_BLOCK;
/// Ids named in the audit log; beyond that, their number and a digest.
const NAMED_IDS: usize = 50;

/// A memory to be stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewEntry {
    pub text: String,
    pub kind: MemoryKind,
    /// Whom it is for.
    pub scope: MemoryScope,
    /// The day it is about, such as `2026-02-26`.
    pub date: Option<String>,
    /// Whether it came from outside.
    pub tainted: bool,
    /// Where it came from.
    pub source: Option<String>,
    /// How much it matters, 0 to 1.
    pub importance: Option<f64>,
    /// Its id, if it has one already.
    pub id: Option<MemoryId>,
    /// When it was stored first, if it was.
    pub created_at: Option<i64>,
    /// Its vector, if it has one already: the id of the embedder, and the bytes.
    pub vector: Option<(String, Vec<u8>)>,
}

impl NewEntry {
    /// Looks whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        let Self { text, kind, scope, date, tainted, source, importance, .. } = self.clone();
        let id = self.id.clone().map_or_else(MemoryId::random, Ok)?;
        let created_at = 0;
        MemoryEntry { id, text, kind, scope, created_at, date, tainted, source, importance }.check()
    }

    /// A note for all.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// What became of memories that were to be stored.
#[derive(Debug, Default)]
pub struct Batch {
    /// Of each what became of it, in order.
    pub added: Vec<AddOutcome>,
    /// Why they have no vectors and are found by words only, if so.
    pub unembedded: Option<EmbedError>,
}

/// The counts of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Stored.
    pub new: usize,
    /// There already.
    pub same: usize,
    /// Not stored, because another text has their id.
    pub taken: usize,
}

impl Imported {
    /// Counts what became of some more.
    pub fn count(&mut self, added: &[AddOutcome]) {
        for one in added {
            match one {
                AddOutcome::Added(_) => self.new += 1,
                AddOutcome::Duplicate(_) => self.same += 1,
                AddOutcome::IdTaken(_) => self.taken += 1,
            }
        }
    }
}

/// The counts of a reindexing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reindexed {
    /// Memories that got a new vector.
    pub done: usize,
    /// Memories that had no vector of this embedder.
    pub total: usize,
}

/// The memories of a store, to be changed. Every change is on record.
#[derive(Clone, Copy)]
pub struct Memories<'s> {
    store: &'s Store,
    embedder: Option<&'s dyn Embedder>,
}

impl std::fmt::Debug for Memories<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let embedder = self.embedder.map(|embedder| embedder.id().to_string());
        f.debug_struct("Memories").field("embedder", &embedder).finish_non_exhaustive()
    }
}

impl<'s> Memories<'s> {
    /// Without an embedder memories are stored without vectors, and found by words only.
    #[must_use]
    pub fn new(store: &'s Store, embedder: Option<&'s dyn Embedder>) -> Self {
        Self { store, embedder }
    }

    /// Stores one memory.
    ///
    /// If the embedder fails, the memory is stored without a vector: see [`Batch::unembedded`].
    pub fn add(&self, actor: &str, now_ms: i64, entry: NewEntry) -> Result<Batch, MemoryError> {
        let (new, unembedded) = self.ready(now_ms, vec![entry])?;
        let added = self.store.write(now_ms, |write| -> Result<_, StoreError> {
            let added = write.add_memories(&new)?;
            if let ([AddOutcome::Added(id)], [memory]) = (added.as_slice(), new.as_slice()) {
                let event = Event::new(actor, "memory.add", id.as_str(), Outcome::Done);
                write.audit(&event.with_detail(described(&memory.entry)))?;
            }
            Ok(added)
        })?;
        Ok(Batch { added, unembedded })
    }

    /// Stores many memories in one transaction with one entry in the log.
    ///
    /// On an error, none of them is stored.
    pub fn import(
        &self,
        actor: &str,
        now_ms: i64,
        source: &str,
        entries: Vec<NewEntry>,
    ) -> Result<Batch, MemoryError> {
        let (new, unembedded) = self.ready(now_ms, entries)?;
        let added = self.store.write(now_ms, |write| -> Result<_, StoreError> {
            let added = write.add_memories(&new)?;
            let mut counts = Imported::default();
            counts.count(&added);
            if counts.new > 0 {
                let stored =
                    added.iter().zip(&new).filter(|(one, _)| matches!(one, AddOutcome::Added(_)));
                let texts = stored
                    .flat_map(|(_, memory)| [memory.entry.id.as_str(), memory.entry.text.as_str()]);
                let detail = json!({
                    "new": counts.new, "same": counts.same, "taken": counts.taken,
                    "digest": digest(texts),
                });
                let event = Event::new(actor, "memory.import", source, Outcome::Done);
                write.audit(&event.with_detail(detail))?;
            }
            Ok(added)
        })?;
        Ok(Batch { added, unembedded })
    }

    /// Forgets memories; gives how many were still there. Their texts are not in the log.
    pub fn forget(
        &self,
        actor: &str,
        now_ms: i64,
        all: &[KeyedMemory],
    ) -> Result<usize, MemoryError> {
        let mut forgotten = 0;
        for some in all.chunks(AT_ONCE) {
            forgotten += self.store.write(now_ms, |write| -> Result<_, StoreError> {
                let count = write.forget_memories(some, words::terms)?;
                if count > 0 {
                    let ids: Vec<&str> =
                        some.iter().map(|memory| memory.entry.id.as_str()).collect();
                    let subject = match ids.as_slice() {
                        [id] => (*id).to_owned(),
                        _ => format!("{count} memories"),
                    };
                    let named: &[&str] = if ids.len() <= NAMED_IDS { &ids } else { &[] };
                    let detail = json!({
                        "count": count, "ids": named, "digest": digest(ids.iter().copied()),
                    });
                    let event = Event::new(actor, "memory.forget", subject, Outcome::Done);
                    write.audit(&event.with_detail(detail))?;
                }
                Ok(count)
            })?;
        }
        Ok(forgotten)
    }

    /// Makes vectors for the memories that have none of this embedder, or with `all` for every one,
    /// which also repairs damaged vectors. An interruption keeps the work done so far.
    pub fn reindex(
        &self,
        actor: &str,
        now_ms: i64,
        all: bool,
        mut progress: impl FnMut(Reindexed),
    ) -> Result<Reindexed, MemoryError> {
        let Some(embedder) = self.embedder else { return Ok(Reindexed::default()) };
        let id = embedder.id().to_string();
        let keys = self.keys_without(&id, all)?;
        let mut counts = Reindexed { done: 0, total: keys.len() };
        progress(counts);
        let mut rest = keys.as_slice();
        while !rest.is_empty() {
            // Whole blocks: one that is damaged is made from its memories alone.
            let mut end = rest.len().min(AT_ONCE);
            while let (Some(last), Some(next)) = (rest.get(end - 1), rest.get(end))
                && memory_place(*last).0 == memory_place(*next).0
            {
                end += 1;
            }
            let (some, behind) = rest.split_at(end);
            rest = behind;
            counts.done += self.reindex_some(actor, now_ms, embedder, some, all)?;
            progress(counts);
        }
        self.store.write(now_ms, |write| write.drop_unused_sketches())?;
        Ok(counts)
    }

    fn reindex_some(
        &self,
        actor: &str,
        now_ms: i64,
        embedder: &dyn Embedder,
        keys: &[i64],
        all: bool,
    ) -> Result<usize, MemoryError> {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(0) };
        let memories = self
            .store
            .read_memories(|rows| rows.range(*first, last.saturating_add(1)))?
            .unwrap_or_default();
        let memories: Vec<KeyedMemory> =
            memories.into_iter().filter(|memory| keys.binary_search(&memory.key).is_ok()).collect();
        let texts: Vec<&str> = memories.iter().map(|memory| memory.entry.text.as_str()).collect();
        let vectors = embedder.embed(&texts)?;
        let rotation = Rotation::new(embedder.id().dims);
        let name = embedder.id().to_string();
        let ready: Vec<VectorUpdate> = memories
            .iter()
            .zip(&vectors)
            .map(|(memory, vector)| VectorUpdate {
                memory: memory.clone(),
                words: words::terms(&memory.entry.text).len(),
                vector: Some(stored(&name, &rotation, vector.values())),
            })
            .collect();
        self.store.write(now_ms, |write| -> Result<_, StoreError> {
            write.set_memory_vectors(&ready, all)?;
            let detail = json!({ "count": ready.len(), "embedder": name });
            let subject = format!("{} memories", ready.len());
            let event = Event::new(actor, "memory.reindex", subject, Outcome::Done);
            write.audit(&event.with_detail(detail)).map(drop)
        })?;
        Ok(ready.len())
    }

    /// The places of the memories that have no vector of an embedder, in order.
    fn keys_without(&self, embedder: &str, all: bool) -> Result<Vec<i64>, MemoryError> {
        let keys = self.store.read_memories(|rows| -> Result<_, StoreError> {
            if all {
                return rows.keys();
            }
            let wanted = rows.number(embedder)?;
            let mut keys = Vec::new();
            rows.slots_since(0, |block, slots| {
                let first = block.saturating_mul(MEMORY_BLOCK as i64);
                let lacking = (first..)
                    .zip(slots)
                    .filter(|(_, slot)| slot.live && Some(slot.embedder) != wanted);
                keys.extend(lacking.map(|(key, _)| key));
            })?;
            Ok(keys)
        })?;
        Ok(keys.unwrap_or_default())
    }

    /// Gives entries their ids, words and vectors.
    fn ready(
        &self,
        now_ms: i64,
        entries: Vec<NewEntry>,
    ) -> Result<(Vec<NewMemory>, Option<EmbedError>), MemoryError> {
        let missing = entries.iter().filter(|entry| entry.vector.is_none());
        // A text that is too long is refused anyway, so it is not embedded.
        let texts: Vec<&str> = missing
            .map(|entry| entry.text.as_str())
            .map(|text| if text.len() > foreword_store::MAX_MEMORY_BYTES { "" } else { text })
            .collect();
        let (mut vectors, mut unembedded) = (Vec::new(), None);
        if let Some(embedder) = self.embedder
            && !texts.is_empty()
        {
            match embedder.embed(&texts) {
                Ok(made) => vectors = made,
                Err(error) => unembedded = Some(error),
            }
        }
        let rotation = vectors.first().map(|vector| Rotation::new(vector.id().dims));
        let mut vectors = vectors.iter();
        let mut new = Vec::with_capacity(entries.len());
        for entry in entries {
            let vector = match &entry.vector {
                Some((embedder, code)) => Some(given(embedder, code)?),
                None => vectors.next().zip(rotation.as_ref()).map(|(vector, rotation)| {
                    stored(&vector.id().to_string(), rotation, vector.values())
                }),
            };
            let terms = words::terms(&entry.text);
            let NewEntry { text, kind, scope, date, tainted, source, importance, .. } = entry;
            let id = entry.id.map_or_else(MemoryId::random, Ok)?;
            let created_at = entry.created_at.unwrap_or(now_ms);
            let entry = MemoryEntry {
                id,
                text,
                kind,
                scope,
                created_at,
                date,
                tainted,
                source,
                importance,
            };
            new.push(NewMemory { entry, terms, vector });
        }
        Ok((new, unembedded))
    }
}

fn stored(embedder: &str, rotation: &Rotation, values: &[f32]) -> StoredVector {
    StoredVector {
        embedder: embedder.to_owned(),
        code: code::encode(values),
        sketch: rotation.sketch(values),
    }
}

/// A vector that came with its memory.
fn given(embedder: &str, code: &[u8]) -> Result<StoredVector, MemoryError> {
    let dims = embedder_id(embedder).map_or(0, |id| id.dims);
    if dims == 0 || dims != code.len() {
        return Err(MemoryError::Vector {
            id: embedder.to_owned(),
            detail: format!("it has {} numbers, not {dims}", code.len()),
        });
    }
    let sketch = Rotation::new(dims).sketch(&code::decode(code));
    Ok(StoredVector { embedder: embedder.to_owned(), code: code.to_vec(), sketch })
}

/// A memory for the log: its text only as a digest, so that forgetting it forgets it.
fn described(entry: &MemoryEntry) -> Value {
    let mut detail = json!({
        "kind": entry.kind, "tainted": entry.tainted, "bytes": entry.text.len(),
        "digest": digest([entry.text.as_str()]),
    });
    let scope = &entry.scope;
    let more = [
        ("agent", &scope.agent),
        ("user", &scope.user),
        ("session", &scope.session),
        ("source", &entry.source),
    ];
    for (name, value) in more {
        if let (Some(fields), Some(value)) = (detail.as_object_mut(), value) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    detail
}

fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    format!("blake3:{}", hasher.finalize().to_hex())
}
