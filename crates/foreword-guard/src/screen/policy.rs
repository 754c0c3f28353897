//! For whom a text is screened.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which rules apply, and how strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// For text that an agent wrote: code that reaches outside is refused, capabilities need review.
    Agent,
    /// For skills that a person installs: shell is normal, dangerous combinations are refused.
    Import,
}

impl Policy {
    /// The name as written on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Import => "import",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A policy name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPolicy(pub String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown policy `{}`: use `agent` or `import`", self.0)
    }
}

impl std::error::Error for UnknownPolicy {}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "agent" => Ok(Self::Agent),
            "import" => Ok(Self::Import),
            other => Err(UnknownPolicy(other.to_owned())),
        }
    }
}
