//! The words that every crate shares: each fact has one type, and each type one table of names.
//!
//! Settings, the command line, the protocol, the database and prompts all read and write these names,
//! so a new runner or sandbox is one line in its table.

mod choice;
mod mode;
mod nearest;
mod profile;
mod provenance;
mod runner;
mod sandbox;
mod work;

pub use choice::{Choice, Inferable};
pub use mode::{Hints, Mode, ModeChoice, PromptMode, SpawnMode};
pub use nearest::nearest;
pub use profile::Profile;
pub use provenance::{Provenance, TaintLevel};
pub use runner::RunnerKind;
pub use sandbox::{SandboxChoice, SandboxKind};
pub use work::{TaskState, TodoState};

use std::str::FromStr;

use thiserror::Error;

/// A type whose values are written as names.
///
/// ```
/// use foreword::{Named, Profile};
///
/// assert_eq!(Profile::names()[0], ("paranoid", "At most 10% external content."));
/// ```
pub trait Named: FromStr<Err = UnknownName> {
    /// What a value of this type says, in one sentence.
    const ABOUT: &'static str;

    /// Every name with a one-line description, in the order in which help lists them.
    fn names() -> Vec<(&'static str, &'static str)>;
}

/// A name that is not in the table.
///
/// ```
/// use foreword::Profile;
///
/// let error = "balancd".parse::<Profile>().unwrap_err();
/// assert_eq!(error.suggestion(), Some("balanced"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown {what} `{}`; known: {}", given.escape_debug(), known.join(", "))]
pub struct UnknownName {
    /// What was to be named, such as `runner`.
    pub what: &'static str,
    /// The name as given.
    pub given: String,
    /// The names in the table.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    /// The error for a name that is not among those of `T`.
    fn of<T: Named>(what: &'static str, given: &str) -> Self {
        let known = T::names().into_iter().map(|(name, _)| name).collect();
        Self { what, given: given.to_owned(), known }
    }

    /// The known name closest to the one given.
    pub fn suggestion(&self) -> Option<&'static str> {
        nearest(&self.given, self.known.iter().copied())
    }
}

/// Defines an enum together with its table of names. The first doc line of a variant is the
/// description shown in help and schemas.
macro_rules! names {
    (
        #[doc = $about:literal]
        $(#[doc = $example:literal])*
        pub enum $Name:ident: $what:literal $(, default $default:ident)? {
            $(#[doc = $doc:literal] $(#[doc = $more:literal])* $Variant:ident = $text:literal,)+
        }
    ) => {
        #[doc = $about]
        $(#[doc = $example])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $Name {
            $(
                #[doc = $doc]
                $(#[doc = $more])*
                #[serde(rename = $text)]
                $Variant,
            )+
        }

        impl $Name {
            /// All values, in the order of the table.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$Variant),+];

            /// The name in files, on the command line and in prompts.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$Variant => $text),+ }
            }
        }

        impl $crate::names::Named for $Name {
            const ABOUT: &'static str = $about.trim_ascii();

            fn names() -> Vec<(&'static str, &'static str)> {
                vec![$(($text, $doc.trim_ascii())),+]
            }
        }

        impl std::str::FromStr for $Name {
            type Err = $crate::names::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                match name {
                    $($text => Ok(Self::$Variant),)+
                    _ => Err($crate::names::UnknownName::of::<Self>($what, name)),
                }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $(
            impl Default for $Name {
                fn default() -> Self {
                    Self::$default
                }
            }
        )?
    };
}
use names;

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    fn check<T>(all: &[T])
    where
        T: Named + Serialize + DeserializeOwned + Display + Debug + PartialEq,
    {
        assert_eq!(all.len(), T::names().len());
        for (value, (name, description)) in all.iter().zip(T::names()) {
            assert_eq!(value.to_string(), name);
            assert_eq!(&T::from_str(name).unwrap(), value);
            let json = serde_json::to_string(value).unwrap();
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value);
            assert!(!description.is_empty() && !description.starts_with(' '), "{name}");
        }
        assert!(T::from_str("").is_err());
    }

    #[test]
    fn names_are_the_same_in_text_json_and_tables() {
        check(&Profile::ALL);
        check(&Mode::ALL);
        check(&PromptMode::ALL);
        check(&SpawnMode::ALL);
        check(&RunnerKind::ALL);
        check(&SandboxKind::ALL);
        check(&Provenance::ALL);
        check(&TaskState::ALL);
        check(&TodoState::ALL);
        let modes = Mode::ALL.map(Choice::Fixed);
        check(&[ModeChoice::Auto].into_iter().chain(modes).collect::<Vec<_>>());
        let sandboxes = SandboxKind::ALL.map(Choice::Fixed);
        check(&[SandboxChoice::Auto].into_iter().chain(sandboxes).collect::<Vec<_>>());
    }

    #[test]
    fn an_unknown_name_is_shown_with_the_known_ones() {
        let error = RunnerKind::from_str("claude_code").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown runner `claude_code`; known: native, claude-code, pi"
        );
        assert_eq!(error.suggestion(), Some("claude-code"));
        let json = serde_json::from_str::<ModeChoice>("\"plna\"").unwrap_err();
        assert!(json.to_string().contains("expected one of `auto`, `plan`"), "{json}");
    }
}
