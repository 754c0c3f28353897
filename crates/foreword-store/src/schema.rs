//! The layout of the database, and how an older one is brought up to date.

use std::path::Path;

use rusqlite::Connection;

use crate::audit;
use crate::audit::chain::{Head, Linker, LogId};
use crate::audit::heads::Heads;
use crate::audit::key::AuditKey;
use crate::error::{InDatabase as _, StoreError};
use crate::host::adopt;

/// ExpectedHeads the file as ours, in the place SQLite has for that: "fore".
const APPLICATION_ID: i64 = 0x666f_7265;
/// The layout this version writes.
pub(crate) const VERSION: i64 = 5;
/// The first layout with memories.
pub(crate) const WITH_MEMORIES: i64 = 2;
/// The first layout with sessions and all that the host keeps.
pub(crate) const WITH_SESSIONS: i64 = 3;
/// The first layout with seals and held changes.
pub(crate) const WITH_SEALS: i64 = 4;
/// The first layout in which histories are compacted.
pub(crate) const WITH_COMPACTIONS: i64 = 5;

/// A part of the database: kind, name, and the statement that makes it.
type Object = (&'static str, &'static str, &'static str);

/// What the first version consisted of.
///
/// The statements are written the way SQLite keeps them, so that what a file holds can be compared.
/// A table, view or trigger that is not here would run in our name.
const VERSION_1: &[Object] = &[
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

/// What version 2 added: memories, their vectors, and what they are found by.
const VERSION_2: &[Object] = &[
    (
        "table",
        "memories",
        "CREATE TABLE memories (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, \
         text TEXT NOT NULL, kind TEXT NOT NULL, agent TEXT, user TEXT, session TEXT, \
         created_at INTEGER NOT NULL, date TEXT, tainted INTEGER NOT NULL, source TEXT, \
         importance REAL, same INTEGER NOT NULL) STRICT",
    ),
    ("index", "memories_by_time", "CREATE INDEX memories_by_time ON memories (created_at)"),
    ("index", "memories_by_same", "CREATE INDEX memories_by_same ON memories (same)"),
    (
        "table",
        "memory_names",
        "CREATE TABLE memory_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    ),
    (
        "table",
        "memory_vectors",
        "CREATE TABLE memory_vectors (key INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, \
         vector BLOB NOT NULL) STRICT",
    ),
    (
        "table",
        "memory_blocks",
        "CREATE TABLE memory_blocks (block INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, \
         slots BLOB NOT NULL) STRICT",
    ),
    (
        "index",
        "memory_blocks_by_stamp",
        "CREATE INDEX memory_blocks_by_stamp ON memory_blocks (stamp)",
    ),
    (
        "table",
        "memory_sketches",
        "CREATE TABLE memory_sketches (embedder INTEGER NOT NULL, block INTEGER NOT NULL, \
         stamp INTEGER NOT NULL, codes BLOB NOT NULL, PRIMARY KEY (embedder, block)) STRICT",
    ),
    (
        "index",
        "memory_sketches_by_stamp",
        "CREATE INDEX memory_sketches_by_stamp ON memory_sketches (embedder, stamp)",
    ),
    (
        "table",
        "memory_terms",
        "CREATE TABLE memory_terms (term TEXT PRIMARY KEY, docs INTEGER NOT NULL) \
         STRICT, WITHOUT ROWID",
    ),
    // The terms come divided and folded, also those of scripts without spaces: the tokenizer only
    // has to divide at the space, and marks belong to their letters.
    (
        "table",
        "memory_words",
        "CREATE VIRTUAL TABLE memory_words USING fts5(terms, content='', contentless_delete=1, \
         detail='none', tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co M* S*'\")",
    ),
];

/// The tables FTS5 makes for itself, as this version of SQLite writes them.
const MADE_BY_FTS5: &[Object] = &[
    (
        "table",
        "memory_words_data",
        "CREATE TABLE 'memory_words_data'(id INTEGER PRIMARY KEY, block BLOB)",
    ),
    (
        "table",
        "memory_words_idx",
        "CREATE TABLE 'memory_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
    ),
    (
        "table",
        "memory_words_docsize",
        "CREATE TABLE 'memory_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER)",
    ),
    (
        "table",
        "memory_words_config",
        "CREATE TABLE 'memory_words_config'(k PRIMARY KEY, v) WITHOUT ROWID",
    ),
];

/// What version 3 added: sessions, their turns and contents, what a person allowed, and what agents
/// plan.
const VERSION_3: &[Object] = &[
    (
        "table",
        "sessions",
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, agent TEXT, user TEXT, runner TEXT NOT NULL, \
         channel TEXT NOT NULL, parent TEXT REFERENCES sessions (id), depth INTEGER NOT NULL, \
         canaries TEXT NOT NULL, created_at INTEGER NOT NULL, last_at INTEGER NOT NULL, \
         turns INTEGER NOT NULL, external_tokens INTEGER NOT NULL, total_tokens INTEGER NOT NULL, \
         external_since_person INTEGER NOT NULL) STRICT",
    ),
    ("index", "sessions_by_time", "CREATE INDEX sessions_by_time ON sessions (last_at)"),
    (
        "table",
        "turns",
        // The long texts come last, so that reading the other columns skips them.
        "CREATE TABLE turns (session TEXT NOT NULL REFERENCES sessions (id), turn INTEGER NOT NULL, \
         state TEXT NOT NULL, owner TEXT NOT NULL, reason TEXT, input INTEGER NOT NULL, \
         output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, \
         calls INTEGER NOT NULL, began_at INTEGER NOT NULL, ended_at INTEGER, \
         message TEXT NOT NULL, answer TEXT, messages TEXT, PRIMARY KEY (session, turn)) STRICT",
    ),
    (
        "index",
        "turns_running",
        "CREATE INDEX turns_running ON turns (session, turn) WHERE state = 'running'",
    ),
    (
        "table",
        "contents",
        "CREATE TABLE contents (id INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions (id), \
         turn INTEGER, provenance TEXT NOT NULL, source TEXT NOT NULL, tokens INTEGER NOT NULL, \
         external INTEGER NOT NULL, at INTEGER NOT NULL) STRICT",
    ),
    ("index", "contents_by_session", "CREATE INDEX contents_by_session ON contents (session, id)"),
    (
        "table",
        "grants",
        "CREATE TABLE grants (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, \
         session TEXT NOT NULL REFERENCES sessions (id), action TEXT NOT NULL, refusal TEXT, \
         digest BLOB, granted_by TEXT NOT NULL, granted_at INTEGER NOT NULL, used_at INTEGER) STRICT",
    ),
    ("index", "grants_by_session", "CREATE INDEX grants_by_session ON grants (session, number)"),
    (
        "index",
        "grants_unused",
        "CREATE INDEX grants_unused ON grants (session, action, number) WHERE used_at IS NULL",
    ),
    (
        "table",
        "refusals",
        "CREATE TABLE refusals (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, \
         session TEXT NOT NULL REFERENCES sessions (id), action TEXT NOT NULL, \
         digest BLOB NOT NULL, summary TEXT NOT NULL, reason TEXT NOT NULL, state TEXT NOT NULL, times INTEGER NOT NULL, \
         refused_at INTEGER NOT NULL, decided_at INTEGER, decided_by TEXT) STRICT",
    ),
    (
        "index",
        "refusals_by_session",
        "CREATE INDEX refusals_by_session ON refusals (session, state, number)",
    ),
    ("index", "refusals_by_state", "CREATE INDEX refusals_by_state ON refusals (state, number)"),
    (
        "table",
        "tasks",
        "CREATE TABLE tasks (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, \
         title TEXT NOT NULL, detail TEXT, assignee TEXT, state TEXT NOT NULL, \
         tainted INTEGER NOT NULL, \
         created_by TEXT NOT NULL, session TEXT REFERENCES sessions (id), \
         created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL) STRICT",
    ),
    ("index", "tasks_by_state", "CREATE INDEX tasks_by_state ON tasks (state, changed_at)"),
    (
        "table",
        "todos",
        "CREATE TABLE todos (session TEXT NOT NULL REFERENCES sessions (id), place INTEGER NOT NULL, \
         text TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (session, place)) \
         STRICT, WITHOUT ROWID",
    ),
    (
        "table",
        "schedules",
        "CREATE TABLE schedules (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, cron TEXT, \
         at INTEGER, prompt TEXT NOT NULL, tainted INTEGER NOT NULL, agent TEXT, session TEXT REFERENCES sessions (id), \
         created_by TEXT NOT NULL, created_at INTEGER NOT NULL, next_at INTEGER, last_at INTEGER, \
         runs INTEGER NOT NULL) STRICT",
    ),
    (
        "index",
        "schedules_by_time",
        "CREATE INDEX schedules_by_time ON schedules (next_at, number) WHERE next_at IS NOT NULL",
    ),
    (
        "table",
        "identity_proposals",
        "CREATE TABLE identity_proposals (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, \
         file TEXT NOT NULL, base BLOB, reason TEXT, proposed_by TEXT NOT NULL, \
         session TEXT REFERENCES sessions (id), state TEXT NOT NULL, created_at INTEGER NOT NULL, \
         decided_at INTEGER, decided_by TEXT, decision_reason TEXT, content TEXT) STRICT",
    ),
    (
        "index",
        "identity_proposals_by_state",
        "CREATE INDEX identity_proposals_by_state ON identity_proposals (state, number)",
    ),
];

/// What version 4 added: seals of rows that the host acts on, texts of audit entries that can be
/// deleted, what is tainted beside sessions, changes that wait for a person, the arguments of refused
/// actions, what agents spent, and what skills can do.
const VERSION_4: &[Object] = &[
    (
        "table",
        "seals",
        "CREATE TABLE seals (kind TEXT NOT NULL, item TEXT NOT NULL, seal BLOB NOT NULL, \
         PRIMARY KEY (kind, item)) STRICT, WITHOUT ROWID",
    ),
    (
        "index",
        "audit_origins",
        // The condition is repeated word for word where the index is used.
        "CREATE INDEX audit_origins ON audit (subject, seq) WHERE action IN ('taint.grant', \
         'taint.grant_used', 'schedule.add', 'schedule.run', 'schedule.remove', 'session.taint', \
         'taint.clear', 'taint.list')",
    ),
    (
        "table",
        "audit_texts",
        "CREATE TABLE audit_texts (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, \
         text TEXT NOT NULL) STRICT",
    ),
    (
        "index",
        "audit_texts_by_session",
        "CREATE INDEX audit_texts_by_session ON audit_texts (session)",
    ),
    (
        "table",
        "tainted_files",
        "CREATE TABLE tainted_files (path TEXT PRIMARY KEY, digest BLOB, size INTEGER NOT NULL, \
         changed_at INTEGER NOT NULL, session TEXT NOT NULL, turn INTEGER, at INTEGER NOT NULL) \
         STRICT, WITHOUT ROWID",
    ),
    (
        "index",
        "tainted_files_by_digest",
        "CREATE INDEX tainted_files_by_digest ON tainted_files (digest)",
    ),
    (
        "table",
        "held_changes",
        "CREATE TABLE held_changes (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, \
         path TEXT NOT NULL, read_by TEXT NOT NULL, tainted INTEGER NOT NULL, session TEXT NOT NULL, \
         turn INTEGER NOT NULL, made_by TEXT NOT NULL, state TEXT NOT NULL, held_at INTEGER NOT NULL, \
         decided_at INTEGER, decided_by TEXT, decision_reason TEXT, old_kind TEXT NOT NULL, \
         old_mode INTEGER NOT NULL, new_kind TEXT NOT NULL, new_mode INTEGER NOT NULL, old BLOB, \
         new BLOB) STRICT",
    ),
    (
        "index",
        "held_changes_by_state",
        "CREATE INDEX held_changes_by_state ON held_changes (state, number)",
    ),
    (
        "table",
        "refusal_args",
        "CREATE TABLE refusal_args (refusal TEXT PRIMARY KEY, args TEXT NOT NULL) STRICT",
    ),
    (
        "table",
        "spending",
        // Without a reference to sessions: what a deleted one spent still counts.
        "CREATE TABLE spending (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, owner TEXT NOT NULL, \
         session TEXT NOT NULL, root TEXT NOT NULL, turn INTEGER, model TEXT NOT NULL, \
         tokens INTEGER NOT NULL, cost INTEGER, millis INTEGER NOT NULL) STRICT",
    ),
    ("index", "spending_by_time", "CREATE INDEX spending_by_time ON spending (at)"),
    ("index", "spending_by_session", "CREATE INDEX spending_by_session ON spending (session)"),
    ("index", "spending_by_root", "CREATE INDEX spending_by_root ON spending (root)"),
    (
        "table",
        "capabilities",
        // What a skill can do since a commit; the seal of each tracked file covers it.
        "CREATE TABLE capabilities (commit_id TEXT PRIMARY KEY, can_do TEXT NOT NULL) STRICT",
    ),
];

/// What the fifth version added: what stands in for the oldest turns of a session.
const VERSION_5: &[Object] = &[
    (
        "table",
        "compactions",
        "CREATE TABLE compactions (id INTEGER PRIMARY KEY, \
         session TEXT NOT NULL REFERENCES sessions (id), shortened INTEGER NOT NULL, \
         summarised INTEGER NOT NULL, summary TEXT NOT NULL, tainted INTEGER NOT NULL, model TEXT, \
         tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL, at INTEGER NOT NULL) STRICT",
    ),
    (
        "index",
        "compactions_by_session",
        "CREATE INDEX compactions_by_session ON compactions (session)",
    ),
];

/// What a database of a version consists of.
fn objects(version: i64) -> impl Iterator<Item = &'static Object> {
    let memories: [&[Object]; 2] =
        if version >= WITH_MEMORIES { [VERSION_2, MADE_BY_FTS5] } else { [&[], &[]] };
    let sessions: &[Object] = if version >= WITH_SESSIONS { VERSION_3 } else { &[] };
    let seals: &[Object] = if version >= WITH_SEALS { VERSION_4 } else { &[] };
    let compactions: &[Object] = if version >= WITH_COMPACTIONS { VERSION_5 } else { &[] };
    let first = VERSION_1.iter().chain(memories.into_iter().flatten());
    first.chain(sessions).chain(seals).chain(compactions)
}

/// Something in the database that is not as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Oddity(pub(crate) String);

/// Brings the layout up to date, in one transaction; a new database gets the identity of its log.
pub(crate) fn migrate(
    connection: &mut Connection,
    key: &AuditKey,
    heads: &Heads,
    path: &Path,
) -> Result<(), StoreError> {
    match upgrade(connection, key, heads, path)? {
        Some((head, lost)) => heads.advance(key, path, head, lost),
        None => Ok(()),
    }
}

/// Does what [`migrate`] does, and leaves it to the caller to write down the new end of the log: a copy that is
/// about to be restored has no head file of its own.
pub(crate) fn upgrade(
    connection: &mut Connection,
    key: &AuditKey,
    heads: &Heads,
    path: &Path,
) -> Result<Option<(Head, Option<Head>)>, StoreError> {
    if version(connection, path)? == VERSION {
        return Ok(None);
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).at(path)?;
    // Another process may have been faster.
    let found = version(&transaction, path)?;
    if found == VERSION {
        return Ok(None);
    }
    if found > 0 {
        // What was altered is not built upon, and is still what `audit verify` will speak of.
        if let Some(oddity) = oddities(&transaction).at(path)?.into_iter().next() {
            return Err(StoreError::Damaged { path: path.to_path_buf(), detail: oddity.0 });
        }
        let identity = audit::identity(&transaction, path)?;
        if Linker::new(key).key_check(identity.log_id) != identity.key_check {
            return Err(StoreError::WrongKey { path: path.to_path_buf() });
        }
    }
    let steps: [&[Object]; 5] = [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5];
    let missing = steps.into_iter().skip(usize::try_from(found).unwrap_or_default());
    for (_, _, statement) in missing.flatten() {
        transaction.execute_batch(statement).at(path)?;
    }
    if found > 0 {
        let advanced = match found {
            WITH_SESSIONS => adopt::rows_of_version_3(&transaction, path, key, heads)?,
            _ => None,
        };
        transaction.pragma_update(None, "user_version", VERSION).at(path)?;
        transaction.commit().at(path)?;
        return Ok(advanced);
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
    transaction.commit().at(path)?;
    Ok(None)
}

/// The version of the layout; 0 for an empty database. Looks only, so that a database of another
/// program stays as it is.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    match look(connection, path)? {
        Some(version) => Ok(version),
        // It may have been made between two looks by another process: once more, all at one time.
        None if connection.is_autocommit() => {
            let snapshot = connection.unchecked_transaction().at(path)?;
            look(&snapshot, path)?.ok_or_else(|| not_ours(path))
        }
        None => Err(not_ours(path)),
    }
}

/// The version, if the marks fit together.
fn look(connection: &Connection, path: &Path) -> Result<Option<i64>, StoreError> {
    let application: i64 = pragma(connection, "application_id").at(path)?;
    let version: i64 = pragma(connection, "user_version").at(path)?;
    match (application, version) {
        (0, 0) if is_empty(connection).at(path)? => Ok(Some(0)),
        (APPLICATION_ID, 1..=VERSION) => Ok(Some(version)),
        (APPLICATION_ID, found) if found > VERSION => {
            Err(StoreError::Newer { path: path.to_path_buf(), found, known: VERSION })
        }
        _ => Ok(None),
    }
}

fn not_ours(path: &Path) -> StoreError {
    StoreError::Damaged {
        path: path.to_path_buf(),
        detail: "it belongs to another program".to_owned(),
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
    let version = pragma(connection, "user_version")?;
    let mut statement =
        connection.prepare_cached("SELECT type, name, ifnull(sql, '') FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut missing: Vec<_> = objects(version).collect();
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
        match known.map(|place| missing.remove(place)) {
            Some((.., wanted)) if *wanted == sql => {}
            Some(_) => oddities.push(Oddity(format!("the {kind} `{name}` was changed"))),
            None => oddities.push(Oddity(format!("the {kind} `{name}` is unexpected"))),
        }
    }
    for (kind, name, _) in missing {
        oddities.push(Oddity(format!("the {kind} `{name}` is missing")));
    }
    Ok(oddities)
}
