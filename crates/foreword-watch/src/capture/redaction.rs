//! Keeps credentials out of captures.

use std::collections::BTreeMap;

use foreword_guard::{Redacted, redact_with};
use serde_json::Value;

use crate::proxy::Exchange;

/// Headers that may be stored. All others are left out, whatever they hold.
const STORED_HEADERS: [&str; 9] = [
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-type",
    "openai-beta",
    "request-id",
    "retry-after",
    "user-agent",
    "x-request-id",
];

/// Headers that hold a credential, or may.
const CREDENTIAL_HEADERS: [&str; 8] = [
    "api-key",
    "authorization",
    "chatgpt-account-id",
    "cookie",
    "proxy-authorization",
    "x-api-key",
    "x-auth-token",
    "x-goog-api-key",
];

/// Parameters of a query whose values may be stored.
const STORED_PARAMETERS: [&str; 3] = ["alt", "api-version", "beta"];

/// What a call authenticates with. Redacted wherever it stands.
#[derive(Debug, Default)]
pub(crate) struct Credentials(Vec<String>);

impl Credentials {
    pub(super) fn of(exchange: &Exchange) -> Self {
        let mut found = Vec::new();
        for name in CREDENTIAL_HEADERS {
            let Some(value) = exchange.request_header(name) else { continue };
            let value = String::from_utf8_lossy(value).into_owned();
            // `Bearer KEY`, `Basic …`, `name=value; name=value`.
            let words =
                value.split([' ', ';', ',']).map(|word| word.rsplit('=').next().unwrap_or(word));
            found.extend(words.map(str::to_owned));
            found.push(value);
        }
        let query = exchange.target.split_once('?').map_or("", |(_, query)| query);
        for parameter in query.split('&') {
            if let Some((name, value)) = parameter.split_once('=')
                && !STORED_PARAMETERS.contains(&name)
            {
                found.push(value.to_owned());
            }
        }
        found.retain(|value| value.len() >= 8 && !value.eq_ignore_ascii_case("bearer"));
        Self(found)
    }

    /// A text without secrets.
    pub(crate) fn redact(&self, text: &str) -> Redacted {
        let given: Vec<&str> = self.0.iter().map(String::as_str).collect();
        redact_with(text, &given)
    }

    /// A body without secrets. What was JSON stays JSON.
    pub(crate) fn redact_body(&self, text: &str) -> String {
        let redacted = self.redact(text);
        if redacted.found.is_empty() || is_json(&redacted.text) || !is_json(text) {
            return redacted.text;
        }
        let mut value: Value = serde_json::from_str(text).unwrap_or_default();
        self.redact_value(&mut value);
        value.to_string()
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(text).text,
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                let all = std::mem::take(fields);
                for (key, mut value) in all {
                    self.redact_value(&mut value);
                    fields.insert(self.redact(&key).text, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The harmless headers.
    pub(super) fn headers(&self, headers: &[(String, Vec<u8>)]) -> BTreeMap<String, String> {
        let stored = headers.iter().filter_map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            let is_stored = STORED_HEADERS.contains(&name.as_str());
            is_stored.then(|| (name, self.redact(&String::from_utf8_lossy(value)).text))
        });
        stored.collect()
    }

    /// A path with the names of its parameters, and the values of harmless ones.
    pub(super) fn path(&self, target: &str) -> String {
        let Some((path, query)) = target.split_once('?') else { return self.redact(target).text };
        let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if !STORED_PARAMETERS.contains(&name) => format!("{name}=…"),
            _ => parameter.to_owned(),
        });
        self.redact(&format!("{path}?{}", parameters.collect::<Vec<_>>().join("&"))).text
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
