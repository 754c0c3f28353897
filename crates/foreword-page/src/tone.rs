//! Colours, each with a meaning that the page also says in words.

use foreword::Authority;

/// The colour of a part. The stylesheet has a light and a dark form of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The highest authority.
    Violet,
    /// The people who run the agent.
    Blue,
    /// The user.
    Green,
    /// Facts of the run.
    Teal,
    /// Skills and tools.
    Amber,
    /// Untrusted text.
    Rose,
    /// Everything else.
    #[default]
    Grey,
}

impl Tone {
    /// The class in the stylesheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Violet => "violet",
            Self::Blue => "blue",
            Self::Green => "green",
            Self::Teal => "teal",
            Self::Amber => "amber",
            Self::Rose => "rose",
            Self::Grey => "grey",
        }
    }
}

impl From<Authority> for Tone {
    fn from(authority: Authority) -> Self {
        match authority {
            Authority::Constitution => Self::Violet,
            Authority::Operator => Self::Blue,
            Authority::User => Self::Green,
            Authority::Runtime => Self::Teal,
            Authority::Skill => Self::Amber,
            Authority::Reference => Self::Rose,
        }
    }
}
