//! The layout of the database, and how an older one is brought up to date.

use std::path::Path;

use rusqlite::Connection;

use crate::chain::{Linker, LogId};
use crate::error::{InDatabase as _, StoreError};
use crate::key::AuditKey;

/// Marks the file as ours, in the place SQLite has for that: "fore".
const APPLICATION_ID: i64 = 0x666f_7265;
/// The layout this version writes.
pub(crate) const VERSION: i64 = 1;

/// Everything the database consists of: kind, name, and the statement that makes it.
///
/// The statements are written the way SQLite keeps them, so that what a file holds can be compared.
/// A table, view or trigger that is not here would run in our name.
const OBJECTS: &[(&str, &str, &str)] = &[
    (
        "table",
        "meta",
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (
        "table",
        "audit",
        "CREATE TABLE audit (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, \
         action TEXT NOT NULL, subject TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, \
         hash BLOB NOT NULL) STRICT",
    ),
    (
        "trigger",
        "audit_keeps",
        "CREATE TRIGGER audit_keeps BEFORE DELETE ON audit \
         BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
    ),
    (
        "trigger",
        "audit_stands",
        "CREATE TRIGGER audit_stands BEFORE UPDATE ON audit \
         BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
    ),
    (
        "table",
        "proposals",
        "CREATE TABLE proposals (id TEXT PRIMARY KEY, kind TEXT NOT NULL, skill TEXT NOT NULL, \
         path TEXT NOT NULL, reverts TEXT, reason TEXT, proposed_by TEXT NOT NULL, \
         verdict TEXT NOT NULL, findings TEXT NOT NULL, policy TEXT NOT NULL, state TEXT NOT NULL, \
         created_at INTEGER NOT NULL, decided_at INTEGER, decided_by TEXT, decision_reason TEXT, \
         commit_id TEXT) STRICT",
    ),
    (
        "index",
        "proposals_by_state",
        "CREATE INDEX proposals_by_state ON proposals (state, created_at)",
    ),
    (
        "table",
        "proposal_files",
        "CREATE TABLE proposal_files (proposal TEXT NOT NULL REFERENCES proposals (id), \
         path TEXT NOT NULL, content BLOB, executable INTEGER NOT NULL, base BLOB, \
         PRIMARY KEY (proposal, path)) STRICT",
    ),
    (
        "table",
        "tracked",
        "CREATE TABLE tracked (path TEXT PRIMARY KEY, digest BLOB NOT NULL, blob TEXT NOT NULL, \
         commit_id TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at INTEGER NOT NULL, \
         proposal TEXT, approved INTEGER NOT NULL, seal BLOB NOT NULL) STRICT",
    ),
];

/// Something in the database that is not as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Oddity(pub(crate) String);

/// Brings the layout up to date, in one transaction; a new database gets the identity of its log.
pub(crate) fn migrate(
    connection: &mut Connection,
    key: &AuditKey,
    path: &Path,
) -> Result<(), StoreError> {
    if version(connection, path)? == VERSION {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).at(path)?;
    // Another process may have been faster.
    match version(&transaction, path)? {
        VERSION => return Ok(()),
        0 => {}
        found => {
            return Err(StoreError::Newer { path: path.to_path_buf(), found, known: VERSION });
        }
    }
    for (_, _, statement) in OBJECTS {
        transaction.execute_batch(statement).at(path)?;
    }
    let log_id = LogId::random()?;
    let check = Linker::new(key).key_check(log_id);
    transaction
        .execute(
            "INSERT INTO meta (name, value) VALUES ('log_id', ?1), ('key_check', ?2)",
            (log_id.0, check.0),
        )
        .at(path)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).at(path)?;
    transaction.pragma_update(None, "user_version", VERSION).at(path)?;
    transaction.commit().at(path)
}

/// The version of the layout; 0 for an empty database. Looks only, so that a database of another
/// program stays as it is.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let application: i64 = pragma(connection, "application_id").at(path)?;
    let version: i64 = pragma(connection, "user_version").at(path)?;
    match (application, version) {
        (0, 0) if is_empty(connection).at(path)? => Ok(0),
        (APPLICATION_ID, 1..=VERSION) => Ok(version),
        (APPLICATION_ID, found) if found > VERSION => {
            Err(StoreError::Newer { path: path.to_path_buf(), found, known: VERSION })
        }
        _ => Err(not_ours(path)),
    }
}

fn not_ours(path: &Path) -> StoreError {
    StoreError::Damaged {
        path: path.to_path_buf(),
        detail: "it is the database of another program".to_owned(),
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// What in the layout is not as it was made.
pub(crate) fn oddities(connection: &Connection) -> rusqlite::Result<Vec<Oddity>> {
    let mut statement =
        connection.prepare_cached("SELECT type, name, ifnull(sql, '') FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut missing: Vec<_> = OBJECTS.iter().collect();
    let mut oddities = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| -> rusqlite::Result<String> {
            Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes().unwrap_or_default()).into())
        };
        let (kind, name, sql) = (text(0)?, text(1)?, text(2)?);
        if name.starts_with("sqlite_autoindex_") && kind == "index" && sql.is_empty() {
            continue;
        }
        let known =
            missing.iter().position(|(known_kind, known, _)| *known == name && *known_kind == kind);
        match known.map(|place| missing.swap_remove(place)) {
            Some((.., wanted)) if *wanted == sql => {}
            Some(_) => oddities.push(Oddity(format!("the {kind} `{name}` was changed"))),
            None => oddities.push(Oddity(format!("the {kind} `{name}` does not belong there"))),
        }
    }
    for (kind, name, _) in missing {
        oddities.push(Oddity(format!("the {kind} `{name}` is missing")));
    }
    Ok(oddities)
}
