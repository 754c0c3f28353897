//! What a host sends an agent on standard input: the message, the history, the taint of the session.

use serde::Deserialize;
use thiserror::Error;

use crate::names::Profile;
use crate::tokens::estimate::estimate;

/// A parsed payload.
///
/// ```
/// use foreword::Payload;
///
/// let payload = Payload::parse(r#"{"message": "hello", "taintRatio": 0.2}"#).unwrap();
/// assert_eq!((payload.message.as_str(), payload.taint_ratio), ("hello", 0.2));
/// assert_eq!(Payload::parse("just text").unwrap().message, "just text");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    /// What the person said.
    pub message: String,
    /// Tokens of the serialised history; 0 if there is none.
    pub history_tokens: u64,
    /// 0 where absent.
    pub taint_ratio: f64,
    /// Absent means the profile's, and 1 where the profile is absent too.
    pub taint_threshold: Option<f64>,
    /// Absent means balanced.
    pub profile: Option<Profile>,
    /// Absent means subprocess.
    pub sandbox_type: Option<String>,
}

/// A field of a payload has the wrong type or value.
///
/// ```
/// use foreword::Payload;
///
/// assert!(Payload::parse(r#"{"message": "hello", "taintRatio": "much"}"#).is_err());
/// ```
#[derive(Debug, Error)]
#[error("invalid payload: {0}")]
pub struct PayloadError(#[from] serde_json::Error);

impl Payload {
    /// Reads a payload. What is not a JSON object with a `message` is taken as the message itself, as
    /// older hosts send it; fields that nobody knows are left alone, as newer ones may.
    pub fn parse(data: &str) -> Result<Self, PayloadError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Raw {
            message: String,
            #[serde(default)]
            history: Option<Vec<serde_json::Value>>,
            #[serde(default)]
            taint_ratio: Option<f64>,
            #[serde(default)]
            taint_threshold: Option<f64>,
            #[serde(default)]
            profile: Option<Profile>,
            #[serde(default)]
            sandbox_type: Option<String>,
        }
        let plain = || Self { message: data.to_owned(), ..Self::default() };
        let Ok(value) = serde_json::from_str::<serde_json::Value>(data) else {
            return Ok(plain());
        };
        if !value.get("message").is_some_and(serde_json::Value::is_string) {
            return Ok(plain());
        }
        let raw: Raw = serde_json::from_value(value)?;
        let history = raw.history.unwrap_or_default();
        let history_tokens = if history.is_empty() {
            0
        } else {
            u64::from(estimate(&serde_json::to_string(&history)?))
        };
        Ok(Self {
            message: raw.message,
            history_tokens,
            taint_ratio: raw.taint_ratio.unwrap_or(0.0),
            taint_threshold: raw.taint_threshold,
            profile: raw.profile,
            sandbox_type: raw.sandbox_type,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taint_state_is_taken_from_the_payload() {
        let payload = Payload::parse(
            r#"{"message":"hello","history":[],"taintRatio":0.15,"taintThreshold":0.10,"profile":"paranoid","sandboxType":"nsjail","new":1}"#,
        )
        .unwrap();
        assert_eq!(
            payload,
            Payload {
                message: "hello".into(),
                history_tokens: 0,
                taint_ratio: 0.15,
                taint_threshold: Some(0.10),
                profile: Some(Profile::Paranoid),
                sandbox_type: Some("nsjail".into()),
            }
        );
    }

    #[test]
    fn history_is_counted_as_it_is_serialised() {
        let payload = Payload::parse(
            r#"{"message":"x","history":[{"role":"user","content":"hello there"}]}"#,
        )
        .unwrap();
        assert_eq!(
            payload.history_tokens,
            u64::from(estimate(r#"[{"content":"hello there","role":"user"}]"#))
        );
    }

    #[test]
    fn plain_text_is_a_message_and_wrong_types_are_errors() {
        for text in ["just text", "[1]", "{\"message\": 3}", "\"quoted\""] {
            assert_eq!(Payload::parse(text).unwrap().message, text);
        }
        assert!(Payload::parse(r#"{"message":"x","taintRatio":"high"}"#).is_err());
        assert!(Payload::parse(r#"{"message":"x","profile":"reckless"}"#).is_err());
    }
}
