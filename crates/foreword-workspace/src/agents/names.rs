//! A list of names in YAML, written as a list or in one string.

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::fmt;

/// Names given as a list, or in one string with commas between them (`tools: read, grep`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a list of names")
    }

    fn visit_str<E>(self, text: &str) -> Result<Names, E> {
        Ok(Names(
            text.split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
        ))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element::<String>()? {
            names.push(name);
        }
        Ok(Names(names))
    }

    fn visit_unit<E>(self) -> Result<Names, E> {
        Ok(Names::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(yaml: &str) -> Vec<String> {
        serde_saphyr::from_str::<Names>(yaml).unwrap().0
    }

    #[test]
    fn names_are_a_string_or_a_list() {
        assert_eq!(names("coding"), ["coding"]);
        assert_eq!(names("read, grep ,"), ["read", "grep"]);
        assert_eq!(names("[a, 'b c']"), ["a", "b c"]);
        assert_eq!(names("- a\n- 7\n"), ["a", "7"]);
        assert!(names("null").is_empty());
    }

    #[test]
    fn anything_else_is_refused() {
        assert!(serde_saphyr::from_str::<Names>("true").is_err());
        assert!(serde_saphyr::from_str::<Names>("{a: b}").is_err());
    }
}
