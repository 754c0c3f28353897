//! Undoing a commit with another one.

use foreword_guard::{Policy, Screening};
use foreword_store::{ChangeKind, Event, FileChange, NewProposal, Outcome, ProposalState};
use serde_json::json;

use crate::error::SkillError;
use crate::flow::apply::{Change, digest};
use crate::flow::capabilities::recorded;
use crate::flow::import_files::screen_change;
use crate::git::git_store::{GitStore, skill_of};
use crate::git::history::{self, short};
use crate::git::repository::CommitInfo;
use crate::store::{Act, CommittedChange};

pub(crate) fn revert(
    store: &GitStore,
    commit: &str,
    act: &Act,
) -> Result<CommittedChange, SkillError> {
    let change = store.begin(act)?;
    let reverted = plan(&change, commit);
    let (commit, files) = match reverted {
        Ok(planned) => planned,
        Err(error) => {
            let detail = json!({ "reason": error.to_string() });
            let event = Event::new(&act.by, "skill.revert", commit, Outcome::Refused);
            change.audit(|_| Ok(event.with_detail(detail)), act)?;
            return Err(error);
        }
    };
    let first = files.first().map(|file| file.path.clone()).unwrap_or_default();
    let skill = skill_of(&first).to_owned();
    // A person asked for it, so nothing is refused; what the skill can do then is recorded.
    let capabilities = screen_change(&change, &skill, &files, Policy::Import).capabilities;
    let screening = Screening { capabilities, ..Screening::of(Vec::new()) };
    let proposal = NewProposal {
        kind: ChangeKind::Revert,
        skill,
        path: first,
        reverts: Some(commit.id.to_string()),
        files,
        reason: None,
        proposed_by: act.by.clone(),
        verdict: "AUTO_APPROVE".to_owned(),
        findings_json: recorded(&screening),
        policy: "import".to_owned(),
        state: ProposalState::Intent,
    };
    change.store_and_apply(&proposal, act)
}

/// What undoing a commit does to which files, if nothing is in the way.
fn plan(change: &Change<'_>, commit: &str) -> Result<(CommitInfo, Vec<FileChange>), SkillError> {
    let repository = &change.repository;
    let commit = history::resolve(repository, commit)?;
    let head = repository.head()?;
    let mut files = Vec::new();
    for changed in repository.changes(&commit)? {
        let current = repository.blob_at(head, &changed.path)?;
        if current == changed.before {
            continue; // A later commit has undone this part already.
        }
        if current != changed.after {
            return Err(SkillError::RevertConflict {
                path: change.work_tree.show(&changed.path),
                later: short(&first_after(change, &commit, &changed.path)?),
                commit: short(&commit.id.to_string()),
            });
        }
        let content = changed.before.map(|blob| repository.read(blob)).transpose()?;
        let disk = change.work_tree.read(&changed.path)?.map(|file| digest(&file.content));
        files.push(FileChange {
            content,
            executable: changed.before.is_some_and(|blob| blob.executable),
            base: disk,
            path: changed.path,
        });
    }
    if files.is_empty() {
        return Err(SkillError::NothingToRevert { commit: short(&commit.id.to_string()) });
    }
    match change.local_change(&files)? {
        Some(path) => Err(SkillError::LocalChanges { path: change.work_tree.show(&path) }),
        None => Ok((commit, files)),
    }
}

/// The newest commit after `commit` that changed a file: the one to revert first.
fn first_after(change: &Change<'_>, commit: &CommitInfo, path: &str) -> Result<String, SkillError> {
    for later in change.repository.history() {
        let later = later?;
        if later.id == commit.id {
            break;
        }
        if change.repository.changes(&later)?.iter().any(|changed| changed.path == path) {
            return Ok(later.id.to_string());
        }
    }
    Ok(String::new())
}
