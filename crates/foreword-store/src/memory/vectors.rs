//! The vectors of memories, one a row, each with a checksum.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::audit::checksum;
use crate::error::{InDatabase as _, StoreError};

/// The numbers of a memory's vector; `None` where it has none of this embedder.
pub(crate) fn read(
    connection: &Connection,
    path: &Path,
    key: i64,
    embedder: u32,
) -> Result<Option<Vec<u8>>, StoreError> {
    let sealed: Option<Option<Vec<u8>>> = connection
        .prepare_cached("SELECT vector FROM memory_vectors WHERE key = ?1 AND embedder = ?2")
        .and_then(|mut statement| {
            statement
                .query_row((key, embedder), |row| {
                    Ok(checksum::open(row.get_ref(0)?.as_blob()?).map(<[u8]>::to_vec))
                })
                .optional()
        })
        .at(path)?;
    match sealed {
        Some(None) => Err(damaged(path, key)),
        Some(code) => Ok(code),
        None => Ok(None),
    }
}

/// The number of the embedder that made a memory's vector.
pub(crate) fn embedder(connection: &Connection, key: i64) -> rusqlite::Result<Option<u32>> {
    connection
        .prepare_cached("SELECT embedder FROM memory_vectors WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Gives every vector of an embedder to `each`.
pub(crate) fn read_all(
    connection: &Connection,
    path: &Path,
    embedder: u32,
    mut each: impl FnMut(i64, &[u8]),
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT key, vector FROM memory_vectors WHERE embedder = ?1 ORDER BY key")
        .at(path)?;
    let mut rows = statement.query([embedder]).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        let key = row.get(0).at(path)?;
        let sealed = row.get_ref(1).at(path)?.as_blob().map_err(|_| damaged(path, key))?;
        each(key, checksum::open(sealed).ok_or_else(|| damaged(path, key))?);
    }
    Ok(())
}

pub(crate) fn write(
    connection: &Connection,
    key: i64,
    embedder: u32,
    code: &[u8],
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO memory_vectors (key, embedder, vector) VALUES (?1, ?2, ?3)",
        )?
        .execute((key, embedder, checksum::seal(code.to_vec())))
        .map(drop)
}

pub(crate) fn delete(connection: &Connection, key: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM memory_vectors WHERE key = ?1")?.execute([key]).map(drop)
}

fn damaged(path: &Path, key: i64) -> StoreError {
    StoreError::MemoryDamaged {
        path: path.to_path_buf(),
        detail: format!("the checksum of the vector of memory {key} does not match"),
    }
}
