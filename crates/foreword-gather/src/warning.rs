//! What a person should know about a prompt that could still be built.

use std::fmt;

use foreword::Mode;
use serde::{Serialize, Serializer};

/// Something about a workspace that does not keep its prompt from being built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A skill that cannot be read.
    Skill { problem: String },
    /// An agent's list of skills names one that does not exist.
    SkillMissing { asked_by: Option<String>, name: String },
    /// Approvals cannot be read, so every skill counts as not approved.
    ApprovalsUnreadable { reason: String },
    /// Memories cannot be read, so the prompt has none.
    MemoriesUnreadable { reason: String },
    /// Memories are scanned without vectors of known injections.
    KeywordScanOnly,
    /// Memories that only keywords can find.
    MemoriesWithoutVectors { count: usize },
    /// The index file cannot be read.
    IndexUnreadable { reason: String },
    /// The index was made by another embedder than the one in use.
    IndexOfOtherEmbedder { embedder: String },
    /// Texts that the index does not cover were embedded for this build.
    EmbeddedForBuild { index: IndexState, count: usize },
    /// Tools and skills were selected by keywords.
    KeywordSearchOnly { reason: String },
    /// `foreword.toml` names a tool or skill that the agent does not have.
    ModeItemMissing { mode: Mode, key: &'static str, name: String },
}

/// Why an index did not cover a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    Missing,
    Unusable,
    Stale,
}

impl Warning {
    /// Whether it is only about an index that was never made.
    pub fn is_missing_index(&self) -> bool {
        matches!(self, Self::EmbeddedForBuild { index: IndexState::Missing, .. })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill { problem } => f.write_str(problem),
            Self::SkillMissing { asked_by, name } => {
                if let Some(asked_by) = asked_by {
                    write!(f, "{asked_by}: ")?;
                }
                write!(f, "the list of skills names `{name}`, which does not exist")
            }
            Self::ApprovalsUnreadable { reason } => {
                write!(f, "cannot read approvals, so no skill counts as approved: {reason}")
            }
            Self::MemoriesUnreadable { reason } => write!(f, "no memories recalled: {reason}"),
            Self::KeywordScanOnly => f.write_str(
                "memories are scanned for known injections by keywords only; run `foreword index` \
                 to add embeddings",
            ),
            Self::MemoriesWithoutVectors { count } => write!(
                f,
                "{count} memories have no embeddings and are found by keywords only; run \
                 `foreword memory reindex` to add them"
            ),
            Self::IndexUnreadable { reason } => {
                write!(f, "{reason}; run `foreword index` to rebuild it")
            }
            Self::IndexOfOtherEmbedder { embedder } => {
                write!(f, "the index was made by {embedder}, which is not in use here")
            }
            Self::EmbeddedForBuild { index, count } => {
                let state = match index {
                    IndexState::Missing => "there is no index",
                    IndexState::Unusable => "the index cannot be used",
                    IndexState::Stale => "the index is stale",
                };
                let texts = if *count == 1 { "text was" } else { "texts were" };
                write!(
                    f,
                    "{state}: {count} {texts} embedded for this build; run `foreword index` to keep them"
                )
            }
            Self::KeywordSearchOnly { reason } => {
                write!(f, "embeddings unavailable, using keyword search: {reason}")
            }
            Self::ModeItemMissing { mode, key, name } => write!(
                f,
                "foreword.toml: `modes.{}.{key}` names `{name}`, which this agent does not have",
                mode.as_str()
            ),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
