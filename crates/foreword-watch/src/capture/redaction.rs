//! Keeps credentials out of captures.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use foreword_guard::{MAX_REPORTED_SECRETS, Redacted, SecretKind, redact_with};
use serde_json::Value;

use super::escapes::Unescaped;
use crate::proxy::Exchange;

/// How often JSON may stand inside JSON: a body, the arguments of a call in it, and a text in those.
const MAX_LAYERS: usize = 3;

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
            found.extend(basic(&value));
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
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            if !STORED_PARAMETERS.contains(&name.as_ref()) {
                found.push(value.into_owned());
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

    /// A body without secrets, also those that are written with JSON's escapes. What was JSON stays JSON.
    pub(crate) fn redact_body(&self, text: &str) -> String {
        let text = self.redact_escaped(text);
        let text = text.as_ref();
        let redacted = self.redact(text);
        if redacted.found.is_empty() || is_json(&redacted.text) || !is_json(text) {
            return redacted.text;
        }
        let mut value: Value = serde_json::from_str(text).unwrap_or_default();
        self.redact_value(&mut value);
        value.to_string()
    }

    /// The text without secrets that only show once escapes such as `\\/` and `\\u002d` are read.
    fn redact_escaped<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found: Vec<(Range<usize>, SecretKind)> = Vec::new();
        let mut layers: Vec<Unescaped> = Vec::new();
        let mut has_more = false;
        while layers.len() < MAX_LAYERS {
            let Some(next) = Unescaped::of(layers.last().map_or(text, Unescaped::text)) else {
                break;
            };
            layers.push(next);
            let shown = layers.last().map_or(text, Unescaped::text);
            let secrets = self.redact(shown).found;
            has_more |= secrets.len() >= MAX_REPORTED_SECRETS;
            for secret in secrets {
                let place = layers.iter().rev().fold(secret.range, |range, it| it.origin(range));
                found.push((place, secret.kind));
            }
        }
        found.sort_by_key(|(place, _)| (place.start, place.end));
        let mut out = String::new();
        let mut end = 0;
        for (place, kind) in found.into_iter().filter(|(place, _)| !place.is_empty()) {
            let Some(between) = text.get(end..place.start) else { continue };
            out.push_str(between);
            out.push_str(&format!("[redacted: {kind}]"));
            end = place.end;
        }
        if end == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(end..).unwrap_or_default());
        Cow::Owned(if has_more { self.redact_escaped(&out).into_owned() } else { out })
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

/// The user with the password, and the password, of `Basic` authentication.
fn basic(header: &str) -> Vec<String> {
    let Some((scheme, coded)) = header.trim().split_once(' ') else { return Vec::new() };
    if !scheme.eq_ignore_ascii_case("basic") {
        return Vec::new();
    }
    let Some(bytes) = base64(coded.trim()) else { return Vec::new() };
    let both = String::from_utf8_lossy(&bytes).into_owned();
    let password = both.split_once(':').map(|(_, password)| password.to_owned());
    password.into_iter().chain([both]).collect()
}

/// The bytes that standard base64 stands for.
fn base64(coded: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0u32);
    for c in coded.trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = ((bits << 6) | u32::from(value)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789abcdefgh-XYZ";
    const OWN: &str = "own/pri+vate/cre<dential>&0099887766";

    /// A body whose one text is written with the escapes that are given.
    fn redacted(text: &str) -> String {
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}]}}"#);
        let redacted = Credentials(vec![OWN.to_owned()]).redact_body(&body);
        assert!(is_json(&redacted), "{redacted}");
        let value: Value = serde_json::from_str(&redacted).unwrap();
        let shown = value["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(!redacted.contains("vate") && !redacted.contains("fghijkl"), "{redacted}");
        shown
    }

    #[test]
    fn a_secret_is_found_however_json_writes_it() {
        // As Go, PHP and others write `<`, `>`, `&` and `/`; and what nobody has to write so.
        assert_eq!(redacted(&OWN.replace('/', r"\/")), "[redacted: credential]");
        let go = OWN.replace('<', r"\u003c").replace('>', r"\u003E").replace('&', r"\u0026");
        assert_eq!(redacted(&format!("a {go} b")), "a [redacted: credential] b");
        let every = |text: &str| -> String {
            text.chars().map(|c| format!(r"\u{:04x}", u32::from(c))).collect()
        };
        assert_eq!(redacted(&every(OWN)), "[redacted: credential]");
        assert_eq!(redacted(&every(KEY)), "[redacted: anthropic key]");
        assert_eq!(
            redacted(&format!(r"x\ny {} \u00e9 {OWN}", KEY.replace('-', r"\u002d"))),
            "x\ny [redacted: anthropic key] é [redacted: credential]"
        );
        // The arguments of a call are JSON inside JSON.
        let inner = format!(r#"{{\"k\": \"{}\"}}"#, OWN.replace('/', r"\\/"));
        assert_eq!(redacted(&inner), "{\"k\": \"[redacted: credential]\"}");
        let deeper =
            format!(r#"{{\"k\":\"{{\\\"l\\\":\\\"{}\\\"}}\"}}"#, OWN.replace('/', r"\\\\/"));
        assert!(redacted(&deeper).contains("[redacted: credential]"));
    }

    #[test]
    fn what_holds_no_secret_keeps_its_bytes() {
        for text in
            [r#"{"a":"\u00e9 \/ \u002d \\u002d \ud83d\ude00"}"#, r"\", r"\u00", r"\u+041", "é\\/"]
        {
            assert_eq!(Credentials::default().redact_body(text), text);
        }
        // An event of a stream is not JSON as a whole.
        let event = format!("data: {{\"t\":\"{}\"}}\n\n", KEY.replace('-', r"\u002d"));
        let redacted = Credentials::default().redact_body(&event);
        assert_eq!(redacted, "data: {\"t\":\"[redacted: anthropic key]\"}\n\n");
    }

    #[test]
    fn a_password_of_basic_authentication_is_a_credential() {
        let found = basic("Basic dXNlcjpodW50ZXIyLXBhc3N3b3Jk");
        assert_eq!(found, ["hunter2-password", "user:hunter2-password"]);
        assert_eq!(basic("basic dXNlcjpwYXNz"), ["pass", "user:pass"]);
        for other in ["Bearer dXNlcjpwYXNz", "Basic", "Basic %%", ""] {
            assert_eq!(basic(other), Vec::<String>::new(), "{other}");
        }
    }
}
