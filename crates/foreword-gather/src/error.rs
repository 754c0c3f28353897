//! Why a Context could not be gathered.

use foreword::{BlueprintError, ContextError};
use foreword_workspace::{AskedBy, WorkspaceError};
use thiserror::Error;

/// Why a Context could not be gathered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GatherError {
    /// The workspace cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The blueprint is wrong.
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
    /// The Context is wrong.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// No such blueprint.
    #[error("{}no blueprint is called `{name}`: {suggestion}", prefix(.asked_by.as_ref()))]
    UnknownBlueprint {
        /// The name.
        name: String,
        /// What to do.
        suggestion: String,
        /// Who asked for it, where it was a file.
        asked_by: Option<AskedBy>,
    },
    /// The workspace's default agent does not exist.
    #[error("{asked_by}: {source}")]
    DefaultAgent {
        /// The setting.
        asked_by: AskedBy,
        /// What is wrong.
        source: Box<WorkspaceError>,
    },
    /// Vectors of two embedders met.
    #[error(transparent)]
    Incomparable(#[from] foreword_embed::Incomparable),
    /// The parts of an index do not belong together.
    #[error("the parts of the index do not match: {0}")]
    Parts(#[from] foreword_search::IndexError),
    /// The embedder that the workspace asks for does not work.
    #[error("embedder `{name}` is unavailable: {reason}")]
    Embedder {
        /// Its name.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The index cannot be read or written.
    #[error(transparent)]
    Index(#[from] crate::select::index_file::IndexError),
    /// A text is no answer to `tools/list`.
    #[error("not a `tools/list` response: {what}")]
    NotTools {
        /// What is wrong with it.
        what: String,
    },
    /// A command for a tool that Foreword has itself.
    #[error("{asked_by}: `{name}` is built in and takes no `command`; give the tool another name")]
    BuiltInTool {
        /// The tool.
        name: String,
        /// Its entry.
        asked_by: AskedBy,
    },
    /// A pack that nobody wrote.
    #[error("{asked_by}: unknown capability pack `{name}`")]
    UnknownPack {
        /// The pack.
        name: String,
        /// Who asked for it.
        asked_by: AskedBy,
    },
    /// A list of prompts with two of what there can be one of.
    #[error("{asked_by}: second {what} `{second}` after `{first}`; an agent has exactly one")]
    Twice {
        /// `persona`, `base` or `overlay`.
        what: &'static str,
        /// The one before.
        first: String,
        /// The one too many.
        second: String,
        /// Where.
        asked_by: AskedBy,
    },
}

impl GatherError {
    /// What to do next, where there is something beyond the message.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Workspace(error) => Some(error.hint()),
            Self::DefaultAgent { source, .. } => Some(source.hint()),
            Self::UnknownPack { name, .. } => Some(format!(
                "create prompts/capabilities/{name}.md, or remove the name from the list"
            )),
            Self::Twice { .. } => Some("remove one of them from the list".to_owned()),
            Self::Embedder { .. } => Some(
                "fix the server, or choose another embedder with `name` under [embedder] in foreword.toml"
                    .to_owned(),
            ),
            Self::Incomparable(_) | Self::Parts(_) | Self::Index(_) => {
                Some("run `foreword index` to rebuild the index".to_owned())
            }
            Self::NotTools { .. } => {
                Some("save the server's `tools/list` response as JSON".to_owned())
            }
            Self::BuiltInTool { .. }
            | Self::Blueprint(_)
            | Self::Context(_)
            | Self::UnknownBlueprint { .. } => None,
        }
    }
}

fn prefix(asked_by: Option<&AskedBy>) -> String {
    asked_by.map(|by| format!("{by}: ")).unwrap_or_default()
}
