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
    #[error("{path}: the skill repository is damaged: {detail}")]
    Damaged {
        /// The repository.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Another process has held the lock for too long.
    #[error("{path}: another process is changing the skills; waited {seconds} seconds")]
    Locked {
        /// The lock.
        path: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The branch moved while a commit was made.
    #[error("the skill repository was changed by another program at the same time")]
    Moved,
    /// Something other than a file stands in the place of a file.
    #[error("{path}: is not a regular file")]
    NotAFile {
        /// Where.
        path: String,
    },
    /// A link in the directory of skills.
    #[error("{path}: is a link, whose target could change after review")]
    Link {
        /// The link.
        path: String,
    },
    /// More than a skill may hold.
    #[error("{path}: is larger than the limit for a skill ({limit} bytes)")]
    TooLarge {
        /// Where.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// More files than a skill may have.
    #[error("{path}: the skill has more than {limit} files, or nests them too deeply")]
    TooManyFiles {
        /// Where.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// A path that no file of a skill can have.
    #[error("`{}` cannot be a file of a skill: {reason}", .path.escape_debug())]
    FilePath {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: String,
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
    #[error("the header calls the skill `{header}`, but the requested name is `{asked}`")]
    NameMismatch {
        /// The name in the header.
        header: String,
        /// The name asked for.
        asked: String,
    },
    /// A name that differs from another one only in case.
    #[error("`{known}` already exists and differs from `{name}` only in case")]
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
    #[error("`{id}` matches several commits: {}", .candidates.join(", "))]
    AmbiguousCommit {
        /// The id asked for.
        id: String,
        /// Those it could be.
        candidates: Vec<String>,
    },
    /// The proposal has been decided.
    #[error("proposal {id} is already decided: it is {state}")]
    NotOpen {
        /// The proposal.
        id: String,
        /// Its state.
        state: String,
    },
    /// What is on disk is not what the store last wrote there.
    #[error("{path}: has local changes that are not committed")]
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
    #[error("refused: {:.0}% of this session is external content; the limit for changing skills is {:.0}%",
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
    #[error("{what}: contains no skill")]
    NothingToImport {
        /// What was looked at.
        what: String,
    },
    /// No configuration directory is known.
    #[error(
        "there is no configuration directory with an audit key, so approvals cannot be verified"
    )]
    NoConfigDir,
    /// The store may only be read.
    #[error("the skills are read-only: {action} is not possible")]
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
                "nothing was overwritten; check it with `git --git-dir {path} fsck`, or move {path} aside: \
                 the skills stay as they are and count as local until you approve them again"
            ),
            Self::Locked { .. } => "wait for it to finish, or stop it; nothing was changed".into(),
            Self::Moved => "try again".into(),
            Self::Link { .. } => "replace the link with the file itself".into(),
            Self::TooLarge { .. } | Self::TooManyFiles { .. } => {
                "a skill is text for a model: keep large files elsewhere".into()
            }
            Self::FilePath { .. } => {
                "use a path below the skill's folder, such as `scripts/check.py`".into()
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
            Self::AmbiguousCommit { .. } => "pass more characters of the ID".into(),
            Self::NotOpen { .. } => "see `foreword skill proposals`".into(),
            Self::LocalChanges { .. } => {
                "commit them with `foreword skill approve --local`, or restore the file; \
                 nothing was overwritten"
                    .into()
            }
            Self::ChangedUnderneath { id, .. } => {
                format!("reject it with `foreword skill reject {id}` and propose it again")
            }
            Self::Tainted { .. } => {
                "start a new session, or propose it yourself on the command line".into()
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
