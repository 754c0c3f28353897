//! Bringing the host's rows over from version 3, which had no seals.
//!
//! A grant, schedule or task is sealed if the audit chain is unbroken and an entry speaks of it.
//! Version 3 did not always name them there, so schedules and tasks are matched with the call that
//! created them by actor and time, and one entry vouches for one row. What no entry vouches for stays
//! unsealed: it is not used, and `audit verify` names it. That a row was altered before the upgrade
//! cannot be seen.

use std::path::Path;

use serde_json::json;

use crate::audit::chain::Head;
use crate::audit::event::{Event, Outcome};
use crate::audit::heads::Heads;
use crate::audit::key::AuditKey;
use crate::audit::origins::{GRANT, GRANT_USED, INDEXED, SCHEDULE_ADD, SCHEDULE_CALL};
use crate::audit::seal::{self, GRANTS, SCHEDULES, SESSIONS, SealedTable, TASKS};
use crate::audit::verify;
use crate::error::{InDatabase as _, StoreError};
use crate::host::session::SessionId;
use crate::rows::{self, Rows};
use crate::schema;
use crate::transaction::Transaction;

/// The action of the entry that records the upgrade.
const UPGRADE: &str = "store.upgrade";
/// Who the entries name that an upgrade writes.
const ACTOR: &str = "foreword";

/// Seals the rows of a database of version 3 and counts its sessions anew; gives the new end of the log
/// where entries were added.
pub(crate) fn rows_of_version_3(
    transaction: &rusqlite::Transaction<'_>,
    path: &Path,
    key: &AuditKey,
    heads: &Heads,
) -> Result<Option<(Head, Option<Head>)>, StoreError> {
    let rows = Rows { connection: transaction, path };
    recount(rows)?;
    // The crate reads no clock: the upgrade counts as made with the last entry.
    let last = rows.first("SELECT max(at) FROM audit", [], |row| row.get::<_, Option<i64>>(0))?;
    let mut write =
        Transaction::new(transaction, path, key, heads, last.flatten().unwrap_or_default());
    // Nothing is sealed twice: a log that was set back to version 3 has the entry of its upgrade.
    let before = rows.count("SELECT count(*) FROM audit WHERE action = ?1", [UPGRADE])?;
    let recorded = heads.read(key, path)?;
    if before > 0 || !verify::chain_holds(transaction, key, &recorded).at(path)? {
        return Ok(None);
    }
    let detail = json!({ "version": schema::VERSION });
    write.audit(&Event::new(ACTOR, UPGRADE, "database", Outcome::Done).with_detail(detail))?;
    grants(&mut write)?;
    for id in vouched(rows, SCHEDULES, "schedules", SCHEDULE_CALL)? {
        seal::seal(rows, key, SCHEDULES, &id)?;
        let next = rows.first("SELECT next_at FROM schedules WHERE id = ?1", [&id], |row| {
            row.get::<_, Option<i64>>(0)
        })?;
        let event = Event::new(ACTOR, SCHEDULE_ADD, &id, Outcome::Done)
            .with_detail(json!({ "next": next.flatten(), "reason": "sealed by an upgrade" }));
        write.audit(&event)?;
    }
    for id in vouched(rows, TASKS, "tasks", "ipc.task_create")? {
        seal::seal(rows, key, TASKS, &id)?;
    }
    let sessions: Vec<(String, u64)> =
        rows.all("SELECT id, external_tokens FROM sessions ORDER BY rowid", [], |row| {
            Ok((row.get(0)?, rows::number(row, 1)?))
        })?;
    for (id, external) in sessions {
        seal::seal(rows, key, SESSIONS, &id)?;
        if external > 0 {
            write.record_external(&SessionId::stored(id), external)?;
        }
    }
    Ok(write.advanced())
}

/// Totals as they are counted now: behind the first external content, only external content and the
/// person's messages.
fn recount(rows: Rows<'_>) -> Result<(), StoreError> {
    rows.change(
        "WITH first (session, id) AS (SELECT session, min(id) FROM contents \
         WHERE external AND tokens > 0 GROUP BY session), \
         counted (session, tokens) AS (SELECT contents.session, sum(tokens) FROM contents \
         JOIN first ON first.session = contents.session \
         WHERE external OR provenance = 'user' OR contents.id < first.id \
         GROUP BY contents.session) \
         UPDATE sessions SET total_tokens = counted.tokens FROM counted \
         WHERE counted.session = sessions.id",
        [],
    )?;
    Ok(())
}

/// Seals grants that an entry gives, and names the unused ones in entries of their own.
fn grants(write: &mut Transaction<'_>) -> Result<(), StoreError> {
    let (rows, key) = (write.rows(), write.key());
    type Candidate = (String, String, String, Option<i64>);
    let indexed = INDEXED.replace("action", "audit.action");
    // One that was used, or of which there are two, is not what was given.
    let statement = format!(
        "SELECT id, session, grants.action, used_at FROM grants JOIN audit ON {indexed} \
         AND subject = session AND audit.action = ?1 AND outcome = 'done' AND actor = granted_by \
         AND audit.at = granted_at AND (json_extract(audit.detail, '$.grant') = id \
         OR json_extract(audit.detail, '$.refusal') = refusal) \
         WHERE (used_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM audit WHERE {indexed} \
         AND subject = session AND audit.action = ?2 AND json_extract(audit.detail, '$.grant') = id)) \
         AND (refusal IS NULL OR 1 = (SELECT count(*) FROM grants twin \
         WHERE twin.session = grants.session AND twin.refusal = grants.refusal)) ORDER BY number"
    );
    let candidates: Vec<Candidate> = rows.all(&statement, [GRANT, GRANT_USED], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    let mut unused = Vec::new();
    for (id, session, action, used_at) in candidates {
        seal::seal(rows, key, GRANTS, &id)?;
        if used_at.is_none() {
            unused.push((id, session, action));
        }
    }
    for (id, session, action) in unused {
        let event = Event::new(ACTOR, GRANT, &session, Outcome::Done).with_detail(
            json!({ "action": action, "grant": id, "reason": "sealed by an upgrade" }),
        );
        write.audit(&event)?;
    }
    Ok(())
}

/// The rows of a table that the entries of a call vouch for, by actor and time.
fn vouched(
    rows: Rows<'_>,
    sealed: SealedTable,
    table: &str,
    call: &str,
) -> Result<Vec<String>, StoreError> {
    let statement = format!(
        "WITH vouchers (actor, at, entries) AS (SELECT actor, at, count(*) FROM audit \
         WHERE action = ?1 AND outcome = 'done' AND json_extract(detail, '$.{}') IS NULL \
         GROUP BY actor, at), \
         claims (by, at, items) AS (SELECT created_by, created_at, count(*) FROM {table} \
         GROUP BY created_by, created_at) \
         SELECT id FROM {table} JOIN vouchers ON actor = created_by AND vouchers.at = created_at \
         JOIN claims ON claims.by = created_by AND claims.at = created_at \
         WHERE items <= entries ORDER BY number",
        sealed.what
    );
    rows.all(&statement, [call], |row| row.get(0))
}
