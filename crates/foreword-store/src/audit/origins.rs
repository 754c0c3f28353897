//! What the chain says about grants and schedules: that they were given, and what became of them.
//!
//! A sealed row is genuine but may be an older one that was put back: a grant that was used already, a
//! schedule that was removed or has run. Every grant, use, schedule, run and removal is an entry, so the
//! chain tells. [`grant_state`] and [`next_run`] ask it before a row is used; [`Origins`] follows the
//! whole log when it is verified.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::audit::key::AuditKey;
use crate::audit::seal::{self, GRANTS, SCHEDULES, SEALED_TABLES};
use crate::audit::verification::{Fault, Verification};
use crate::error::StoreError;
use crate::rows::Rows;

pub(crate) const GRANT: &str = "taint.grant";
pub(crate) const GRANT_USED: &str = "taint.grant_used";
pub(crate) const SCHEDULE_ADD: &str = "schedule.add";
pub(crate) const SCHEDULE_RUN: &str = "schedule.run";
pub(crate) const SCHEDULE_REMOVE: &str = "schedule.remove";
/// What an agent's call is called that adds a schedule. Versions before seals wrote no other entry.
pub(crate) const SCHEDULE_CALL: &str = "ipc.schedule_add";

/// The condition of the index `audit_origins`, word for word: statements that repeat it use the index.
pub(crate) const INDEXED: &str = "action IN ('taint.grant', 'taint.grant_used', 'schedule.add', \
                                  'schedule.run', 'schedule.remove')";

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

fn about(rows: Rows<'_>, subject: &str) -> Result<Vec<(String, Value)>, StoreError> {
    let statement =
        format!("SELECT action, detail FROM audit WHERE {INDEXED} AND subject = ?1 ORDER BY seq");
    rows.all(&statement, [subject], |row| {
        let detail: String = row.get(1)?;
        Ok((row.get(0)?, serde_json::from_str(&detail).unwrap_or_default()))
    })
}

/// Grants and schedules as the entries of the log tell of them.
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
    faults: Vec<Fault>,
}

impl Origins {
    /// Follows an entry that was made with the key.
    pub(crate) fn read_entry(&mut self, seq: i64, action: &[u8], subject: &[u8], detail: &[u8]) {
        let Ok(action) = std::str::from_utf8(action) else { return };
        if !matches!(
            action,
            GRANT | GRANT_USED | SCHEDULE_ADD | SCHEDULE_RUN | SCHEDULE_REMOVE | SCHEDULE_CALL
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
        Ok(())
    }
}

/// Takes one of a number, if there is one.
fn take(left: &mut u64) -> bool {
    let taken = *left > 0;
    *left = left.saturating_sub(1);
    taken
}
