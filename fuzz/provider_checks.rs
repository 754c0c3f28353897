//! What must hold for any body, answer or stream that is said to be a model provider's.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword-protocol/tests/it/model_fuzz_smoke.rs`) share these functions.

use foreword_protocol::{
    Answer, Delta, Provider, ProviderError, RequestFacts, StreamReader, UsageReader,
};
use serde_json::Value;

const PROVIDERS: [Provider; 2] = [Provider::Anthropic, Provider::OpenAi];

/// A body that is taken says to any other reader what it says to ours.
pub(crate) fn request_body(text: &str) {
    for provider in PROVIDERS {
        let Ok(facts) = RequestFacts::read(provider, text) else { continue };
        serde_json::from_str::<&serde_json::value::RawValue>(text).expect("no JSON was taken");
        // A number may be larger than any that this reader holds.
        let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
        assert_eq!(facts.system, lenient(provider, &value), "two readers disagree");
        assert_eq!(facts.model.as_deref(), value["model"].as_str());
        // Whoever reads keys without regard to case finds nothing else.
        let keys = value.as_object().expect("no object was taken").keys();
        let system = keys.filter(|key| key.to_lowercase() == "system").count();
        assert!(system <= 1, "two keys could be `system`");
    }
}

/// The system text, as a reader finds it that takes the last of two equal keys.
fn lenient(provider: Provider, body: &Value) -> Vec<String> {
    let text = |content: &Value| match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(
            parts
                .iter()
                .filter(|part| part["type"] == "text")
                .filter_map(|part| part["text"].as_str())
                .collect(),
        ),
        _ => None,
    };
    match provider {
        Provider::Anthropic => Vec::from_iter(text(&body["system"])),
        Provider::OpenAi => body["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|message| message["role"] == "system" || message["role"] == "developer")
            .filter_map(|message| text(&message["content"]))
            .collect(),
    }
}

/// Any answer, whole or refused: read, or explained in words that are safe to show.
pub(crate) fn answer(text: &str) {
    for provider in PROVIDERS {
        if let Err(error) = Answer::from_body(provider, text) {
            explained(&error);
        }
        let mut usage = UsageReader::new(provider);
        usage.push(text.as_bytes());
        usage.finish();
    }
    for status in [200, 400, 429, 503] {
        explained(&ProviderError::from_response(status, Some(text), text));
    }
}

fn explained(error: &ProviderError) {
    let message = error.to_string();
    assert!(!message.is_empty() && message.chars().count() < 1000, "{message:?}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
}

/// Any stream gives the same in any cut, and tells no text that is not in the answer.
pub(crate) fn stream(text: &str) {
    for provider in PROVIDERS {
        let (told, answer) = read(provider, text, usize::MAX);
        match &answer {
            Ok(answer) => assert!(answer.text().starts_with(&told), "{told:?} of {answer:?}"),
            Err(error) => explained(error),
        }
        for size in [1, 3, 64] {
            assert_eq!(read(provider, text, size), (told.clone(), answer.clone()), "cut at {size}");
        }
    }
}

fn read(
    provider: Provider,
    mut text: &str,
    size: usize,
) -> (String, Result<Answer, ProviderError>) {
    let mut reader = StreamReader::new(provider);
    let mut told = String::new();
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.ceil_char_boundary(size.min(text.len())));
        for delta in reader.push(piece).unwrap_or_default() {
            if let Delta::Text(text) = delta {
                told.push_str(&text);
            }
        }
        text = rest;
    }
    (told, reader.finish())
}
