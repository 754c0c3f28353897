//! A proposal: a change to the skills that was asked for.

use std::fmt;

use serde::Serialize;

use crate::error::StoreError;
use crate::short_id::{ID_LETTERS, random_letters};
use crate::stored_enum::stored_enum;

/// The random id of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ProposalId(String);

impl ProposalId {
    /// A new one.
    pub fn random() -> Result<Self, StoreError> {
        random_letters(ID_LETTERS).map(Self)
    }

    pub(crate) fn stored(id: String) -> Self {
        Self(id)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of change it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// An agent or a person wrote a skill.
    Propose,
    /// A person brings skills from elsewhere.
    Import,
    /// A person's own edits in the work tree are taken in.
    LocalEdits,
    /// An earlier commit is undone.
    Revert,
}

stored_enum!(ChangeKind {
    Propose = "propose",
    Import = "import",
    LocalEdits = "take-in",
    Revert = "revert",
});

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProposalState {
    /// It waits for a person.
    Pending,
    /// It is being carried out; found after a crash, it is finished or undone.
    Intent,
    /// It was carried out.
    Done,
    /// A person said no.
    Rejected,
    /// The author withdrew it.
    Withdrawn,
    /// It could not be carried out.
    Failed,
}

stored_enum!(ProposalState {
    Pending = "pending",
    Intent = "intent",
    Done = "done",
    Rejected = "rejected",
    Withdrawn = "withdrawn",
    Failed = "failed",
});

/// What a proposal does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Which file, as a path in the work tree with `/`.
    pub path: String,
    /// Its new content; `None` deletes it.
    pub content: Option<Vec<u8>>,
    /// Whether it can be run.
    pub executable: bool,
    /// The blake3 digest of what it replaces; `None` where there was no file.
    pub base: Option<[u8; 32]>,
}

/// A proposal to be stored.
#[derive(Debug, Clone)]
pub struct NewProposal {
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// The skill.
    pub skill: String,
    /// The main file of the skill.
    pub path: String,
    /// The commit that a revert undoes.
    pub reverts: Option<String>,
    /// What it does to which files.
    pub files: Vec<FileChange>,
    /// Why, as the author says.
    pub reason: Option<String>,
    /// Who proposes.
    pub proposed_by: String,
    /// The verdict of the screening.
    pub verdict: String,
    /// The findings of the screening, as JSON.
    pub findings_json: String,
    /// The policy it was screened by.
    pub policy: String,
    /// [`ProposalState::Pending`], or [`ProposalState::Intent`] where no decision is needed.
    pub state: ProposalState,
}

/// A stored proposal without its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalSummary {
    /// Its id.
    pub id: ProposalId,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// The skill.
    pub skill: String,
    /// The main file of the skill.
    pub path: String,
    /// The commit that a revert undoes.
    pub reverts: Option<String>,
    /// Why, as the author said.
    pub reason: Option<String>,
    /// Who proposed.
    pub proposed_by: String,
    /// The verdict of the screening.
    pub verdict: String,
    /// The findings of the screening, as JSON.
    pub findings_json: String,
    /// The policy it was screened by.
    pub policy: String,
    /// Where it stands.
    pub state: ProposalState,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: i64,
    /// When it was decided.
    pub decided_at: Option<i64>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// Why it was decided so.
    pub decision_reason: Option<String>,
    /// The commit that carried it out.
    pub commit: Option<String>,
}

/// A stored proposal with its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// All but the files.
    pub summary: ProposalSummary,
    /// What it does to which files, by path. Empty for a proposal decided long ago.
    pub files: Vec<FileChange>,
}

impl std::ops::Deref for Proposal {
    type Target = ProposalSummary;

    fn deref(&self) -> &ProposalSummary {
        &self.summary
    }
}

/// What is noted when the state of a proposal changes; what is `None` stays as it was.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// Who decided.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The commit that carried it out.
    pub commit: Option<String>,
}
