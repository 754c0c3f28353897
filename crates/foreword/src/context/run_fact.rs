//! A fact about the run that has a usual value.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fence::text::Line;

/// A value, and whether anybody stated it. One that is only assumed is not in the JSON of a Context, and a
/// blueprint may leave it out of the prompt.
///
/// ```
/// use foreword::Context;
///
/// assert!(!Context::default().sandbox_type.is_stated());
/// let context = Context::from_json(r#"{"sandboxType": "bwrap"}"#).unwrap();
/// assert!(context.sandbox_type.is_stated());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFact {
    line: Line,
    is_stated: bool,
}

impl RunFact {
    pub(crate) fn assumed(value: &str) -> Self {
        Self { line: Line::new(value), is_stated: false }
    }

    /// Did anybody state it?
    pub fn is_stated(&self) -> bool {
        self.is_stated
    }

    pub(crate) fn is_assumed(&self) -> bool {
        !self.is_stated
    }
}

impl From<Line> for RunFact {
    fn from(line: Line) -> Self {
        Self { line, is_stated: true }
    }
}

impl From<&str> for RunFact {
    fn from(text: &str) -> Self {
        Line::new(text).into()
    }
}

impl Deref for RunFact {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.line
    }
}

impl Serialize for RunFact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RunFact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Line::deserialize(deserializer).map(Self::from)
    }
}
