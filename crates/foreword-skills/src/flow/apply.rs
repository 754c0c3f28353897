//! Intent, commit, done: how a change reaches the repository, and what happens to one that was
//! interrupted.

use std::cell::RefCell;
use std::collections::BTreeMap;

use foreword::SCREENING;
use foreword_store::{
    ChangeKind, Decision, Event, FileChange, Head, NewProposal, Outcome, Proposal, ProposalId,
    ProposalState, Store, StoreError, TrackedFile, Transaction,
};
use gix_hash::ObjectId;
use serde_json::json;

use crate::error::SkillError;
use crate::flow::capabilities::proposal_findings;
use crate::git::git_store::GitStore;
use crate::git::history;
use crate::git::lock::Lock;
use crate::git::message::{self, Message};
use crate::git::repository::{Blob, CommitInfo, IndexChange, Repository, Signature};
use crate::git::work_tree::WorkTree;
use crate::store::{Act, CommittedChange};

/// A change under way: the lock is held as long as this lives.
pub(crate) struct Change<'s> {
    pub(crate) store: &'s GitStore,
    pub(crate) database: Store,
    pub(crate) repository: Repository,
    pub(crate) work_tree: WorkTree,
    /// What the index is to be told when the change ends.
    pub(crate) unindexed: RefCell<Vec<IndexChange>>,
    pub(crate) _lock: Lock,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        // The index is a convenience for people; what is wrong with it is mended at the next start.
        let changes = self.unindexed.take();
        if !changes.is_empty() {
            let _ = self.repository.update_index(&changes);
        }
    }
}

impl Change<'_> {
    /// The proposal that waits for a decision about the very same change, if there is one.
    pub(crate) fn same_pending(&self, new: &NewProposal) -> Result<Option<ProposalId>, SkillError> {
        let sorted = |files: &[FileChange]| {
            let mut files = files.to_vec();
            files.sort_by(|a, b| a.path.cmp(&b.path));
            files
        };
        for waiting in self.database.proposals(Some(ProposalState::Pending))? {
            let is_like = waiting.skill == new.skill
                && waiting.kind == new.kind
                && waiting.proposed_by == new.proposed_by;
            if !is_like {
                continue;
            }
            let found = self.database.proposal(waiting.id.as_str())?;
            if sorted(&found.files) == sorted(&new.files) {
                return Ok(Some(waiting.id));
            }
        }
        Ok(None)
    }

    /// Brings the database up to the repository, and finishes or undoes what was interrupted.
    pub(crate) fn catch_up(&self, act: &Act) -> Result<(), SkillError> {
        self.repository.clear_stale_locks()?;
        self.repository.mend_index()?;
        for intent in self.database.intents()? {
            match history::commit_of(&self.repository, intent.id.as_str())? {
                Some(commit) => {
                    // What cannot be written by now is a person's, and shown as such.
                    let _ = self.settle(&intent);
                    self.done(&intent, &commit, act, true)?;
                }
                None => self.undo(&intent, "interrupted before its commit", act)?,
            }
        }
        let head = self.repository.head()?.map(|id| id.to_string());
        if self.database.tracked_head()? != head {
            let rows = history::tracked(&self.repository, self.database.key())?;
            self.database.write(act.at, |w| w.replace_tracked(head.as_deref(), &rows))?;
        }
        Ok(())
    }

    /// Stores a change that needs no decision, and applies it.
    pub(crate) fn store_and_apply(
        &self,
        proposal: &NewProposal,
        act: &Act,
    ) -> Result<CommittedChange, SkillError> {
        let action = action(proposal.kind);
        let (id, head) = self.database.write(act.at, |w| -> Result<_, StoreError> {
            let id = w.insert_proposal(proposal)?;
            let detail = json!({
                "id": id.as_str(), "verdict": proposal.verdict, "policy": proposal.policy,
                "reason": proposal.reason, "reverts": proposal.reverts,
            });
            let event = Event::new(&act.by, action, &proposal.skill, Outcome::Pending);
            Ok((id, w.audit(&event.with_detail(detail))?))
        })?;
        let stored = self.database.proposal(id.as_str())?;
        self.apply(&stored, head, act)
    }

    /// Makes the commit of a proposal whose intent is stored, writes the files, and says so.
    pub(crate) fn apply(
        &self,
        proposal: &Proposal,
        head: Head,
        act: &Act,
    ) -> Result<CommittedChange, SkillError> {
        let committed = self.commit(proposal, head, act).and_then(|commit| {
            self.settle(proposal)?;
            Ok(commit)
        });
        match committed {
            Ok(commit) => self.done(proposal, &commit, act, false),
            Err(error) => {
                // If the commit was made, the next start finishes what is left of it.
                if history::commit_of(&self.repository, proposal.id.as_str())?.is_none() {
                    self.undo(proposal, &error.to_string(), act)?;
                }
                Err(error)
            }
        }
    }

    fn commit(&self, proposal: &Proposal, head: Head, act: &Act) -> Result<CommitInfo, SkillError> {
        let parent = self.repository.head()?;
        let changes = &proposal.files;
        let (_, capabilities) = proposal_findings(proposal);
        let message = Message {
            subject: subject(proposal),
            reason: proposal.reason.clone(),
            proposal: proposal.id.as_str().to_owned(),
            proposed_by: proposal.proposed_by.clone(),
            approved_by: approver(proposal).to_owned(),
            reverts: proposal.reverts.clone(),
            can_do: Some(capabilities.summary()).filter(|summary| !summary.is_empty()),
            approves: self.unchanged(parent, changes)?,
            audit_head: Some(history::audit_head(&head)),
        };
        let id = self.repository.record(parent, changes, &self.author(act), |tree| {
            let text = message.write();
            message::seal(&text, &history::seal(self.database.key(), parent, tree, &text))
        })?;
        for change in changes {
            let blob = change.content.as_deref().map(|c| self.repository.blob_id(c)).transpose()?;
            let blob = blob.map(|id| Blob { id, executable: change.executable });
            self.unindexed.borrow_mut().push((change.path.clone(), blob));
        }
        self.repository.commit(id)
    }

    /// Files that a commit approves as they are: their content is in the history already, put there
    /// without the key.
    fn unchanged(
        &self,
        parent: Option<ObjectId>,
        changes: &[FileChange],
    ) -> Result<Vec<String>, SkillError> {
        let mut same = Vec::new();
        for change in changes {
            let new = change.content.as_deref().map(|c| self.repository.blob_id(c)).transpose()?;
            let held = self.repository.blob_at(parent, &change.path)?;
            if new.is_some() && held.map(|blob| blob.id) == new {
                same.push(change.path.clone());
            }
        }
        Ok(same)
    }

    /// Writes the files of a proposal that is committed. A file that was edited meanwhile is
    /// left alone: it is theirs, and shown as such.
    fn settle(&self, proposal: &Proposal) -> Result<(), SkillError> {
        for file in &proposal.files {
            let found = self.work_tree.read(&file.path)?.map(|found| digest(&found.content));
            if found == file.base && found != file.content.as_deref().map(digest) {
                self.work_tree.apply(file)?;
            }
        }
        Ok(())
    }

    fn done(
        &self,
        proposal: &Proposal,
        commit: &CommitInfo,
        act: &Act,
        recovered: bool,
    ) -> Result<CommittedChange, SkillError> {
        let id = commit.id.to_string();
        let (changed, removed) = self.tracked(proposal, commit)?;
        let parent = commit.parent.map(|parent| parent.to_string());
        self.database.write(act.at, |w| -> Result<(), StoreError> {
            let decision = Decision { commit: Some(id.clone()), ..Decision::default() };
            w.set_state(&proposal.id, ProposalState::Intent, ProposalState::Done, &decision)?;
            let detail = json!({
                "id": proposal.id.as_str(), "commit": id, "kind": proposal.kind.as_str(),
                "verdict": proposal.verdict, "reason": proposal.reason,
                "proposedBy": proposal.proposed_by, "reverts": proposal.reverts,
                "recovered": recovered,
            });
            let event = Event::new(
                approver(proposal),
                done_action(proposal.kind),
                &proposal.skill,
                Outcome::Done,
            );
            w.audit(&event.with_detail(detail))?;
            if w.tracked_head()? == parent {
                w.update_tracked(parent.as_deref(), &id, &changed, &removed)?;
            }
            Ok(())
        })?;
        Ok(CommittedChange {
            commit: id,
            id: proposal.id.as_str().to_owned(),
            skill: proposal.skill.clone(),
            files: proposal.files.iter().map(|file| self.work_tree.show(&file.path)).collect(),
        })
    }

    fn tracked(
        &self,
        proposal: &Proposal,
        commit: &CommitInfo,
    ) -> Result<(Vec<TrackedFile>, Vec<String>), SkillError> {
        let (mut changed, mut removed) = (Vec::new(), Vec::new());
        for file in &proposal.files {
            match &file.content {
                None => removed.push(file.path.clone()),
                Some(content) => {
                    let id = self.repository.blob_id(content)?;
                    let blob = Blob { id, executable: file.executable };
                    changed.push(history::tracked_file(
                        &self.repository,
                        self.database.key(),
                        &file.path,
                        blob,
                        commit,
                    )?);
                }
            }
        }
        Ok((changed, removed))
    }

    /// Puts a proposal that was not committed back: pending where it can be decided, else failed.
    fn undo(&self, proposal: &Proposal, why: &str, act: &Act) -> Result<(), SkillError> {
        let state = match proposal.kind {
            ChangeKind::Propose | ChangeKind::Import => ProposalState::Pending,
            ChangeKind::LocalEdits | ChangeKind::Revert => ProposalState::Failed,
        };
        self.database.write(act.at, |w| -> Result<(), StoreError> {
            w.set_state(&proposal.id, ProposalState::Intent, state, &Decision::default())?;
            let detail = json!({ "id": proposal.id.as_str(), "reason": why });
            let event =
                Event::new(&act.by, done_action(proposal.kind), &proposal.skill, Outcome::Failed);
            w.audit(&event.with_detail(detail)).map(drop)
        })?;
        Ok(())
    }

    /// What is in the way of changing these files: an edit that no commit has.
    ///
    /// A file may be replaced if it is what the newest commit holds, or already what is to be
    /// written.
    pub(crate) fn local_change(&self, files: &[FileChange]) -> Result<Option<String>, SkillError> {
        for file in files {
            let disk = self.work_tree.read(&file.path)?.map(|found| digest(&found.content));
            let new = file.content.as_deref().map(digest);
            let held = self.database.tracked_file(&file.path)?;
            let held = held.filter(|known| known.approved).map(|known| known.digest);
            if disk != held && disk != new {
                return Ok(Some(file.path.clone()));
            }
        }
        Ok(None)
    }

    /// The digests of what the newest commit holds. What is not approved has none that a file could
    /// have, so that it counts as changed.
    pub(crate) fn tracked_digests(&self) -> Result<BTreeMap<String, [u8; 32]>, SkillError> {
        Ok(digests(self.database.tracked()?.files.iter()))
    }

    /// Notes that something was refused.
    pub(crate) fn audit(
        &self,
        event: impl FnOnce(&mut Transaction<'_>) -> Result<Event, StoreError>,
        act: &Act,
    ) -> Result<Head, SkillError> {
        Ok(self.database.write(act.at, |w| -> Result<Head, StoreError> {
            let event = event(w)?;
            w.audit(&event)
        })?)
    }

    fn author(&self, act: &Act) -> Signature {
        let author = &self.store.workspace.config().skills.author;
        let (name, email) = match author.split_once('<') {
            Some((name, email)) => (name.trim(), email.trim_end().trim_end_matches('>')),
            None => (author.trim(), ""),
        };
        let email = if email.is_empty() { "foreword@localhost" } else { email };
        Signature { name: name.into(), email: email.into(), seconds: act.at.div_euclid(1000) }
    }
}

/// The digests of files that are approved, and zeros for those that are not.
pub(crate) fn digests<'t>(
    files: impl Iterator<Item = &'t TrackedFile>,
) -> BTreeMap<String, [u8; 32]> {
    let digest = |file: &TrackedFile| if file.approved { file.digest } else { [0; 32] };
    files.map(|file| (file.path.clone(), digest(file))).collect()
}

/// The digest a file is known by.
pub(crate) fn digest(content: &[u8]) -> [u8; 32] {
    *blake3::hash(content).as_bytes()
}

/// Who approved a change: the person who decided on it or imported it, else screening.
fn approver(proposal: &Proposal) -> &str {
    match (&proposal.decided_by, proposal.kind) {
        (Some(person), _) => person,
        (None, ChangeKind::Propose) => SCREENING,
        (None, _) => &proposal.proposed_by,
    }
}

/// What beginning a change is called in the audit log.
pub(crate) fn action(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Propose => "skill.propose",
        ChangeKind::Import => "skill.import",
        ChangeKind::LocalEdits => "skill.take-in",
        ChangeKind::Revert => "skill.revert",
    }
}

/// What ending it is called.
fn done_action(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Propose => "skill.approve",
        other => action(other),
    }
}

fn subject(proposal: &Proposal) -> String {
    let skill = &proposal.skill;
    let new = proposal.files.iter().all(|file| file.base.is_none());
    let gone = proposal.files.iter().all(|file| file.content.is_none());
    match proposal.kind {
        ChangeKind::Revert => {
            let commit = proposal.reverts.as_deref().map(history::short).unwrap_or_default();
            format!("Revert {commit}: skill {skill}")
        }
        ChangeKind::LocalEdits if gone => format!("Remove skill {skill}"),
        ChangeKind::LocalEdits => format!("Commit local edits of skill {skill}"),
        ChangeKind::Import => format!("Import skill {skill}"),
        ChangeKind::Propose if new => format!("Add skill {skill}"),
        ChangeKind::Propose => format!("Change skill {skill}"),
    }
}
