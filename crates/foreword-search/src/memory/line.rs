//! Memories as lines of JSON, for export and import.

use std::fmt::Write as _;

use foreword_store::{MemoryEntry, MemoryId, MemoryKind, MemoryScope, StoreError};
use serde::{Deserialize, Serialize};

use crate::memory::engine::embedder_id;
use crate::memory::memories::NewEntry;

/// The version of the lines that an export writes; a line without one has version 1.
const VERSION: u32 = 1;

/// One memory as a line of JSON. Only `text` is required.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Line {
    #[serde(default = "first_version")]
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tainted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<LineVector>,
}

fn first_version() -> u32 {
    1
}

/// A vector in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineVector {
    embedder: String,
    /// Two hexadecimal digits a number.
    code: String,
}

/// Why a line is no memory.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is no such JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A newer version wrote it.
    #[error("the line has version {found}; this foreword reads version {VERSION}")]
    Newer {
        /// The version of the line.
        found: u32,
    },
    /// A field is not as it has to be.
    #[error("{0}")]
    Unfit(#[from] StoreError),
    /// The vector is not what its embedder makes.
    #[error("the vector must have two hexadecimal digits for each dimension of its embedder")]
    Vector,
}

impl Line {
    /// A memory to be exported.
    #[must_use]
    pub fn of(entry: &MemoryEntry, vector: Option<(&str, &[u8])>) -> Self {
        let MemoryScope { agent, user, session } = entry.scope.clone();
        let hex = |code: &[u8]| {
            code.iter().fold(String::with_capacity(2 * code.len()), |mut hex, byte| {
                // Writing to a string does not fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            })
        };
        Self {
            version: VERSION,
            id: Some(entry.id.to_string()),
            text: entry.text.clone(),
            kind: Some(entry.kind.to_string()),
            agent,
            user,
            session,
            created_at: Some(entry.created_at),
            date: entry.date.clone(),
            tainted: entry.tainted,
            source: entry.source.clone(),
            importance: entry.importance,
            vector: vector.map(|(embedder, code)| LineVector {
                embedder: embedder.to_owned(),
                code: hex(code),
            }),
        }
    }

    /// The line as text, without a line break.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a line.
    pub fn parse(line: &str) -> Result<NewEntry, LineError> {
        let line: Self = serde_json::from_str(line)?;
        if line.version != VERSION {
            return Err(LineError::Newer { found: line.version });
        }
        let vector = line.vector.map(|LineVector { embedder, code }| {
            let dims = embedder_id(&embedder).map(|id| id.dims);
            let code = bytes(&code).filter(|code| !code.is_empty() && Some(code.len()) == dims);
            code.map(|code| (embedder, code)).ok_or(LineError::Vector)
        });
        let entry = NewEntry {
            text: line.text,
            kind: line.kind.as_deref().map(MemoryKind::parse).transpose()?.unwrap_or_default(),
            scope: MemoryScope { agent: line.agent, user: line.user, session: line.session },
            date: line.date,
            tainted: line.tainted,
            source: line.source,
            importance: line.importance,
            id: line.id.as_deref().map(MemoryId::parse).transpose()?,
            created_at: line.created_at,
            vector: vector.transpose()?,
        };
        entry.check()?;
        Ok(entry)
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|x| u8::try_from(x).ok());
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let text = r#"{"version":1,"id":"abc","text":"tëxt\n","kind":"fact","agent":"a","createdAt":5,"date":"2026-02-26","tainted":true,"source":"web","importance":0.5,"vector":{"embedder":"x:1:2","code":"00ff"}}"#;
        let entry = Line::parse(text).unwrap();
        assert_eq!(entry.vector, Some(("x:1:2".to_owned(), vec![0, 255])));
        let stored = MemoryEntry {
            id: entry.id.unwrap(),
            text: entry.text,
            kind: entry.kind,
            scope: entry.scope,
            created_at: entry.created_at.unwrap(),
            date: entry.date,
            tainted: entry.tainted,
            source: entry.source,
            importance: entry.importance,
        };
        assert_eq!(Line::of(&stored, Some(("x:1:2", &[0, 255]))).to_json().unwrap(), text);
    }

    #[test]
    fn what_is_no_memory_is_refused() {
        for line in [
            "",
            "[]",
            r#"{"text": ""}"#,
            r#"{"text": "x", "txet": 1}"#,
            r#"{"text": "x", "version": 2}"#,
            r#"{"text": "x", "kind": "Two words"}"#,
            r#"{"text": "x", "date": "yesterday"}"#,
            r#"{"text": "x", "importance": 2}"#,
            r#"{"text": "x", "id": "../../x"}"#,
            r#"{"text": "x", "vector": {"embedder": "a:b:1", "code": "0g"}}"#,
            r#"{"text": "x", "vector": {"embedder": "a:b:2", "code": "00"}}"#,
            r#"{"text": "x", "vector": {"embedder": "a", "code": "00"}}"#,
        ] {
            assert!(Line::parse(line).is_err(), "{line}");
        }
    }
}
