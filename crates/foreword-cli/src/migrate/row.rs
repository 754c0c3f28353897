//! What became of one file or setting of the old setup.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The same text, perhaps under another name.
    Carried,
    /// Something else that does the same.
    Mapped,
    /// It does not concern what the agent does under Foreword.
    Left,
    /// The agent did it before, and does not do it now.
    Lost,
}

impl Outcome {
    pub(crate) const ALL: [Self; 4] = [Self::Carried, Self::Mapped, Self::Left, Self::Lost];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Carried => "carried",
            Self::Mapped => "mapped",
            Self::Left => "left",
            Self::Lost => "lost",
        }
    }
}

/// One line of the table that ends a migration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Row {
    /// The file, with the part of it after a colon if it is not the whole file.
    pub(crate) source: String,
    pub(crate) outcome: Outcome,
    /// The file or folder of the workspace that has it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// How it was mapped, or why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}
