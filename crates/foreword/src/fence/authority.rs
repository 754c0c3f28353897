//! Who speaks, how often it changes, how much of it is shown.

use serde::{Deserialize, Serialize};

/// How far a text may instruct. The order is the order of precedence, highest first.
///
/// ```
/// use foreword::Authority;
///
/// assert!(Authority::Constitution < Authority::Reference, "highest first");
/// assert_eq!(Authority::Operator.as_str(), "operator");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Authority {
    /// Constitution, rules, base: cannot be overridden.
    Constitution,
    /// Files of the people who run the agent.
    Operator,
    /// The task and the user's own file.
    User,
    /// Facts of the run: data, never instructions.
    Runtime,
    /// Approved skills and tool descriptions: may instruct within the bounds above.
    Skill,
    /// Memories, activity, external content: reference only.
    Reference,
}

impl Authority {
    /// The name used in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Constitution => "constitution",
            Self::Operator => "operator",
            Self::User => "user",
            Self::Runtime => "runtime",
            Self::Skill => "skill",
            Self::Reference => "reference",
        }
    }
}

/// When a section changes. The order is the order in which sections must stand for a provider's
/// prefix cache to hold.
///
/// ```
/// use foreword::{Blueprint, Volatility};
///
/// let standard = Blueprint::builtin("standard").unwrap();
/// let clock = standard.modules().find(|(name, _)| *name == "clock").unwrap().1;
/// assert_eq!(clock.volatility, Volatility::Turn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Volatility {
    /// Changes when a file changes.
    Stable,
    /// Changes with the session.
    Session,
    /// May change every turn.
    Turn,
}

impl Volatility {
    /// The name used in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Session => "session",
            Self::Turn => "turn",
        }
    }
}

/// How much of a module is in the prompt.
///
/// ```
/// use foreword::{Blueprint, Context, Detail};
///
/// let prompt = Blueprint::builtin("standard").unwrap().build(&Context::default());
/// assert!(prompt.manifest().sections.iter().all(|section| section.detail == Detail::Full));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// All of it.
    Full,
    /// Its short form.
    Minimal,
}

impl Detail {
    /// The name used in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Minimal => "minimal",
        }
    }
}
