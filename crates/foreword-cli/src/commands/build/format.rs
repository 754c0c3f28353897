//! A prompt as the fields of a request to a model provider.

use clap::ValueEnum;
use foreword::{Field, Prompt};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum Format {
    /// Exact text of the prompt
    #[default]
    Text,
    /// `system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API
    Anthropic,
    /// `messages` and `prompt_cache_key`, for OpenAI-compatible chat completions
    Openai,
    /// `instructions`, `input` and `prompt_cache_key`, for the OpenAI Responses API
    Responses,
    /// `systemInstruction` and `contents`, for the Gemini API
    Gemini,
}

impl Format {
    /// The fields of a request. As text, it is the prompt alone.
    pub(crate) fn body(self, prompt: &Prompt, task: &str) -> Value {
        match self {
            Self::Text => json!(prompt.text()),
            Self::Anthropic => anthropic(prompt, task),
            Self::Openai => openai(prompt, task),
            Self::Responses => responses(prompt, task),
            Self::Gemini => gemini(prompt, task),
        }
    }
}

/// The user message of a request: the turn context, or the task if the blueprint leaves it to the user
/// message.
fn user_message<'p>(prompt: &'p Prompt, task: &'p str) -> Option<&'p str> {
    let turn = prompt.turn_context();
    let left_out = prompt.filtered().iter().any(|filtered| filtered.id == Field::Task.as_str());
    Some(if turn.is_empty() && left_out { task } else { turn }).filter(|text| !text.is_empty())
}

/// The fields of an Anthropic Messages request. Everything up to a `cache_control` is cached: the part
/// that changes only with files, and the whole system prompt of the session.
fn anthropic(prompt: &Prompt, task: &str) -> Value {
    let (stable, session) = prompt.system_at_cache_boundary();
    let system: Vec<Value> = [stable, session]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}))
        .collect();
    let messages: Vec<Value> = user_message(prompt, task)
        .map(|text| json!({"role": "user", "content": [{"type": "text", "text": text}]}))
        .into_iter()
        .collect();
    json!({"system": system, "messages": messages})
}

/// The fields of an OpenAI-compatible chat completion request. Providers cache by prefix; the key, a short
/// digest of the stable part, routes requests with the same prefix to the same cache.
fn openai(prompt: &Prompt, task: &str) -> Value {
    let messages: Vec<Value> =
        [("system", Some(prompt.system())), ("user", user_message(prompt, task))]
            .into_iter()
            .filter_map(|(role, text)| {
                text.filter(|text| !text.is_empty()).map(|text| (role, text))
            })
            .map(|(role, text)| json!({"role": role, "content": text}))
            .collect();
    json!({"messages": messages, "prompt_cache_key": cache_key(prompt)})
}

/// The fields of a request to the OpenAI Responses API.
fn responses(prompt: &Prompt, task: &str) -> Value {
    let input: Vec<Value> = user_message(prompt, task)
        .map(|text| json!({"role": "user", "content": [{"type": "input_text", "text": text}]}))
        .into_iter()
        .collect();
    json!({
        "instructions": prompt.system(), "input": input, "prompt_cache_key": cache_key(prompt),
    })
}

/// The fields of a `generateContent` request. Gemini caches by prefix on its own.
fn gemini(prompt: &Prompt, task: &str) -> Value {
    let contents: Vec<Value> = user_message(prompt, task)
        .map(|text| json!({"role": "user", "parts": [{"text": text}]}))
        .into_iter()
        .collect();
    json!({"systemInstruction": {"parts": [{"text": prompt.system()}]}, "contents": contents})
}

/// A short digest of the stable part, by which OpenAI routes requests with the same prefix.
fn cache_key(prompt: &Prompt) -> String {
    let (stable, _) = prompt.system_at_cache_boundary();
    let digest = foreword::digest(stable.as_bytes());
    digest.trim_start_matches("blake3:").chars().take(32).collect()
}
