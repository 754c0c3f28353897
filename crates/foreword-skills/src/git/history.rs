//! What the history of the repository tells: which commit each file came with, and what anchors it
//! holds for the audit log.

use std::collections::BTreeMap;

use foreword_store::{Anchor, AuditKey, Head, TrackedFile};
use gix_hash::ObjectId;

use crate::error::SkillError;
use crate::git::message::{Message, sealed};
use crate::git::repository::{Blob, CommitInfo, Repository};

/// Characters of a commit's id that are shown and asked for.
pub(crate) const SHORT: usize = 12;
/// The fewest characters that may stand for a commit.
const SHORTEST: usize = 4;

/// Every file of the newest commit, with the commit that last changed or approved it.
pub(crate) fn tracked(
    repository: &Repository,
    key: &AuditKey,
) -> Result<Vec<TrackedFile>, SkillError> {
    let mut missing = repository.files(repository.head()?)?;
    let mut found = Vec::new();
    for commit in repository.history() {
        if missing.is_empty() {
            break;
        }
        let commit = commit?;
        let approves = Message::read(&commit.message).approves;
        let changed = repository.changes(&commit)?.into_iter().map(|changed| changed.path);
        for path in changed.chain(approves) {
            if let Some(blob) = missing.remove(&path) {
                found.push(tracked_file(repository, key, &path, blob, &commit)?);
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// One file, as a commit left it.
pub(crate) fn tracked_file(
    repository: &Repository,
    key: &AuditKey,
    path: &str,
    blob: Blob,
    commit: &CommitInfo,
) -> Result<TrackedFile, SkillError> {
    let message = Message::read(&commit.message);
    let by = if message.approved_by.is_empty() { &commit.author } else { &message.approved_by };
    Ok(TrackedFile {
        path: path.to_owned(),
        digest: *blake3::hash(&repository.read(blob)?).as_bytes(),
        blob: blob.id.to_string(),
        commit: commit.id.to_string(),
        by: by.clone(),
        at: commit.seconds.saturating_mul(1000),
        proposal: Some(message.proposal).filter(|id| !id.is_empty()),
        approved: is_sealed(commit, key),
        can_do: message.can_do,
    })
}

/// The seal of a commit: over its parent, its tree and all it says.
pub(crate) fn seal(
    key: &AuditKey,
    parent: Option<ObjectId>,
    tree: ObjectId,
    message: &str,
) -> String {
    let parent = parent.map(|id| id.to_string()).unwrap_or_default();
    key.seal(format!("{parent}\n{tree}\n{message}").as_bytes()).to_string()
}

/// Whether the holder of the key made a commit. Anybody can write a commit that says it was approved.
fn is_sealed(commit: &CommitInfo, key: &AuditKey) -> bool {
    sealed(&commit.message)
        .is_some_and(|sealed| sealed.seal == seal(key, commit.parent, commit.tree, sealed.message))
}

/// The commit that carried out a proposal.
pub(crate) fn commit_of(
    repository: &Repository,
    proposal: &str,
) -> Result<Option<CommitInfo>, SkillError> {
    for commit in repository.history() {
        let commit = commit?;
        if Message::read(&commit.message).proposal == proposal {
            return Ok(Some(commit));
        }
    }
    Ok(None)
}

/// The one commit whose id starts so.
pub(crate) fn resolve(repository: &Repository, start: &str) -> Result<CommitInfo, SkillError> {
    let wanted = start.trim().to_ascii_lowercase();
    let none = || SkillError::NoSuchCommit { id: start.to_owned() };
    if wanted.len() < SHORTEST || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(none());
    }
    let mut found: BTreeMap<ObjectId, CommitInfo> = BTreeMap::new();
    for commit in repository.history() {
        let commit = commit?;
        if commit.id.to_string().starts_with(&wanted) {
            found.insert(commit.id, commit);
        }
    }
    if found.len() > 1 {
        let candidates = found.keys().map(|id| short(&id.to_string())).collect();
        return Err(SkillError::AmbiguousCommit { id: start.to_owned(), candidates });
    }
    found.into_values().next().ok_or_else(none)
}

/// What the history says the audit log was, commit by commit.
pub(crate) fn anchors(repository: &Repository) -> Result<Vec<Anchor>, SkillError> {
    let mut anchors = Vec::new();
    for commit in repository.history() {
        let commit = commit?;
        let message = Message::read(&commit.message);
        anchors.extend(message.audit_head.as_deref().and_then(|head| anchor(head, &commit)));
    }
    Ok(anchors)
}

/// The trailer that names the last audit entry before a commit.
pub(crate) fn audit_head(head: &Head) -> String {
    format!("{} {} {}", head.seq, head.hash, head.log_id)
}

fn anchor(trailer: &str, commit: &CommitInfo) -> Option<Anchor> {
    let mut parts = trailer.split(' ');
    let (seq, hash, log_id) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Anchor {
        log_id: Some(log_id.parse().ok()?),
        seq: seq.parse().ok()?,
        hash: hash.parse().ok()?,
        place: format!("commit {} of the skills", short(&commit.id.to_string())),
    })
}

/// The first characters of an id.
pub(crate) fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}
