//! Proposals as rows: stored, found by the beginning of their id, moved from state to state.

use std::path::Path;

use rusqlite::{Connection, Row};

use crate::error::{InDatabase as _, StoreError};
use crate::skills::proposal::{
    ChangeKind, Decision, FileChange, NewProposal, Proposal, ProposalId, ProposalState,
    ProposalSummary,
};
use crate::stored_enum::word;

/// The most bytes one file of a proposal may have.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The most bytes all files of a proposal may have.
pub const MAX_PROPOSAL_BYTES: u64 = 8 * 1024 * 1024;
/// The most proposals that may wait for a decision.
pub const MAX_PENDING: i64 = 1000;
/// The most bytes that all proposals waiting for a decision may have.
const MAX_PENDING_BYTES: i64 = 64 * 1024 * 1024;
/// The most bytes of each text that comes with a proposal.
const MAX_TEXT_BYTES: u64 = 256 * 1024;
/// The number of decided proposals whose files are kept.
const KEPT_DECIDED: i64 = 200;

const COLUMNS: &str = "id, kind, skill, path, reverts, reason, proposed_by, verdict, findings, \
                       policy, state, created_at, decided_at, decided_by, decision_reason, commit_id";

pub(crate) fn insert(
    connection: &Connection,
    path: &Path,
    now_ms: i64,
    new: &NewProposal,
) -> Result<ProposalId, StoreError> {
    check_size(new)?;
    if new.state == ProposalState::Pending {
        check_room(connection, path, new)?;
    }
    let id = ProposalId::random()?;
    connection
        .prepare_cached(
            "INSERT INTO proposals (id, kind, skill, path, reverts, reason, proposed_by, verdict, \
             findings, policy, state, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )
        .and_then(|mut statement| {
            statement.execute((
                id.as_str(),
                new.kind.as_str(),
                &new.skill,
                &new.path,
                &new.reverts,
                &new.reason,
                &new.proposed_by,
                &new.verdict,
                &new.findings_json,
                &new.policy,
                new.state.as_str(),
                now_ms,
            ))
        })
        .at(path)?;
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO proposal_files (proposal, path, content, executable, base) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .at(path)?;
    for file in &new.files {
        statement
            .execute((id.as_str(), &file.path, &file.content, file.executable, file.base))
            .at(path)?;
    }
    Ok(id)
}

pub(crate) fn set_state(
    connection: &Connection,
    path: &Path,
    now_ms: i64,
    id: &ProposalId,
    (expected, new): (ProposalState, ProposalState),
    decision: &Decision,
) -> Result<(), StoreError> {
    let changed = connection
        .prepare_cached(
            // What waits again is as if it had never been decided.
            "UPDATE proposals SET state = ?3, \
             decided_at = iif(?3 = 'pending', NULL, ?4), \
             decided_by = iif(?3 = 'pending', NULL, ifnull(?5, decided_by)), \
             decision_reason = iif(?3 = 'pending', NULL, ifnull(?6, decision_reason)), \
             commit_id = iif(?3 = 'pending', NULL, ifnull(?7, commit_id)) \
             WHERE id = ?1 AND state = ?2",
        )
        .and_then(|mut statement| {
            statement.execute((
                id.as_str(),
                expected.as_str(),
                new.as_str(),
                now_ms,
                &decision.by,
                &decision.reason,
                &decision.commit,
            ))
        })
        .at(path)?;
    if changed == 0 {
        let found = find(connection, path, id.as_str())?.state;
        return Err(StoreError::StateChanged { id: id.to_string(), expected, found });
    }
    if !matches!(new, ProposalState::Pending | ProposalState::Intent) {
        forget_old_files(connection).at(path)?;
    }
    Ok(())
}

pub(crate) fn find(connection: &Connection, path: &Path, id: &str) -> Result<Proposal, StoreError> {
    let wanted = id.to_ascii_lowercase();
    let ids = ids(connection).at(path)?;
    let mut candidates: Vec<_> = ids.iter().filter(|id| id.starts_with(&wanted)).collect();
    if let Some(&exact) = candidates.iter().find(|id| ***id == wanted) {
        candidates = vec![exact];
    }
    let found = match candidates.as_slice() {
        [only] if !wanted.is_empty() => *only,
        [_, _, ..] if !wanted.is_empty() => {
            return Err(StoreError::AmbiguousProposal {
                prefix: id.to_owned(),
                candidates: candidates.into_iter().take(10).cloned().collect(),
            });
        }
        _ => {
            return Err(StoreError::NoSuchProposal {
                id: id.to_owned(),
                nearest: nearest(&ids, &wanted),
            });
        }
    };
    let summary = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1"))
        .and_then(|mut statement| statement.query_row([found], summary))
        .at(path)?;
    with_files(connection, summary).at(path)
}

pub(crate) fn list(
    connection: &Connection,
    path: &Path,
    state: Option<ProposalState>,
) -> Result<Vec<ProposalSummary>, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM proposals WHERE ?1 IS NULL OR state = ?1 ORDER BY created_at, rowid"
        ))
        .and_then(|mut statement| {
            statement
                .query_map([state.map(ProposalState::as_str)], summary)?
                .collect()
        })
        .at(path)
}

pub(crate) fn intents(connection: &Connection, path: &Path) -> Result<Vec<Proposal>, StoreError> {
    list(connection, path, Some(ProposalState::Intent))?
        .into_iter()
        .map(|summary| with_files(connection, summary).at(path))
        .collect()
}

fn check_size(new: &NewProposal) -> Result<(), StoreError> {
    let too_large = |what: &str, bytes, limit| {
        Err(StoreError::TooLarge { what: what.to_owned(), bytes, limit })
    };
    let mut total = 0_u64;
    for file in &new.files {
        let bytes = size(file.content.as_deref().unwrap_or_default());
        if bytes > MAX_FILE_BYTES {
            return too_large(&format!("`{}`", file.path), bytes, MAX_FILE_BYTES);
        }
        total = total.saturating_add(bytes).saturating_add(size(file.path.as_bytes()));
    }
    if total > MAX_PROPOSAL_BYTES {
        return too_large("the proposal", total, MAX_PROPOSAL_BYTES);
    }
    let texts = [
        ("the name of the skill", Some(new.skill.as_str())),
        ("the path", Some(new.path.as_str())),
        ("the reason", new.reason.as_deref()),
        ("the list of findings", Some(new.findings_json.as_str())),
    ];
    for (what, text) in texts {
        let bytes = size(text.unwrap_or_default().as_bytes());
        if bytes > MAX_TEXT_BYTES {
            return too_large(what, bytes, MAX_TEXT_BYTES);
        }
    }
    Ok(())
}

fn check_room(connection: &Connection, path: &Path, new: &NewProposal) -> Result<(), StoreError> {
    let (count, bytes): (i64, i64) = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM proposals WHERE state = 'pending'), \
             (SELECT ifnull(sum(length(content)), 0) FROM proposal_files JOIN proposals \
             ON proposal = id WHERE state = 'pending')",
        )
        .and_then(|mut statement| statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))))
        .at(path)?;
    if count >= MAX_PENDING {
        return Err(StoreError::TooManyPending {
            waiting: format!("{count} proposals"),
            limit: MAX_PENDING.to_string(),
        });
    }
    let added: u64 =
        new.files.iter().map(|file| size(file.content.as_deref().unwrap_or_default())).sum();
    if bytes.saturating_add_unsigned(added) > MAX_PENDING_BYTES {
        return Err(StoreError::TooManyPending {
            waiting: format!("{bytes} bytes of proposals"),
            limit: format!("{MAX_PENDING_BYTES} bytes"),
        });
    }
    Ok(())
}

/// Deletes the files of proposals that were decided long ago; what was carried out is in the
/// skill repository.
fn forget_old_files(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM proposal_files WHERE proposal IN (SELECT id FROM proposals \
             WHERE state NOT IN ('pending', 'intent') AND id IN \
             (SELECT DISTINCT proposal FROM proposal_files) \
             ORDER BY decided_at DESC, rowid DESC LIMIT -1 OFFSET ?1)",
        )?
        .execute([KEPT_DECIDED])
        .map(drop)
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn ids(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT id FROM proposals ORDER BY id")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// The id that shares the longest beginning, if that is at least half of what was asked for.
fn nearest(ids: &[String], wanted: &str) -> Option<String> {
    let shared =
        |id: &str| id.bytes().zip(wanted.bytes()).filter(|(one, other)| one == other).count();
    ids.iter()
        .map(|id| (shared(id), id))
        .filter(|(shared, _)| *shared > 0 && shared * 2 >= wanted.len())
        .max_by(|one, other| one.0.cmp(&other.0).then_with(|| other.1.cmp(one.1)))
        .map(|(_, id)| id.clone())
}

fn summary(row: &Row<'_>) -> rusqlite::Result<ProposalSummary> {
    Ok(ProposalSummary {
        id: ProposalId::stored(row.get(0)?),
        kind: word(row, 1, ChangeKind::parse)?,
        skill: row.get(2)?,
        path: row.get(3)?,
        reverts: row.get(4)?,
        reason: row.get(5)?,
        proposed_by: row.get(6)?,
        verdict: row.get(7)?,
        findings_json: row.get(8)?,
        policy: row.get(9)?,
        state: word(row, 10, ProposalState::parse)?,
        created_at: row.get(11)?,
        decided_at: row.get(12)?,
        decided_by: row.get(13)?,
        decision_reason: row.get(14)?,
        commit: row.get(15)?,
    })
}

fn with_files(connection: &Connection, summary: ProposalSummary) -> rusqlite::Result<Proposal> {
    let files = connection
        .prepare_cached(
            "SELECT path, content, executable, base FROM proposal_files WHERE proposal = ?1 \
             ORDER BY path",
        )?
        .query_map([summary.id.as_str()], |row| {
            Ok(FileChange {
                path: row.get(0)?,
                content: row.get(1)?,
                executable: row.get(2)?,
                base: row.get(3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Proposal { summary, files })
}
