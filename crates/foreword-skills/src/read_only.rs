//! Skills that can be read and not changed.

use std::time::SystemTime;

use foreword_workspace::Workspace;

use crate::error::SkillError;
use crate::git::git_store::read;
use crate::listing::{self, Listing, SkillMeta};
use crate::store::{
    Act, CommittedChange, LogEntry, LogOptions, ProposalRequest, ProposalResult, SkillContent,
    SkillStore,
};

/// A workspace's skills, read-only: every change is a clear error, and nothing is ever written.
#[derive(Debug)]
pub struct ReadOnlyStore {
    workspace: Workspace,
}

impl ReadOnlyStore {
    /// The skills of a workspace.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn listing(&self) -> Result<Listing, SkillError> {
        Ok(listing::list(&self.workspace, None, SystemTime::now())?)
    }
}

impl SkillStore for ReadOnlyStore {
    fn list(&self) -> Result<Vec<SkillMeta>, SkillError> {
        let listing = self.listing()?;
        Ok(listing.skills.into_iter().map(|skill| skill.meta).collect())
    }

    fn read(&self, name: &str) -> Result<SkillContent, SkillError> {
        read(&self.workspace, &self.listing()?, name)
    }

    fn propose(&mut self, _: ProposalRequest, _: &Act) -> Result<ProposalResult, SkillError> {
        Err(SkillError::ReadOnly { action: "proposing a skill" })
    }

    fn approve(&mut self, _: &str, _: &Act) -> Result<CommittedChange, SkillError> {
        Err(SkillError::ReadOnly { action: "approving a proposal" })
    }

    fn reject(&mut self, _: &str, _: Option<&str>, _: &Act) -> Result<(), SkillError> {
        Err(SkillError::ReadOnly { action: "rejecting a proposal" })
    }

    fn revert(&mut self, _: &str, _: &Act) -> Result<CommittedChange, SkillError> {
        Err(SkillError::ReadOnly { action: "reverting a commit" })
    }

    fn log(&self, _: &LogOptions) -> Result<Vec<LogEntry>, SkillError> {
        Ok(Vec::new())
    }
}
