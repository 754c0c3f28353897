//! A named value, or `auto`.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::names::{Named, UnknownName};

/// A named value that can also be left to the program to choose.
///
/// ```
/// use foreword::{Inferable, SandboxKind};
///
/// assert_eq!(SandboxKind::NAMES[0], "auto");
/// assert_eq!(SandboxKind::AUTO, "The strongest sandbox available.");
/// ```
pub trait Inferable: Named + Copy + fmt::Display {
    /// What `auto` does, for help.
    const AUTO: &'static str;
    /// `auto`, then every name.
    const NAMES: &'static [&'static str];
}

/// A value given by name, or `auto`.
///
/// ```
/// use foreword::{Choice, Mode, ModeChoice};
///
/// assert_eq!("auto".parse::<ModeChoice>(), Ok(Choice::Auto));
/// assert_eq!("plan".parse::<ModeChoice>(), Ok(Choice::Fixed(Mode::Plan)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice<T> {
    /// The program chooses.
    #[default]
    Auto,
    /// This one.
    Fixed(T),
}

impl<T: Inferable> Named for Choice<T> {
    const ABOUT: &'static str = T::ABOUT;

    fn names() -> Vec<(&'static str, &'static str)> {
        let mut names = T::names();
        names.insert(0, ("auto", T::AUTO));
        names
    }
}

impl<T: Inferable> FromStr for Choice<T> {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        if name == "auto" {
            return Ok(Self::Auto);
        }
        T::from_str(name)
            .map(Self::Fixed)
            .map_err(|error| UnknownName::of::<Self>(error.what, &error.given))
    }
}

impl<T: fmt::Display> fmt::Display for Choice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(value) => value.fmt(f),
        }
    }
}

impl<T: fmt::Display> Serialize for Choice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T: Inferable> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name<T>(PhantomData<T>);

        impl<T: Inferable> Visitor<'_> for Name<T> {
            type Value = Choice<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "one of {}", T::NAMES.join(", "))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Choice<T>, E> {
                name.parse().map_err(|_| E::unknown_variant(name, T::NAMES))
            }
        }

        deserializer.deserialize_str(Name(PhantomData))
    }
}
