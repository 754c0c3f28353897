//! A person's decision on a proposal.

use foreword_guard::{Policy, Verdict};
use foreword_store::{ChangeKind, Decision, Event, Outcome, Proposal, ProposalState, StoreError};
use serde_json::json;

use crate::error::SkillError;
use crate::flow::apply::{Change, digest};
use crate::flow::import::RESUBMITTED;
use crate::flow::import_files::screen_change;
use crate::git::git_store::GitStore;
use crate::store::{Act, CommittedChange};

pub(crate) fn approve(
    store: &GitStore,
    id: &str,
    act: &Act,
) -> Result<CommittedChange, SkillError> {
    let change = store.begin(act)?;
    let proposal = open(&change, id)?;
    if let Err(error) = check(&change, &proposal) {
        let detail = json!({ "id": proposal.id.as_str(), "reason": error.to_string() });
        let event = Event::new(&act.by, "skill.approve", &proposal.skill, Outcome::Refused);
        change.audit(|_| Ok(event.with_detail(detail)), act)?;
        return Err(error);
    }
    let head = change.database.write(act.at, |w| -> Result<_, StoreError> {
        let decision = Decision { by: Some(act.by.clone()), ..Decision::default() };
        w.set_state(&proposal.id, ProposalState::Pending, ProposalState::Intent, &decision)?;
        let event = Event::new(&act.by, "skill.approve", &proposal.skill, Outcome::Pending);
        w.audit(&event.with_detail(json!({ "id": proposal.id.as_str() })))
    })?;
    let proposal = change.database.proposal(proposal.id.as_str())?;
    change.apply(&proposal, head, act)
}

pub(crate) fn reject(
    store: &GitStore,
    id: &str,
    reason: Option<&str>,
    act: &Act,
) -> Result<(), SkillError> {
    let change = store.begin(act)?;
    let proposal = open(&change, id)?;
    change.database.write(act.at, |w| -> Result<(), StoreError> {
        let decision =
            Decision { by: Some(act.by.clone()), reason: reason.map(str::to_owned), commit: None };
        w.set_state(&proposal.id, ProposalState::Pending, ProposalState::Rejected, &decision)?;
        let detail = json!({ "id": proposal.id.as_str(), "reason": reason });
        let event = Event::new(&act.by, "skill.reject", &proposal.skill, Outcome::Done);
        w.audit(&event.with_detail(detail)).map(drop)
    })?;
    Ok(())
}

fn open(change: &Change<'_>, id: &str) -> Result<Proposal, SkillError> {
    let proposal = change.database.proposal(id)?;
    if proposal.state != ProposalState::Pending {
        let (id, state) = (proposal.id.to_string(), proposal.state.to_string());
        return Err(SkillError::NotOpen { id, state });
    }
    Ok(proposal)
}

/// Whether a proposal may still be taken in: the rules may have changed since, and the skill.
fn check(change: &Change<'_>, proposal: &Proposal) -> Result<(), SkillError> {
    let policy = match proposal.kind {
        ChangeKind::Propose => Policy::Agent,
        ChangeKind::Import | ChangeKind::LocalEdits | ChangeKind::Revert => Policy::Import,
    };
    let screening = screen_change(change, &proposal.skill, &proposal.files, policy);
    // A person brought it back and has seen what was found: the decision is theirs.
    if screening.verdict == Verdict::Reject && proposal.policy != RESUBMITTED {
        return Err(SkillError::Refused { reason: screening.reason });
    }
    for file in &proposal.files {
        let found = change.work_tree.read(&file.path)?.map(|found| digest(&found.content));
        if found != file.base && found != file.content.as_deref().map(digest) {
            let path = change.work_tree.show(&file.path);
            return Err(SkillError::ChangedUnderneath { path, id: proposal.id.to_string() });
        }
    }
    match change.local_change(&proposal.files)? {
        Some(path) => Err(SkillError::LocalChanges { path: change.work_tree.show(&path) }),
        None => Ok(()),
    }
}
