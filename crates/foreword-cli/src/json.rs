//! The one form of JSON that commands print: every object names the version of its schema.
//!
//! A list stays an array, as scripts know it, and each of its objects names the version. What another
//! program defines is printed as it defines it: requests of model APIs, JSON Schemas, a Context, and
//! exported memories.

use foreword_serve::SCHEMA_VERSION;
use serde::Serialize;

use crate::error::CliError;

/// An object with the version of its schema as the first field.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Versioned<'v, T> {
    schema_version: u32,
    #[serde(flatten)]
    object: &'v T,
}

impl<'v, T: Serialize> Versioned<'v, T> {
    pub(crate) fn new(object: &'v T) -> Self {
        Self { schema_version: SCHEMA_VERSION, object }
    }
}

/// An object on several lines.
pub(crate) fn pretty(object: &impl Serialize) -> Result<String, CliError> {
    unversioned(&Versioned::new(object))
}

/// An object on one line.
pub(crate) fn line(object: &impl Serialize) -> Result<String, CliError> {
    Ok(serde_json::to_string(&Versioned::new(object))? + "\n")
}

/// A list of objects on several lines.
pub(crate) fn list<T: Serialize>(objects: &[T]) -> Result<String, CliError> {
    unversioned(&objects.iter().map(Versioned::new).collect::<Vec<_>>())
}

/// A value whose form another program defines.
pub(crate) fn unversioned(value: &impl Serialize) -> Result<String, CliError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
