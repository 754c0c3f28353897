//! What a search looks at first, packed in blocks of 256 memories: few large rows instead of many.
//!
//! A block says of each memory whom it is for and when it happened; beside it lie the sketches of
//! its vectors, by embedder. Each has a checksum and the stamp of its last change, so that a reader
//! takes in what changed and nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::audit::checksum;
use crate::error::{InDatabase as _, StoreError};

/// How many memories a block holds.
pub const MEMORY_BLOCK: usize = 256;
const SLOT_BYTES: usize = 32;
const LIVE: u8 = 1;
const TAINTED: u8 = 2;

/// What a search knows of a memory before it reads it. Names are numbers; 0 is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemorySlot {
    /// Whether there is a memory.
    pub live: bool,
    /// Whether it came from outside.
    pub tainted: bool,
    /// By how many words it is found.
    pub words: u16,
    /// What it is for.
    pub kind: u32,
    /// The agent it is for.
    pub agent: u32,
    /// The user it is for.
    pub user: u32,
    /// The session it is for.
    pub session: u32,
    /// Who made its vector.
    pub embedder: u32,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
}

impl MemorySlot {
    fn to_bytes(self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        let flags = if self.live { LIVE } else { 0 } | if self.tainted { TAINTED } else { 0 };
        let fields: [&[u8]; 8] = [
            &[flags, 0],
            &self.words.to_le_bytes(),
            &self.kind.to_le_bytes(),
            &self.agent.to_le_bytes(),
            &self.user.to_le_bytes(),
            &self.session.to_le_bytes(),
            &self.embedder.to_le_bytes(),
            &self.at.to_le_bytes(),
        ];
        bytes.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = *from);
        bytes
    }

    fn from_bytes(bytes: &[u8; SLOT_BYTES]) -> Self {
        let [flags, _, w0, w1, rest @ ..] = *bytes;
        let (numbers, _) = rest.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|four| u32::from_le_bytes(*four));
        let mut next = || numbers.next().unwrap_or_default();
        let (kind, agent, user, session, embedder) = (next(), next(), next(), next(), next());
        let (low, high) = (next(), next());
        Self {
            live: flags & LIVE != 0,
            tainted: flags & TAINTED != 0,
            words: u16::from_le_bytes([w0, w1]),
            kind,
            agent,
            user,
            session,
            embedder,
            at: (u64::from(high) << 32 | u64::from(low)).cast_signed(),
        }
    }
}

/// The block a memory is in, and its place there.
#[must_use]
pub fn memory_place(key: i64) -> (i64, usize) {
    let size = MEMORY_BLOCK as i64;
    (key.div_euclid(size), usize::try_from(key.rem_euclid(size)).unwrap_or_default())
}

/// The stamp of the last change to the memories.
pub(crate) fn stamp(connection: &Connection) -> rusqlite::Result<i64> {
    let stamp = connection
        .prepare_cached("SELECT value FROM meta WHERE name = 'memory_stamp'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(stamp.unwrap_or(0))
}

/// Gives the blocks that changed after `since` to `each`, in their order.
pub(crate) fn slots_since(
    connection: &Connection,
    path: &Path,
    since: i64,
    mut each: impl FnMut(i64, &mut dyn Iterator<Item = MemorySlot>),
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT block, slots FROM memory_blocks WHERE stamp > ?1 ORDER BY block")
        .at(path)?;
    let mut rows = statement.query([since]).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        let block = row.get(0).at(path)?;
        let slots = row.get_ref(1).at(path)?.as_blob().ok().and_then(open_slots);
        let slots = slots.ok_or_else(|| damaged(path, block))?;
        each(block, &mut slots.iter().map(MemorySlot::from_bytes));
    }
    Ok(())
}

/// Gives the sketches of an embedder that changed after `since` to `each`: number of the block and
/// the bytes of 256 sketches.
pub(crate) fn sketches_since(
    connection: &Connection,
    path: &Path,
    embedder: u32,
    since: i64,
    mut each: impl FnMut(i64, &[u8]),
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT block, codes FROM memory_sketches WHERE embedder = ?1 AND stamp > ?2 \
             ORDER BY block",
        )
        .at(path)?;
    let mut rows = statement.query((embedder, since)).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        let block = row.get(0).at(path)?;
        let codes = row.get_ref(1).at(path)?.as_blob().ok().and_then(checksum::open);
        each(block, codes.ok_or_else(|| damaged(path, block))?);
    }
    Ok(())
}

/// The numbers of the embedders whose sketches are there.
pub(crate) fn embedders(connection: &Connection) -> rusqlite::Result<Vec<u32>> {
    connection
        .prepare_cached("SELECT DISTINCT embedder FROM memory_sketches ORDER BY embedder")?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn open_slots(sealed: &[u8]) -> Option<&[[u8; SLOT_BYTES]]> {
    match checksum::open(sealed)?.as_chunks() {
        (slots, []) if slots.len() == MEMORY_BLOCK => Some(slots),
        _ => None,
    }
}

fn damaged(path: &Path, block: i64) -> StoreError {
    StoreError::MemoryDamaged {
        path: path.to_path_buf(),
        detail: format!("the checksum of block {block} does not match"),
    }
}

/// The sketches that change in a block, and their places.
type ChangedSketches<'a> = Vec<(usize, &'a [u8])>;

/// Changes to blocks, gathered so that each block is read and written once.
#[derive(Default)]
pub(crate) struct Patch<'a> {
    slots: BTreeMap<i64, Vec<(usize, MemorySlot)>>,
    sketches: BTreeMap<(u32, i64), ChangedSketches<'a>>,
}

impl<'a> Patch<'a> {
    pub(crate) fn set(&mut self, key: i64, slot: MemorySlot, sketch: Option<&'a [u8]>) {
        let (block, place) = memory_place(key);
        self.slots.entry(block).or_default().push((place, slot));
        if let Some(sketch) = sketch {
            self.sketches.entry((slot.embedder, block)).or_default().push((place, sketch));
        }
    }

    /// Takes out a memory.
    pub(crate) fn clear(&mut self, key: i64) {
        self.set(key, MemorySlot::default(), None);
    }

    /// Writes the changes under a new stamp. `anew` begins each block without what was there, which
    /// is how damaged ones are made whole.
    pub(crate) fn write(
        self,
        connection: &Connection,
        path: &Path,
        anew: bool,
    ) -> Result<(), StoreError> {
        if self.slots.is_empty() {
            return Ok(());
        }
        let stamp: i64 = connection
            .prepare_cached(
                "INSERT INTO meta (name, value) VALUES ('memory_stamp', 1) \
                 ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
            )
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .at(path)?;
        for (block, changes) in self.slots {
            let mut slots = if anew { None } else { read_slots(connection, path, block)? }
                .unwrap_or_else(|| vec![[0; SLOT_BYTES]; MEMORY_BLOCK]);
            for (place, slot) in changes {
                if let Some(old) = slots.get_mut(place) {
                    *old = slot.to_bytes();
                }
            }
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO memory_blocks (block, stamp, slots) VALUES (?1, ?2, ?3)",
                )
                .and_then(|mut statement| {
                    statement.execute((block, stamp, checksum::seal(slots.concat())))
                })
                .at(path)?;
        }
        for ((embedder, block), changes) in self.sketches {
            let length = changes.iter().map(|(_, sketch)| sketch.len()).max().unwrap_or(0);
            let old = if anew { None } else { read_sketches(connection, path, embedder, block)? };
            let mut codes = old.unwrap_or_default();
            codes.resize(length * MEMORY_BLOCK, 0);
            for (place, sketch) in changes {
                if let Some(to) = codes.chunks_exact_mut(length.max(1)).nth(place)
                    && to.len() == sketch.len()
                {
                    to.copy_from_slice(sketch);
                }
            }
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO memory_sketches (embedder, block, stamp, codes) \
                     VALUES (?1, ?2, ?3, ?4)",
                )
                .and_then(|mut statement| {
                    statement.execute((embedder, block, stamp, checksum::seal(codes)))
                })
                .at(path)?;
        }
        Ok(())
    }
}

/// Notes in its slot that a memory no longer counts as coming from outside.
pub(crate) fn clear_taint(
    connection: &Connection,
    path: &Path,
    key: i64,
) -> Result<(), StoreError> {
    let (block, place) = memory_place(key);
    let slots = read_slots(connection, path, block)?;
    let slot = slots.as_ref().and_then(|slots| slots.get(place)).map(MemorySlot::from_bytes);
    let Some(slot) = slot.filter(|slot| slot.live) else { return Ok(()) };
    let mut patch = Patch::default();
    patch.set(key, MemorySlot { tainted: false, ..slot }, None);
    patch.write(connection, path, false)
}

fn read_slots(
    connection: &Connection,
    path: &Path,
    block: i64,
) -> Result<Option<Vec<[u8; SLOT_BYTES]>>, StoreError> {
    let sealed: Option<Vec<u8>> = connection
        .prepare_cached("SELECT slots FROM memory_blocks WHERE block = ?1")
        .and_then(|mut statement| statement.query_row([block], |row| row.get(0)).optional())
        .at(path)?;
    let Some(sealed) = sealed else { return Ok(None) };
    Ok(Some(open_slots(&sealed).ok_or_else(|| damaged(path, block))?.to_vec()))
}

fn read_sketches(
    connection: &Connection,
    path: &Path,
    embedder: u32,
    block: i64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let sealed: Option<Vec<u8>> = connection
        .prepare_cached("SELECT codes FROM memory_sketches WHERE embedder = ?1 AND block = ?2")
        .and_then(|mut statement| {
            statement.query_row((embedder, block), |row| row.get(0)).optional()
        })
        .at(path)?;
    let Some(sealed) = sealed else { return Ok(None) };
    Ok(Some(checksum::open(&sealed).ok_or_else(|| damaged(path, block))?.to_vec()))
}

/// Deletes blocks without memories, and the sketches of embedders that made none of the vectors
/// left.
pub(crate) fn drop_unused(connection: &Connection) -> rusqlite::Result<()> {
    for table in ["memory_blocks", "memory_sketches"] {
        let condition =
            format!("key >= block * {MEMORY_BLOCK} AND key < (block + 1) * {MEMORY_BLOCK}");
        connection.execute(
            &format!(
                "DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM memories WHERE {condition})"
            ),
            [],
        )?;
    }
    for embedder in embedders(connection)? {
        let used: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM memory_vectors WHERE embedder = ?1)",
            [embedder],
            |row| row.get(0),
        )?;
        if !used {
            connection.execute("DELETE FROM memory_sketches WHERE embedder = ?1", [embedder])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_read_as_it_was_written() {
        let slot = MemorySlot {
            live: true,
            tainted: true,
            words: 513,
            kind: 1,
            agent: 2,
            user: u32::MAX,
            session: 4,
            embedder: 5,
            at: -6,
        };
        assert_eq!(MemorySlot::from_bytes(&slot.to_bytes()), slot);
        assert_eq!(memory_place(255), (0, 255));
        assert_eq!(memory_place(256), (1, 0));
    }
}
