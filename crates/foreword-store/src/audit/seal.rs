//! Seals of rows that the host acts on without asking again: grants, schedules, tasks and the taint
//! counters of sessions.
//!
//! A seal is a keyed hash over the identity of the log and every column of a row. Whoever can write the
//! database but does not have the key can neither add such a row nor change one. An older row with its
//! seal can still be put back, so what must happen once or at its time is compared with the chain too
//! (`origins.rs`).

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::audit;
use crate::audit::chain::{Hash, LogId};
use crate::audit::key::AuditKey;
use crate::error::{InDatabase as _, StoreError};
use crate::rows::Rows;
use crate::short_id;

/// A table whose rows are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SealedTable {
    /// What one row is called.
    pub(crate) what: &'static str,
    pub(crate) table: &'static str,
    /// What is sealed; the first one is the id.
    columns: &'static [&'static str],
}

pub(crate) const GRANTS: SealedTable = SealedTable {
    what: "grant",
    table: "grants",
    columns: &[
        "id",
        "session",
        "action",
        "refusal",
        "digest",
        "granted_by",
        "granted_at",
        "used_at",
    ],
};

pub(crate) const SCHEDULES: SealedTable = SealedTable {
    what: "schedule",
    table: "schedules",
    columns: &[
        "id",
        "cron",
        "at",
        "prompt",
        "tainted",
        "agent",
        "session",
        "created_by",
        "created_at",
        "next_at",
        "last_at",
        "runs",
    ],
};

pub(crate) const TASKS: SealedTable = SealedTable {
    what: "task",
    table: "tasks",
    columns: &[
        "id",
        "title",
        "detail",
        "assignee",
        "state",
        "tainted",
        "created_by",
        "session",
        "created_at",
        "changed_at",
    ],
};

/// The counters only: whatever else a session holds is not acted on.
pub(crate) const SESSIONS: SealedTable = SealedTable {
    what: "session",
    table: "sessions",
    columns: &["id", "external_tokens", "total_tokens", "external_since_person"],
};

pub(crate) const SEALED_TABLES: [SealedTable; 4] = [GRANTS, SCHEDULES, TASKS, SESSIONS];

/// Seals a row as it is now.
pub(crate) fn seal(
    rows: Rows<'_>,
    key: &AuditKey,
    table: SealedTable,
    id: &str,
) -> Result<(), StoreError> {
    let log = audit::identity(rows.connection, rows.path)?.log_id;
    let statement =
        format!("SELECT {} FROM {} WHERE id = ?1", table.columns.join(", "), table.table);
    let made = rows.first(&statement, [id], |row| hash(row, key, log, table))?;
    let made = made.ok_or_else(|| StoreError::NoSuch { what: table.what, id: id.to_owned() })?;
    rows.change(
        "INSERT INTO seals (kind, item, seal) VALUES (?1, ?2, ?3) \
         ON CONFLICT (kind, item) DO UPDATE SET seal = excluded.seal",
        (table.what, id, made.0),
    )?;
    Ok(())
}

/// Whether a row is as it was sealed.
pub(crate) fn is_sealed(
    rows: Rows<'_>,
    key: &AuditKey,
    table: SealedTable,
    id: &str,
) -> Result<bool, StoreError> {
    let log = audit::identity(rows.connection, rows.path)?.log_id;
    let statement = format!("{} WHERE id = ?2", with_seals(table));
    let found = rows.first(&statement, (table.what, id), |row| intact(row, key, log, table))?;
    Ok(found.unwrap_or(false))
}

/// An error where a row is not as it was sealed.
pub(crate) fn check(
    rows: Rows<'_>,
    key: &AuditKey,
    table: SealedTable,
    id: &str,
) -> Result<(), StoreError> {
    if is_sealed(rows, key, table, id)? {
        return Ok(());
    }
    Err(StoreError::Unsealed { what: table.what, id: short_id::cut_id(id) })
}

/// The ids of all rows that are not as they were sealed.
pub(crate) fn unsealed(
    rows: Rows<'_>,
    key: &AuditKey,
    table: SealedTable,
) -> Result<Vec<String>, StoreError> {
    let log = audit::identity(rows.connection, rows.path)?.log_id;
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement =
            rows.connection.prepare_cached(&format!("{} ORDER BY rowid", with_seals(table)))?;
        let mut found = statement.query([table.what])?;
        let mut broken = Vec::new();
        while let Some(row) = found.next()? {
            if !intact(row, key, log, table)? {
                broken.push(short_id::cut_id(&row.get::<_, String>(0)?));
            }
        }
        Ok(broken)
    };
    read().at(rows.path)
}

/// Deletes the seals of rows that are gone.
pub(crate) fn forget(
    rows: Rows<'_>,
    table: SealedTable,
    gone: &[String],
) -> Result<(), StoreError> {
    for id in gone {
        rows.change("DELETE FROM seals WHERE kind = ?1 AND item = ?2", (table.what, id))?;
    }
    Ok(())
}

fn with_seals(table: SealedTable) -> String {
    format!(
        "SELECT {}, seal FROM {} LEFT JOIN seals ON kind = ?1 AND item = id",
        table.columns.join(", "),
        table.table
    )
}

/// One seal of all rows that a statement gives. Unlike seals of single rows, it shows that one is gone.
pub(crate) fn of_all(
    rows: Rows<'_>,
    key: &AuditKey,
    what: &str,
    statement: &str,
) -> Result<Hash, StoreError> {
    let log = audit::identity(rows.connection, rows.path)?.log_id;
    let read = || -> rusqlite::Result<Hash> {
        let mut statement = rows.connection.prepare_cached(statement)?;
        let columns = statement.column_count();
        let mut found = statement.query([])?;
        let mut bytes = sealed_bytes(log, what);
        while let Some(row) = found.next()? {
            add_columns(&mut bytes, row, columns)?;
        }
        Ok(key.row_seal(&bytes))
    };
    read().at(rows.path)
}

fn intact(row: &Row<'_>, key: &AuditKey, log: LogId, table: SealedTable) -> rusqlite::Result<bool> {
    let stored = match row.get_ref(table.columns.len())? {
        ValueRef::Blob(bytes) => bytes.try_into().ok().map(Hash),
        _ => None,
    };
    Ok(stored == Some(hash(row, key, log, table)?))
}

/// Over the log, the kind of row, and every column with its type and length.
fn hash(row: &Row<'_>, key: &AuditKey, log: LogId, table: SealedTable) -> rusqlite::Result<Hash> {
    let mut bytes = sealed_bytes(log, table.what);
    add_columns(&mut bytes, row, table.columns.len())?;
    Ok(key.row_seal(&bytes))
}

fn sealed_bytes(log: LogId, what: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    add(&mut bytes, 0, &log.0);
    add(&mut bytes, 0, what.as_bytes());
    bytes
}

fn add_columns(bytes: &mut Vec<u8>, row: &Row<'_>, columns: usize) -> rusqlite::Result<()> {
    for column in 0..columns {
        match row.get_ref(column)? {
            ValueRef::Null => add(bytes, 1, &[]),
            ValueRef::Integer(value) => add(bytes, 2, &value.to_le_bytes()),
            ValueRef::Real(value) => add(bytes, 3, &value.to_le_bytes()),
            ValueRef::Text(value) => add(bytes, 4, value),
            ValueRef::Blob(value) => add(bytes, 5, value),
        }
    }
    Ok(())
}

fn add(bytes: &mut Vec<u8>, kind: u8, value: &[u8]) {
    bytes.push(kind);
    bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
    bytes.extend_from_slice(value);
}
