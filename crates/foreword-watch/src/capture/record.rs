//! The lines of a capture.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::body::StoredBody;
use crate::analysis::compare::Comparison;
use crate::report::{Api, CaptureInfo};

/// Raised when a field changes its meaning or goes away.
pub(super) const FORMAT: u32 = 1;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Line {
    Capture {
        format: u32,
        #[serde(flatten)]
        info: CaptureInfo,
    },
    Call(Box<StoredCall>),
    /// A request that is not a call of a model.
    #[serde(rename_all = "camelCase")]
    Other {
        at: String,
        method: String,
        path: String,
        status: u16,
    },
    #[serde(rename_all = "camelCase")]
    End {
        at: String,
        exit_code: Option<i32>,
    },
}

/// A call as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredCall {
    #[serde(flatten)]
    pub(super) facts: CallFacts,
    pub(super) request: StoredBody,
    pub(super) response: StoredBody,
}

/// What is known of a call apart from its bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallFacts {
    pub(crate) number: usize,
    pub(crate) at: String,
    pub(crate) upstream: String,
    pub(crate) path: String,
    pub(crate) api: Api,
    pub(crate) status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    pub(crate) first_byte_ms: f64,
    pub(crate) total_ms: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<RecordedSecret>,
    #[serde(default)]
    pub(crate) request_headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) response_headers: BTreeMap<String, String>,
}

/// Where a secret was, and of which kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedSecret {
    pub(crate) place: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// A call with its bodies.
#[derive(Clone, Debug)]
pub(crate) struct RecordedCall {
    pub(crate) facts: CallFacts,
    /// Redacted.
    pub(crate) request: String,
    /// Redacted.
    pub(crate) response: String,
}

impl RecordedCall {
    /// A body that was not captured.
    pub(crate) fn of_body(api: Api, secrets: Vec<RecordedSecret>, request: String) -> Self {
        let facts = CallFacts {
            number: 1,
            at: String::new(),
            upstream: String::new(),
            path: String::new(),
            api,
            status: 0,
            problem: None,
            first_byte_ms: 0.0,
            total_ms: 0.0,
            conversation: None,
            comparison: None,
            secrets,
            request_headers: BTreeMap::new(),
            response_headers: BTreeMap::new(),
        };
        Self { facts, request, response: String::new() }
    }
}

/// A capture that was read.
#[derive(Clone, Debug)]
pub struct Capture {
    pub info: CaptureInfo,
    pub(crate) calls: Vec<RecordedCall>,
    /// Requests that are not calls of a model.
    pub(crate) others: usize,
    /// What is wrong with the file.
    pub(crate) damage: Vec<String>,
}

impl Capture {
    /// How many calls of a model it holds.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// The bodies of a call, redacted: its request and its answer.
    #[must_use]
    pub fn bodies(&self, number: usize) -> Option<(&str, &str)> {
        let call = self.calls.iter().find(|call| call.facts.number == number)?;
        Some((&call.request, &call.response))
    }

    /// The parts of a file that could not be read.
    #[must_use]
    pub fn damage(&self) -> &[String] {
        &self.damage
    }
}
