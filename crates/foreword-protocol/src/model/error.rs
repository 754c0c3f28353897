//! Why there is no answer.

use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

/// The most characters of a server's message that are repeated.
const MAX_MESSAGE: usize = 500;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProviderError {
    /// The server says no.
    #[error("the model's server refused the call{}: {message}", status_note(*.status))]
    Refused {
        /// The status of HTTP, where it was one.
        status: Option<u16>,
        /// What the server calls the fault, such as `overloaded_error`.
        kind: String,
        /// What it says about it.
        message: String,
        /// Might the same call succeed later?
        retryable: bool,
        /// When to try again, where the server says so.
        retry_after: Option<Duration>,
    },
    /// A web page, as proxies and wrong addresses give.
    #[error(
        "the model server returned a web page{}: {title}; check the model's base URL",
        status_note(*.status)
    )]
    WebPage {
        /// The status of HTTP, where it is known.
        status: Option<u16>,
        /// The title of the page.
        title: String,
    },
    /// Something that is no answer.
    #[error("cannot read the model's answer: {0}")]
    Garbage(String),
    /// The answer broke off.
    #[error("the model's answer is incomplete: the stream ended early")]
    Truncated,
    /// The answer is too long.
    #[error("the model's answer is larger than {limit} bytes")]
    TooLarge {
        /// The most it may have.
        limit: usize,
    },
}

fn status_note(status: Option<u16>) -> String {
    status.map(|status| format!(" (status {status})")).unwrap_or_default()
}

impl ProviderError {
    /// Reads an answer whose status says that it is none. `retry_after` is that header's value.
    pub fn from_response(status: u16, retry_after: Option<&str>, body: &str) -> Self {
        let retry_after = retry_after.and_then(seconds);
        let body = body.trim_start_matches('\u{feff}').trim();
        if let Some(error) =
            serde_json::from_str::<Value>(body).ok().and_then(|value| Self::in_json(&value))
        {
            return match error {
                Self::Refused { kind, message, retryable, .. } => Self::Refused {
                    status: Some(status),
                    retryable: retryable || retryable_status(status),
                    kind,
                    message,
                    retry_after,
                },
                error => error,
            };
        }
        if is_web_page(body) {
            return Self::WebPage { status: Some(status), title: page_title(body) };
        }
        let message = if body.is_empty() { "it does not say why".to_owned() } else { shown(body) };
        Self::Refused {
            status: Some(status),
            kind: String::new(),
            message,
            retryable: retryable_status(status),
            retry_after,
        }
    }

    /// The error in a JSON object, as both providers write it; nothing if there is none.
    pub(crate) fn in_json(value: &Value) -> Option<Self> {
        let error = value.get("error").filter(|error| !error.is_null())?;
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = [text("type"), text("code")].into_iter().find(|text| !text.is_empty());
        let kind = shown(kind.unwrap_or_default());
        let message = match error {
            Value::String(text) => text.clone(),
            error if text("message").is_empty() => error.to_string(),
            _ => text("message").to_owned(),
        };
        let retryable = ["overloaded", "rate_limit", "api_error", "timeout", "server_error"]
            .iter()
            .any(|word| kind.contains(word));
        let message = shown(&message);
        Some(Self::Refused { status: None, kind, message, retryable, retry_after: None })
    }

    /// Might the same call succeed later?
    pub fn retryable(&self) -> bool {
        match self {
            Self::Refused { retryable, .. } => *retryable,
            Self::WebPage { status, .. } => status.is_some_and(retryable_status),
            Self::Truncated => true,
            Self::Garbage(_) | Self::TooLarge { .. } => false,
        }
    }

    /// Whether the server does not have the model that was asked for, as far as its words tell.
    pub fn is_unknown_model(&self) -> bool {
        let Self::Refused { status: Some(400 | 404), kind, message, .. } = self else {
            return false;
        };
        let message = message.to_lowercase();
        let denied = ["not found", "not exist", "no such model", "unknown model", "invalid model"];
        kind == "model_not_found"
            || kind == "not_found_error" && message.starts_with("model")
            || message.contains("model") && denied.iter().any(|words| message.contains(words))
    }

    /// When to try again, where the server says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The status of HTTP, where it is known.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::WebPage { status, .. } => *status,
            _ => None,
        }
    }
}

fn retryable_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// A number of seconds. A date is not read: there is no clock here.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

pub(crate) fn is_web_page(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

/// The title of a web page, or how it begins.
pub(crate) fn page_title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let start = at + lower.get(at..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find('<')?;
        page.get(start..end).map(str::trim).filter(|title| !title.is_empty())
    });
    shown(title.unwrap_or(page))
}

/// A text of somebody else's on one line, cut.
pub(crate) fn shown(text: &str) -> String {
    let mut line: String = text
        .trim()
        .chars()
        .take(MAX_MESSAGE)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.trim().chars().nth(MAX_MESSAGE).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_the_server_said() {
        let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
        let error = ProviderError::from_response(429, Some("7"), body);
        assert_eq!(
            error.to_string(),
            "the model's server refused the call (status 429): slow down"
        );
        assert!(error.retryable());
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));

        let body =
            r#"{"error":{"message":"no such model","type":"invalid_request_error","code":null}}"#;
        let error = ProviderError::from_response(404, Some("soon"), body);
        assert!(!error.retryable());
        assert_eq!(error.retry_after(), None);
    }

    #[test]
    fn a_missing_model_is_recognised() {
        let unknown = |status, body: &str| {
            ProviderError::from_response(status, None, body).is_unknown_model()
        };
        for (status, body) in [
            (404, r#"{"error":{"type":"not_found_error","message":"model: claude-9"}}"#),
            (
                404,
                r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#,
            ),
            (404, r#"{"error":"model \"llama9\" not found, try pulling it first"}"#),
            (400, r#"{"error":{"message":"Unknown model: x","type":"bad_request"}}"#),
        ] {
            assert!(unknown(status, body), "{body}");
        }
        for (status, body) in [
            (404, "<html><title>Not found</title></html>"),
            (404, r#"{"error":{"message":"no such page","type":"not_found_error"}}"#),
            (400, r#"{"error":{"message":"the model's context is too long"}}"#),
            (401, r#"{"error":{"message":"model not found"}}"#),
        ] {
            assert!(!unknown(status, body), "{body}");
        }
    }

    #[test]
    fn pages_and_silence_are_explained() {
        let page = "<!DOCTYPE html><html><head><TITLE>502 Bad\nGateway</TITLE></head>";
        let error = ProviderError::from_response(502, None, page);
        assert_eq!(
            error.to_string(),
            "the model server returned a web page (status 502): 502 Bad Gateway; check the model's base URL"
        );
        assert!(error.retryable());
        let silent = ProviderError::from_response(401, None, "");
        assert!(silent.to_string().contains("it does not say why"));
        assert!(!silent.retryable());
        let long = ProviderError::from_response(400, None, &"é".repeat(100_000));
        assert!(long.to_string().chars().count() < 600);
        for odd in ["-1", "1e400", "NaN", "99999999999999999999999999"] {
            assert_eq!(ProviderError::from_response(429, Some(odd), "x").retry_after(), None);
        }
    }
}
