//! The audit log as rows: its identity, its end, and its entries in order.

pub(crate) mod broken_links;
pub(crate) mod chain;
pub(crate) mod checksum;
pub(crate) mod event;
pub(crate) mod expected_heads;
pub(crate) mod heads;
pub(crate) mod key;
pub(crate) mod origins;
pub(crate) mod seal;
pub(crate) mod verification;
pub(crate) mod verify;

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::Value;

use crate::audit::chain::{Hash, Head, Linker, LogId};
use crate::audit::event::{Entry, TEXT_DIGEST};
use crate::error::{InDatabase as _, StoreError};
use crate::schema;

/// Which entries of the log to read.
#[derive(Debug, Clone, Default)]
pub struct LogFilter {
    /// Only entries from this time on, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only entries whose action begins with this.
    pub action_prefix: Option<String>,
    /// Only entries with a lower number.
    pub before: Option<i64>,
    /// The maximum number of entries.
    pub limit: Option<usize>,
    /// In which order.
    pub order: Order,
}

/// The order of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The last one first.
    #[default]
    NewestFirst,
    /// As they were written.
    OldestFirst,
}

/// The end of the log in a transaction, and a recorded head that it does not reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) head: Head,
    pub(crate) lost: Option<Head>,
}

/// Which log this is, and the proof that its key is the right one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) log_id: LogId,
    pub(crate) key_check: Hash,
}

pub(crate) fn identity(connection: &Connection, path: &Path) -> Result<Identity, StoreError> {
    let damaged = || StoreError::Damaged {
        path: path.to_path_buf(),
        detail: "the identity of its audit log is missing".to_owned(),
    };
    Ok(Identity {
        log_id: LogId(meta(connection, "log_id").at(path)?.ok_or_else(damaged)?),
        key_check: Hash(meta(connection, "key_check").at(path)?.ok_or_else(damaged)?),
    })
}

/// A value of a fixed size from the table of such values; `None` also when it is something else.
pub(crate) fn meta<const N: usize>(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<[u8; N]>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE name = ?1")?
        .query_row([name], |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Blob(bytes) => bytes.try_into().ok(),
                _ => None,
            })
        })
        .optional()
        .map(Option::flatten)
}

/// The end of the log; of an empty one the link before the first entry.
pub(crate) fn tail(
    connection: &Connection,
    path: &Path,
    linker: &Linker<'_>,
) -> Result<Head, StoreError> {
    let mut head = head(connection, path)?;
    if head.seq == 0 {
        head.hash = linker.genesis(head.log_id);
    }
    Ok(head)
}

/// The end of the log without the key.
pub(crate) fn head(connection: &Connection, path: &Path) -> Result<Head, StoreError> {
    let log_id = identity(connection, path)?.log_id;
    let last = connection
        .prepare_cached("SELECT seq, hash FROM audit WHERE seq > 0 ORDER BY seq DESC LIMIT 1")
        .and_then(|mut statement| {
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .at(path)?;
    let (seq, hash) = last.unwrap_or((0, [0; 32]));
    if seq == i64::MAX {
        return Err(StoreError::Damaged {
            path: path.to_path_buf(),
            detail: "its audit log has an entry with an impossible number".to_owned(),
        });
    }
    Ok(Head { log_id, seq, hash: Hash(hash) })
}

/// Whether the log with this end contains a head that was recorded earlier.
pub(crate) fn reaches(
    connection: &Connection,
    end: &Head,
    recorded: &Head,
) -> rusqlite::Result<bool> {
    if recorded.log_id != end.log_id || recorded.seq > end.seq {
        return Ok(false);
    }
    if recorded.seq == end.seq {
        return Ok(recorded.hash == end.hash);
    }
    let hash: Option<[u8; 32]> = connection
        .prepare_cached("SELECT hash FROM audit WHERE seq = ?1")?
        .query_row([recorded.seq], |row| row.get(0))
        .optional()?;
    Ok(hash == Some(recorded.hash.0))
}

pub(crate) fn log(
    connection: &Connection,
    path: &Path,
    filter: &LogFilter,
    mut each: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let has_texts = schema::version(connection, path)? >= schema::WITH_SEALS;
    let text = match has_texts {
        true => "(SELECT text FROM audit_texts WHERE audit_texts.seq = audit.seq)",
        false => "NULL",
    };
    let order = match filter.order {
        Order::NewestFirst => "DESC",
        Order::OldestFirst => "ASC",
    };
    let statement = format!(
        "SELECT seq, at, actor, action, subject, outcome, detail, hash, {text} FROM audit \
         WHERE seq < ?1 AND at >= ?2 AND substr(action, 1, length(?3)) = ?3 \
         ORDER BY seq {order} LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&statement).at(path)?;
    let limit = filter.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1);
    let mut rows = statement
        .query((
            filter.before.unwrap_or(i64::MAX),
            filter.since.unwrap_or(i64::MIN),
            filter.action_prefix.as_deref().unwrap_or_default(),
            limit,
        ))
        .at(path)?;
    while let Some(row) = rows.next().at(path)? {
        if each(entry(row).at(path)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// An entry as well as it can be read: the log of an altered database must be readable too.
fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let integer = |column| -> rusqlite::Result<i64> {
        Ok(match row.get_ref(column)? {
            ValueRef::Integer(value) => value,
            _ => 0,
        })
    };
    let text = |column| -> rusqlite::Result<String> {
        Ok(match row.get_ref(column)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            ValueRef::Integer(value) => value.to_string(),
            ValueRef::Real(value) => value.to_string(),
            ValueRef::Null => String::new(),
        })
    };
    let detail = text(6)?;
    let detail = serde_json::from_str(&detail).unwrap_or(Value::String(detail));
    let detail = with_text(detail, serde_json::from_str(&text(8)?).ok());
    let hash = match row.get_ref(7)? {
        ValueRef::Blob(bytes) => <[u8; 32]>::try_from(bytes).ok(),
        _ => None,
    };
    Ok(Entry {
        seq: integer(0)?,
        at: integer(1)?,
        actor: text(2)?,
        action: text(3)?,
        subject: text(4)?,
        outcome: text(5)?,
        detail,
        hash: hash.map_or_else(String::new, |hash| Hash(hash).to_string()),
    })
}

/// The fields of a detail with those of its text, which is deleted with its session.
fn with_text(detail: Value, text: Option<Value>) -> Value {
    match (detail, text) {
        (Value::Object(mut detail), Some(Value::Object(text))) => {
            detail.remove(TEXT_DIGEST);
            detail.extend(text);
            Value::Object(detail)
        }
        (detail, _) => detail,
    }
}
