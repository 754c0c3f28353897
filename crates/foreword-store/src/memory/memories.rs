//! Memories as rows: stored once, found by the beginning of their id, listed, forgotten.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::error::{InDatabase as _, StoreError};
use crate::memory::blocks::{self, MemorySlot, Patch};
use crate::memory::interned_names::InternedNames;
use crate::memory::is_id_byte;
use crate::memory::terms::Counts;
use crate::memory::vectors;
use crate::memory::{
    AddOutcome, MemoryEntry, MemoryFilter, MemoryId, MemoryKind, MemoryScope, NewMemory,
    StoredVector,
};
use crate::short_id;

const COLUMNS: &str = "key, id, text, kind, agent, user, session, created_at, date, tainted, \
                       source, importance";

/// A memory and its place in the database.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedMemory {
    /// Its place; memories stored later have higher ones.
    pub key: i64,
    /// The memory.
    pub entry: MemoryEntry,
}

pub(crate) fn insert(
    connection: &Connection,
    path: &Path,
    new: &[NewMemory],
) -> Result<Vec<AddOutcome>, StoreError> {
    let mut added = Vec::with_capacity(new.len());
    let mut naming = InternedNames::new(connection);
    let mut counts = Counts::default();
    let mut patch = Patch::default();
    for memory in new {
        let NewMemory { entry, terms, vector } = memory;
        entry.check()?;
        if let Some(there) = already(connection, entry).at(path)? {
            added.push(there);
            continue;
        }
        let key = insert_row(connection, entry).at(path)?;
        counts.insert(connection, key, terms).at(path)?;
        let slot = slot(&mut naming, entry, terms.len(), vector.as_ref()).at(path)?;
        if let Some(vector) = vector {
            vectors::write(connection, key, slot.embedder, &vector.code).at(path)?;
        }
        patch.set(key, slot, vector.as_ref().map(|vector| vector.sketch.as_slice()));
        added.push(AddOutcome::Added(entry.id.clone()));
    }
    counts.write(connection).at(path)?;
    patch.write(connection, path, false)?;
    Ok(added)
}

/// A memory that gets a new vector.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorUpdate {
    /// The memory.
    pub memory: KeyedMemory,
    /// By how many words it is found.
    pub words: usize,
    /// Its new vector.
    pub vector: Option<StoredVector>,
}

pub(crate) fn set_vectors(
    connection: &Connection,
    path: &Path,
    all: &[VectorUpdate],
    anew: bool,
) -> Result<(), StoreError> {
    let mut naming = InternedNames::new(connection);
    let mut patch = Patch::default();
    for VectorUpdate { memory: KeyedMemory { key, entry }, words, vector } in all {
        // Forgotten since it was read: nothing of it may come back.
        let there: bool = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM memories WHERE key = ?1 AND id = ?2)")
            .and_then(|mut statement| {
                statement.query_row((key, entry.id.as_str()), |row| row.get(0))
            })
            .at(path)?;
        if !there {
            continue;
        }
        let slot = slot(&mut naming, entry, *words, vector.as_ref()).at(path)?;
        match vector {
            Some(vector) => {
                vectors::write(connection, *key, slot.embedder, &vector.code).at(path)?;
            }
            None => vectors::delete(connection, *key).at(path)?,
        }
        patch.set(*key, slot, vector.as_ref().map(|vector| vector.sketch.as_slice()));
    }
    patch.write(connection, path, anew)
}

/// Notes that a memory no longer counts as coming from outside.
pub(crate) fn clear_taint(
    connection: &Connection,
    path: &Path,
    id: &str,
) -> Result<(), StoreError> {
    let KeyedMemory { key, .. } = find(connection, path, id)?;
    connection
        .prepare_cached("UPDATE memories SET tainted = 0 WHERE key = ?1")
        .and_then(|mut statement| statement.execute([key]))
        .at(path)?;
    blocks::clear_taint(connection, path, key)
}

pub(crate) fn delete(
    connection: &Connection,
    path: &Path,
    all: &[KeyedMemory],
    terms: impl Fn(&str) -> Vec<String>,
) -> Result<usize, StoreError> {
    let mut counts = Counts::default();
    let mut patch = Patch::default();
    let mut deleted = 0;
    for KeyedMemory { key, entry } in all {
        let rows = connection
            .prepare_cached("DELETE FROM memories WHERE key = ?1 AND id = ?2")
            .and_then(|mut statement| statement.execute((key, entry.id.as_str())))
            .at(path)?;
        if rows == 0 {
            continue;
        }
        deleted += rows;
        vectors::delete(connection, *key).at(path)?;
        counts.delete(connection, *key, &terms(&entry.text)).at(path)?;
        patch.clear(*key);
    }
    counts.write(connection).at(path)?;
    patch.write(connection, path, false)?;
    Ok(deleted)
}

fn insert_row(connection: &Connection, entry: &MemoryEntry) -> rusqlite::Result<i64> {
    let MemoryScope { agent, user, session } = &entry.scope;
    connection
        .prepare_cached(
            "INSERT INTO memories (id, text, kind, agent, user, session, created_at, date, \
             tainted, source, importance, same) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .insert((
            entry.id.as_str(),
            &entry.text,
            entry.kind.as_str(),
            agent,
            user,
            session,
            entry.created_at,
            &entry.date,
            entry.tainted,
            &entry.source,
            entry.importance,
            same(entry),
        ))
}

fn slot(
    naming: &mut InternedNames<'_>,
    entry: &MemoryEntry,
    words: usize,
    vector: Option<&StoredVector>,
) -> rusqlite::Result<MemorySlot> {
    Ok(MemorySlot {
        live: true,
        tainted: entry.tainted,
        words: u16::try_from(words).unwrap_or(u16::MAX),
        kind: naming.of(Some(entry.kind.as_str()))?,
        agent: naming.of(entry.scope.agent.as_deref())?,
        user: naming.of(entry.scope.user.as_deref())?,
        session: naming.of(entry.scope.session.as_deref())?,
        embedder: naming.of(vector.map(|vector| vector.embedder.as_str()))?,
        at: entry.at(),
    })
}

/// A number that equal texts of the same scope share.
fn same(entry: &MemoryEntry) -> i64 {
    let MemoryScope { agent, user, session } = &entry.scope;
    let mut hasher = blake3::Hasher::new();
    for name in [agent, user, session] {
        let name = name.as_deref().unwrap_or_default();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    }
    hasher.update(entry.text.as_bytes());
    let hash = *hasher.finalize().as_bytes();
    i64::from_le_bytes(hash.first_chunk().copied().unwrap_or_default())
}

/// The memory that keeps this one out, if there is one.
fn already(connection: &Connection, entry: &MemoryEntry) -> rusqlite::Result<Option<AddOutcome>> {
    let taken = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE id = ?1"))?
        .query_row([entry.id.as_str()], row)
        .optional()?;
    if let Some(there) = taken {
        let there = there.entry;
        return Ok(Some(if says_the_same(&there, entry) {
            AddOutcome::Duplicate(there.id)
        } else {
            AddOutcome::IdTaken(there.id)
        }));
    }
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE same = ?1 ORDER BY key"))?;
    for there in statement.query_map([same(entry)], row)? {
        let there = there?.entry;
        if says_the_same(&there, entry) {
            return Ok(Some(AddOutcome::Duplicate(there.id)));
        }
    }
    Ok(None)
}

/// Whether a memory is there already. One that is trusted more does not stand for one that is trusted
/// less; the other way round it does, so that saying it again washes nothing clean.
fn says_the_same(there: &MemoryEntry, entry: &MemoryEntry) -> bool {
    there.text == entry.text
        && there.scope == entry.scope
        && there.kind == entry.kind
        && (there.tainted || !entry.tainted)
}

/// The memory with this id, or the only one whose id begins with it.
///
/// Ids made here are lower case, so an id in upper case that matches nothing is tried in lower case.
pub(crate) fn find(
    connection: &Connection,
    path: &Path,
    id: &str,
) -> Result<KeyedMemory, StoreError> {
    let mut found = starting_with(connection, id).at(path)?;
    if found.is_empty() {
        found = starting_with(connection, &id.to_ascii_lowercase()).at(path)?;
    }
    match found.as_slice() {
        [first, ..] if found.len() == 1 || first.entry.id.as_str().eq_ignore_ascii_case(id) => {
            Ok(found.swap_remove(0))
        }
        [] => Err(StoreError::NoSuchMemory { id: short_id::cut_id(id) }),
        _ => Err(StoreError::AmbiguousMemory {
            prefix: id.to_owned(),
            candidates: found.iter().take(10).map(|memory| memory.entry.id.to_string()).collect(),
        }),
    }
}

/// The first memories whose id begins like this, the shortest id first.
fn starting_with(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<KeyedMemory>> {
    if prefix.is_empty() || !prefix.bytes().all(is_id_byte) {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM memories WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT 11"
        ))?
        .query_map([prefix], row)?
        .collect()
}

/// The memory at a place.
pub(crate) fn at(
    connection: &Connection,
    path: &Path,
    key: i64,
) -> Result<Option<KeyedMemory>, StoreError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE key = ?1"))
        .and_then(|mut statement| statement.query_row([key], row).optional())
        .at(path)
}

/// The memories from one place up to and without another, in order.
pub(crate) fn range(
    connection: &Connection,
    path: &Path,
    from: i64,
    to: i64,
) -> Result<Vec<KeyedMemory>, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM memories WHERE key >= ?1 AND key < ?2 ORDER BY key"
        ))
        .and_then(|mut statement| statement.query_map((from, to), row)?.collect())
        .at(path)
}

/// The memories that the filter lets through, the newest first.
pub(crate) fn list(
    connection: &Connection,
    path: &Path,
    filter: &MemoryFilter,
) -> Result<Vec<KeyedMemory>, StoreError> {
    let MemoryScope { agent, user, session } = &filter.scope;
    let (before_at, before_key) = filter.before.unzip();
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM memories WHERE (?1 IS NULL OR kind = ?1) \
             AND (?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR user = ?3) \
             AND (?4 IS NULL OR session = ?4) AND (?5 IS NULL OR tainted = ?5) \
             AND (?6 IS NULL OR (created_at, key) < (?6, ?7)) \
             ORDER BY created_at DESC, key DESC LIMIT ?8"
        ))
        .and_then(|mut statement| {
            let limit = filter.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1);
            let kind = filter.kind.as_ref().map(MemoryKind::as_str);
            let values = (kind, agent, user, session, filter.tainted, before_at, before_key, limit);
            statement.query_map(values, row)?.collect()
        })
        .at(path)
}

/// Whether there is any, and the highest place.
pub(crate) fn last_key(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection.prepare_cached("SELECT max(key) FROM memories")?.query_row([], |row| row.get(0))
}

/// The places of all, in order.
pub(crate) fn keys(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached("SELECT key FROM memories ORDER BY key")?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn row(row: &Row<'_>) -> rusqlite::Result<KeyedMemory> {
    let kind: String = row.get(3)?;
    Ok(KeyedMemory {
        key: row.get(0)?,
        entry: MemoryEntry {
            id: MemoryId::stored(row.get(1)?),
            text: row.get(2)?,
            kind: MemoryKind::parse(&kind).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(
                    3,
                    rusqlite::types::Type::Text,
                    Box::new(error),
                )
            })?,
            scope: MemoryScope { agent: row.get(4)?, user: row.get(5)?, session: row.get(6)? },
            created_at: row.get(7)?,
            date: row.get(8)?,
            tainted: row.get(9)?,
            source: row.get(10)?,
            importance: row.get(11)?,
        },
    })
}
