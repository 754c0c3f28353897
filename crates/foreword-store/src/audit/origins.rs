//! What the chain says about rows that are acted on: that they were given, and what became of them.
//!
//! A sealed row is genuine but may be an older one that was put back: a grant that was used already, a
//! schedule that was removed or has run, the counters of a session before it was tainted, a list of
//! tainted files without some of them. Every change of these is an entry, so the chain tells.
//! [`grant_state`], [`next_run`], [`external_tokens`] and [`files_seal`] ask it before a row is used;
//! [`Origins`] follows the whole log when it is verified.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::audit::event::{TEXT_DIGEST, text_digest};
use crate::audit::key::AuditKey;
use crate::audit::seal::{self, GRANTS, SCHEDULES, SEALED_TABLES, SESSIONS};
use crate::audit::verification::{Fault, Verification};
use crate::error::StoreError;
use crate::host::tainted_files;
use crate::rows::Rows;

pub(crate) const GRANT: &str = "taint.grant";
pub(crate) const GRANT_USED: &str = "taint.grant_used";
pub(crate) const SCHEDULE_ADD: &str = "schedule.add";
pub(crate) const SCHEDULE_RUN: &str = "schedule.run";
pub(crate) const SCHEDULE_REMOVE: &str = "schedule.remove";
/// What an agent's call is called that adds a schedule. Versions before seals wrote no other entry.
pub(crate) const SCHEDULE_CALL: &str = "ipc.schedule_add";

/// External content entered a session.
pub(crate) const SESSION_TAINT: &str = "session.taint";
/// A person cleared something; `kind` says what.
pub(crate) const TAINT_CLEAR: &str = "taint.clear";
/// The list of tainted files changed.
pub(crate) const TAINT_LIST: &str = "taint.list";

/// The condition of the index `audit_origins`, word for word: statements that repeat it use the index.
pub(crate) const INDEXED: &str = "action IN ('taint.grant', 'taint.grant_used', 'schedule.add', \
                                  'schedule.run', 'schedule.remove', 'session.taint', \
                                  'taint.clear', 'taint.list')";

/// What became of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantState {
    /// No entry gives it.
    Unknown,
    Unused,
    Used,
}

/// What the chain says about a grant of a session.
pub(crate) fn grant_state(
    rows: Rows<'_>,
    session: &str,
    id: &str,
) -> Result<GrantState, StoreError> {
    let mut state = GrantState::Unknown;
    for (action, detail) in about(rows, session)? {
        if detail.get("grant").and_then(Value::as_str) == Some(id) {
            state = match action.as_str() {
                GRANT if state == GrantState::Unknown => GrantState::Unused,
                GRANT_USED => GrantState::Used,
                _ => state,
            };
        }
    }
    Ok(state)
}

/// When a schedule runs next according to the chain; the outer `None` where it was never added, or was
/// removed.
pub(crate) fn next_run(rows: Rows<'_>, id: &str) -> Result<Option<Option<i64>>, StoreError> {
    let mut next = None;
    for (action, detail) in about(rows, id)? {
        match action.as_str() {
            SCHEDULE_ADD | SCHEDULE_RUN => next = Some(detail.get("next").and_then(Value::as_i64)),
            SCHEDULE_REMOVE => next = None,
            _ => {}
        }
    }
    Ok(next)
}

/// How many external tokens a session has according to the chain.
pub(crate) fn external_tokens(rows: Rows<'_>, session: &str) -> Result<u64, StoreError> {
    let statement = format!(
        "SELECT iif(action = ?2, json_extract(detail, '$.externalTokens'), 0) FROM audit \
         WHERE {INDEXED} AND subject = ?1 AND (action = ?2 OR action = ?3 \
         AND json_extract(detail, '$.kind') = 'session') ORDER BY seq DESC LIMIT 1"
    );
    let found = rows.first(&statement, (session, SESSION_TAINT, TAINT_CLEAR), |row| {
        row.get::<_, Option<i64>>(0)
    })?;
    Ok(found.flatten().and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default())
}

/// The seal of the list of tainted files according to the chain; `None` while there is no list.
pub(crate) fn files_seal(rows: Rows<'_>) -> Result<Option<String>, StoreError> {
    let statement = format!(
        "SELECT json_extract(detail, '$.seal') FROM audit WHERE {INDEXED} AND subject = ?1 \
         AND action = ?2 ORDER BY seq DESC LIMIT 1"
    );
    let found = rows.first(&statement, (tainted_files::LIST, TAINT_LIST), |row| {
        row.get::<_, Option<String>>(0)
    })?;
    Ok(found.flatten())
}

fn about(rows: Rows<'_>, subject: &str) -> Result<Vec<(String, Value)>, StoreError> {
    let statement =
        format!("SELECT action, detail FROM audit WHERE {INDEXED} AND subject = ?1 ORDER BY seq");
    rows.all(&statement, [subject], |row| {
        let detail: String = row.get(1)?;
        Ok((row.get(0)?, serde_json::from_str(&detail).unwrap_or_default()))
    })
}

/// Grants, schedules and taint as the entries of the log tell of them.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// Grants that were not used yet, and those that were.
    unused: BTreeSet<String>,
    used: BTreeSet<String>,
    /// Grants of versions that did not name them, by session and action.
    unnamed_grants: BTreeMap<(String, String), u64>,
    /// Schedules with their next run.
    schedules: BTreeMap<String, Option<i64>>,
    /// Schedules of versions that did not name them.
    unnamed_schedules: u64,
    /// External tokens of sessions.
    external: BTreeMap<String, u64>,
    faults: Vec<Fault>,
}

impl Origins {
    /// Follows an entry that was made with the key.
    pub(crate) fn read_entry(&mut self, seq: i64, action: &[u8], subject: &[u8], detail: &[u8]) {
        let Ok(action) = std::str::from_utf8(action) else { return };
        if !matches!(
            action,
            GRANT
                | GRANT_USED
                | SCHEDULE_ADD
                | SCHEDULE_RUN
                | SCHEDULE_REMOVE
                | SCHEDULE_CALL
                | SESSION_TAINT
                | TAINT_CLEAR
        ) {
            return;
        }
        let subject = String::from_utf8_lossy(subject).into_owned();
        let detail: Value = serde_json::from_slice(detail).unwrap_or_default();
        let text = |name: &str| detail.get(name).and_then(Value::as_str).map(str::to_owned);
        let next = || detail.get("next").and_then(Value::as_i64);
        match action {
            GRANT => match text("grant") {
                Some(id) => drop(self.unused.insert(id)),
                None => {
                    let unnamed = (subject, text("action").unwrap_or_default());
                    *self.unnamed_grants.entry(unnamed).or_default() += 1;
                }
            },
            GRANT_USED => {
                let id = text("grant").unwrap_or_default();
                let unnamed = (subject, text("action").unwrap_or_default());
                let given = self.unused.remove(&id)
                    || (!self.used.contains(&id)
                        && self.unnamed_grants.get_mut(&unnamed).is_some_and(take));
                if !given {
                    self.faults.push(Fault::NoOrigin { seq, what: GRANTS.what, id: id.clone() });
                }
                self.used.insert(id);
            }
            SCHEDULE_ADD => drop(self.schedules.insert(subject, next())),
            SCHEDULE_RUN => {
                let known =
                    self.schedules.contains_key(&subject) || take(&mut self.unnamed_schedules);
                if !known {
                    let id = subject.clone();
                    self.faults.push(Fault::NoOrigin { seq, what: SCHEDULES.what, id });
                }
                self.schedules.insert(subject, next());
            }
            SCHEDULE_REMOVE => drop(self.schedules.remove(&subject)),
            SESSION_TAINT => {
                let tokens = detail.get("externalTokens").and_then(Value::as_u64);
                self.external.insert(subject, tokens.unwrap_or_default());
            }
            TAINT_CLEAR if text("kind").as_deref() == Some(SESSIONS.what) => {
                self.external.remove(&subject);
            }
            TAINT_CLEAR => {}
            _ if detail.get("schedule").is_none() => self.unnamed_schedules += 1,
            _ => {}
        }
    }

    /// Compares the rows with their seals and with what the log says of them.
    pub(crate) fn finish(
        self,
        rows: Rows<'_>,
        key: &AuditKey,
        report: &mut Verification,
    ) -> Result<(), StoreError> {
        let chain_holds = report.is_clean();
        let mut broken = BTreeSet::new();
        for table in SEALED_TABLES {
            for id in seal::unsealed(rows, key, table)? {
                broken.insert((table.what, id.clone()));
                report.fault(Fault::Unsealed { what: table.what, id });
            }
        }
        for seq in altered_texts(rows, key)? {
            report.fault(Fault::Altered { from: seq, to: seq });
        }
        if !tainted_files::are_genuine(rows, key)? {
            let id = tainted_files::LIST.to_owned();
            report.fault(Fault::Unsealed { what: tainted_files::WHAT, id });
        }
        // With entries missing or altered, these would only repeat that.
        if !chain_holds {
            return Ok(());
        }
        for fault in self.faults {
            report.fault(fault);
        }
        let unused: Vec<String> =
            rows.all("SELECT id FROM grants WHERE used_at IS NULL ORDER BY number", [], |row| {
                row.get(0)
            })?;
        for id in unused {
            if !self.unused.contains(&id) && !broken.contains(&(GRANTS.what, id.clone())) {
                report.fault(Fault::SetBack { what: GRANTS.what, id });
            }
        }
        let schedules: Vec<(String, Option<i64>)> = rows.all(
            "SELECT id, next_at FROM schedules WHERE next_at IS NOT NULL ORDER BY number",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        for (id, next) in schedules {
            if self.schedules.get(&id) != Some(&next)
                && !broken.contains(&(SCHEDULES.what, id.clone()))
            {
                report.fault(Fault::SetBack { what: SCHEDULES.what, id });
            }
        }
        let sessions: Vec<(String, u64)> =
            rows.all("SELECT id, external_tokens FROM sessions ORDER BY rowid", [], |row| {
                Ok((row.get(0)?, crate::rows::number(row, 1)?))
            })?;
        for (id, external) in sessions {
            if self.external.get(&id).copied().unwrap_or_default() != external
                && !broken.contains(&(SESSIONS.what, id.clone()))
            {
                report.fault(Fault::SetBack { what: SESSIONS.what, id });
            }
        }
        Ok(())
    }
}

/// Entries whose text is not what was written. A text that is gone was deleted with its session.
fn altered_texts(rows: Rows<'_>, key: &AuditKey) -> Result<Vec<i64>, StoreError> {
    let statement = "SELECT audit_texts.seq, text, detail FROM audit_texts \
                     LEFT JOIN audit ON audit.seq = audit_texts.seq ORDER BY 1";
    let all = rows.all(statement, [], |row| {
        let (seq, text): (i64, String) = (row.get(0)?, row.get(1)?);
        let detail: Option<String> = row.get(2)?;
        let detail: Option<Value> = detail.and_then(|detail| serde_json::from_str(&detail).ok());
        let known = detail.as_ref().and_then(|detail| detail.get(TEXT_DIGEST)?.as_str());
        let is_own = known == Some(text_digest(key, seq, &text).to_string().as_str());
        Ok((!is_own).then_some(seq))
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// Takes one of a number, if there is one.
fn take(left: &mut u64) -> bool {
    let taken = *left > 0;
    *left = left.saturating_sub(1);
    taken
}
