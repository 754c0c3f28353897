//! What can go wrong with skills, in words a person can act on.

use std::io;
use std::path::Path;

use foreword_store::StoreError;
use foreword_workspace::WorkspaceError;

use crate::format::name::NameError;

/// Why something was not done. Nothing was changed unless the message says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A file or directory cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Where.
        path: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The repository cannot be understood.
    #[error("{path}: the repository of skills is damaged: {detail}")]
    Damaged {
        /// The repository.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Another process has held the lock for too long.
    #[error("{path}: another process has been changing the skills for {seconds} seconds")]
    Locked {
        /// The lock.
        path: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The branch moved while a commit was made.
    #[error("the repository of skills was changed by another program at the same moment")]
    Moved,
    /// Something other than a file stands in the place of a file.
    #[error("{path}: is not a regular file")]
    NotAFile {
        /// Where.
        path: String,
    },
    /// A link in the directory of skills.
    #[error("{path}: is a link, and what it leads to could change after review")]
    Link {
        /// The link.
        path: String,
    },
    /// More than a skill may hold.
    #[error("{path}: is larger than a skill may be ({limit} bytes)")]
    TooLarge {
        /// Where.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// More files than a skill may have.
    #[error("{path}: the skill has more than {limit} files, or they lie too deep")]
    TooManyFiles {
        /// Where.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// The bytes are not text.
    #[error("{path}: is not UTF-8 text")]
    NotText {
        /// Where.
        path: String,
    },
    /// There is nothing in it.
    #[error("{path}: is empty")]
    Empty {
        /// Where.
        path: String,
    },
    /// The text does not follow the format and cannot be made to.
    #[error("{path}:{line}: {message}")]
    Format {
        /// Where.
        path: String,
        /// The line.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A name that no skill can have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The header names another skill than the request.
    #[error("the header says `{header}`, but the skill is to be called `{asked}`")]
    NameMismatch {
        /// The name in the header.
        header: String,
        /// The name asked for.
        asked: String,
    },
    /// A name that differs from another one only in case.
    #[error("there is already `{known}`, which differs from `{name}` only in case")]
    CaseTwin {
        /// The name asked for.
        name: String,
        /// What is there.
        known: String,
    },
    /// No skill has this name.
    #[error("there is no skill `{name}`")]
    NoSuchSkill {
        /// The name asked for.
        name: String,
        /// The closest one.
        nearest: Option<String>,
    },
    /// No commit has this id.
    #[error("there is no commit `{id}` in the history of the skills")]
    NoSuchCommit {
        /// The id asked for.
        id: String,
    },
    /// Several commits start with these characters.
    #[error("several commits start with `{id}`: {}", .candidates.join(", "))]
    AmbiguousCommit {
        /// The id asked for.
        id: String,
        /// Those it could be.
        candidates: Vec<String>,
    },
    /// The proposal has been decided.
    #[error("proposal {id} is not open any more: it is {state}")]
    NotOpen {
        /// The proposal.
        id: String,
        /// Its state.
        state: String,
    },
    /// What is on disk is not what the store last wrote there.
    #[error("{path}: has changes of yours that are not in the history")]
    LocalChanges {
        /// The file.
        path: String,
    },
    /// The skill is not what it was when the proposal was made.
    #[error("{path}: has changed since proposal {id} was made")]
    ChangedUnderneath {
        /// The file.
        path: String,
        /// The proposal.
        id: String,
    },
    /// Screening refuses it.
    #[error("refused by screening: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The session has taken in too much from outside.
    #[error("refused: {:.0}% of this session comes from outside, and above {:.0}% skills may not be changed",
        .ratio * 100.0, .threshold * 100.0)]
    Tainted {
        /// External tokens over all tokens.
        ratio: f64,
        /// The ratio above which nothing sensitive is done.
        threshold: f64,
    },
    /// A later commit changed the same file.
    #[error("{path}: was changed again by commit {later}, so {commit} cannot be reverted alone")]
    RevertConflict {
        /// The file.
        path: String,
        /// The commit to revert.
        commit: String,
        /// The first one in the way.
        later: String,
    },
    /// Reverting it would change nothing.
    #[error("commit {commit} has nothing left to revert")]
    NothingToRevert {
        /// The commit.
        commit: String,
    },
    /// Nothing differs from what the history holds.
    #[error("{what}: there is nothing to take in")]
    NothingToImport {
        /// What was looked at.
        what: String,
    },
    /// Nobody said where the audit key is.
    #[error("there is no directory for the audit key, so no approval can be checked")]
    NoConfigDir,
    /// The store may only be read.
    #[error("these skills are read-only: {action} is not possible")]
    ReadOnly {
        /// What was asked for.
        action: &'static str,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl SkillError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.display().to_string(), source }
    }

    pub(crate) fn damaged(path: &Path, detail: &dyn std::fmt::Display) -> Self {
        let detail = detail.to_string().lines().collect::<Vec<_>>().join("; ");
        Self::Damaged { path: path.display().to_string(), detail }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Damaged { path, .. } => format!(
                "nothing was overwritten; look with `git --git-dir {path} fsck`, or move {path} aside: \
                 the skills stay as they are and count as local until you take them in again"
            ),
            Self::Locked { .. } => "wait for it, or end it; nothing was changed".into(),
            Self::Moved => "try again".into(),
            Self::Link { .. } => "put the file itself there".into(),
            Self::TooLarge { .. } | Self::TooManyFiles { .. } => {
                "a skill is a text for a model: keep large files elsewhere".into()
            }
            Self::NameMismatch { header, .. } => {
                format!("use --name {header}, or change the name in the header")
            }
            Self::CaseTwin { known, .. } => format!("choose another name, or rename `{known}`"),
            Self::NoSuchSkill { nearest, .. } => match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "see `foreword skill list`".into(),
            },
            Self::NoSuchCommit { .. } => "see `foreword skill log`".into(),
            Self::AmbiguousCommit { .. } => "give more of it".into(),
            Self::NotOpen { .. } => "see `foreword skill proposals`".into(),
            Self::LocalChanges { .. } => {
                "take them in with `foreword skill approve --local`, or put the file back; \
                 nothing was overwritten"
                    .into()
            }
            Self::ChangedUnderneath { id, .. } => {
                format!("reject it with `foreword skill reject {id}` and have it proposed anew")
            }
            Self::Tainted { .. } => {
                "start a new session, or let a person propose it from the command line".into()
            }
            Self::RevertConflict { later, .. } => format!("revert {later} first"),
            Self::Store(error) => return error.hint(),
            Self::Workspace(error) => error.hint(),
            _ => return None,
        })
    }

    /// Whether the thing asked about is not right, rather than the way it was asked.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Refused { .. }
                | Self::Tainted { .. }
                | Self::LocalChanges { .. }
                | Self::ChangedUnderneath { .. }
                | Self::RevertConflict { .. }
                | Self::ReadOnly { .. }
                | Self::NotOpen { .. }
                | Self::NothingToRevert { .. }
        )
    }
}
