//! Reading memories: one state of the database for all that a search looks at.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{InDatabase as _, StoreError};
use crate::memory::MemoryFilter;
use crate::memory::blocks::{self, MemorySlot};
use crate::memory::interned_names;
use crate::memory::memories::{self, KeyedMemory};
use crate::memory::terms;
use crate::memory::vectors;

/// The memories as they were when reading began; see
/// [`Reader::read_memories`](crate::Reader::read_memories).
#[derive(Debug)]
pub struct MemoryRows<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) path: &'c Path,
}

/// Every function fails when the database cannot be read.
#[allow(clippy::missing_errors_doc, reason = "said once, above")]
impl MemoryRows<'_> {
    /// The error for what does not fit together.
    #[must_use]
    pub fn damaged(&self, detail: String) -> StoreError {
        StoreError::MemoryDamaged { path: self.path.to_path_buf(), detail }
    }

    /// A number that grows with every change.
    pub fn stamp(&self) -> Result<i64, StoreError> {
        blocks::stamp(self.connection).at(self.path)
    }

    /// The highest place of a memory, if there is any.
    pub fn last_key(&self) -> Result<Option<i64>, StoreError> {
        memories::last_key(self.connection).at(self.path)
    }

    /// Gives the blocks that changed after a stamp to `each`, in their order.
    pub fn slots_since(
        &self,
        stamp: i64,
        each: impl FnMut(i64, &mut dyn Iterator<Item = MemorySlot>),
    ) -> Result<(), StoreError> {
        blocks::slots_since(self.connection, self.path, stamp, each)
    }

    /// Gives the sketches of an embedder that changed after a stamp to `each`: the number of their
    /// block, and 256 of them one after another.
    pub fn sketches_since(
        &self,
        embedder: u32,
        stamp: i64,
        each: impl FnMut(i64, &[u8]),
    ) -> Result<(), StoreError> {
        blocks::sketches_since(self.connection, self.path, embedder, stamp, each)
    }

    /// The numbers of the embedders that vectors are there of.
    pub fn embedders(&self) -> Result<Vec<u32>, StoreError> {
        blocks::embedders(self.connection).at(self.path)
    }

    /// The number of a name, if it has one.
    pub fn number(&self, name: &str) -> Result<Option<u32>, StoreError> {
        interned_names::number(self.connection, name).at(self.path)
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> Result<Option<String>, StoreError> {
        interned_names::name(self.connection, number).at(self.path)
    }

    /// How many memories have this word.
    pub fn holders(&self, term: &str) -> Result<u64, StoreError> {
        terms::holders(self.connection, term).at(self.path)
    }

    /// The places of the memories that have this word, the newest first, up to a limit.
    pub fn postings(&self, term: &str, limit: usize) -> Result<Vec<i64>, StoreError> {
        terms::postings(self.connection, term, limit).at(self.path)
    }

    /// The numbers of a vector, if the memory has one of this embedder.
    pub fn vector(&self, key: i64, embedder: u32) -> Result<Option<Vec<u8>>, StoreError> {
        vectors::read(self.connection, self.path, key, embedder)
    }

    /// Who made the vector of a memory, if it has one.
    pub fn embedder_of(&self, key: i64) -> Result<Option<String>, StoreError> {
        let number = vectors::embedder(self.connection, key).at(self.path)?;
        Ok(number.map(|number| self.name(number)).transpose()?.flatten())
    }

    /// The vector of a memory and who made it, if it has one.
    pub fn any_vector(&self, key: i64) -> Result<Option<(String, Vec<u8>)>, StoreError> {
        let number = vectors::embedder(self.connection, key).at(self.path)?;
        let Some(number) = number else { return Ok(None) };
        Ok(self.name(number)?.zip(self.vector(key, number)?))
    }

    /// Gives every vector of an embedder to `each`.
    pub fn vectors(&self, embedder: u32, each: impl FnMut(i64, &[u8])) -> Result<(), StoreError> {
        vectors::read_all(self.connection, self.path, embedder, each)
    }

    /// The memory at a place.
    pub fn at(&self, key: i64) -> Result<Option<KeyedMemory>, StoreError> {
        memories::at(self.connection, self.path, key)
    }

    /// The memories from one place up to and without another, in order.
    pub fn range(&self, from: i64, to: i64) -> Result<Vec<KeyedMemory>, StoreError> {
        memories::range(self.connection, self.path, from, to)
    }

    /// The places of all memories, in order.
    pub fn keys(&self) -> Result<Vec<i64>, StoreError> {
        memories::keys(self.connection).at(self.path)
    }

    /// The memory with this id, or the only one whose id begins with it.
    pub fn find(&self, id: &str) -> Result<KeyedMemory, StoreError> {
        memories::find(self.connection, self.path, id)
    }

    /// The memories that the filter lets through, the newest first.
    pub fn list(&self, filter: &MemoryFilter) -> Result<Vec<KeyedMemory>, StoreError> {
        memories::list(self.connection, self.path, filter)
    }
}
