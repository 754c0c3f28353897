//! A prompt as the fields of a request to a model provider.

use foreword::{Field, Prompt};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::options::Format;

/// A block of text that the provider may cache.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AnthropicBlock<'p> {
    #[schemars(extend("const" = "text"))]
    r#type: &'static str,
    text: &'p str,
    /// Everything up to here is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// How long the provider keeps a prefix.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct CacheControl {
    #[schemars(extend("const" = "ephemeral"))]
    r#type: &'static str,
}

/// A message with blocks of text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AnthropicMessage<'p> {
    #[schemars(extend("const" = "user"))]
    role: &'static str,
    content: Vec<AnthropicBlock<'p>>,
}

/// The fields of an Anthropic Messages request.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AnthropicRequest<'p> {
    system: Vec<AnthropicBlock<'p>>,
    messages: Vec<AnthropicMessage<'p>>,
}

/// A message with one text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ChatMessage<'p> {
    #[schemars(extend("enum" = ["system", "user"]))]
    role: &'static str,
    content: &'p str,
}

/// The fields of an OpenAI-compatible chat completion request.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ChatRequest<'p> {
    messages: Vec<ChatMessage<'p>>,
    prompt_cache_key: String,
}

/// A text of a Responses input.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InputText<'p> {
    #[schemars(extend("const" = "input_text"))]
    r#type: &'static str,
    text: &'p str,
}

/// A message of a Responses input.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InputMessage<'p> {
    #[schemars(extend("const" = "user"))]
    role: &'static str,
    content: Vec<InputText<'p>>,
}

/// The fields of a request to the OpenAI Responses API.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResponsesRequest<'p> {
    instructions: &'p str,
    input: Vec<InputMessage<'p>>,
    prompt_cache_key: String,
}

/// A text of a Gemini content.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GeminiPart<'p> {
    text: &'p str,
}

/// A content of a Gemini request.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GeminiContent<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<GeminiPart<'p>>,
}

/// The fields of a `generateContent` request. Gemini caches by prefix on its own.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GeminiRequest<'p> {
    system_instruction: GeminiContent<'p>,
    contents: Vec<GeminiContent<'p>>,
}

impl Format {
    /// The fields of a request. As text, it is the prompt alone.
    #[must_use]
    pub fn body(self, prompt: &Prompt, task: &str) -> Value {
        let body = match self {
            Self::Text => return json!(prompt.text()),
            Self::Anthropic => serde_json::to_value(anthropic(prompt, task)),
            Self::Openai => serde_json::to_value(chat(prompt, task)),
            Self::Responses => serde_json::to_value(responses(prompt, task)),
            Self::Gemini => serde_json::to_value(gemini(prompt, task)),
        };
        body.unwrap_or_default()
    }
}

/// The user message of a request: the turn context, or the task if the blueprint leaves it to the user
/// message.
fn user_message<'p>(prompt: &'p Prompt, task: &'p str) -> Option<&'p str> {
    let turn = prompt.turn_context();
    let left_out = prompt.filtered().iter().any(|filtered| filtered.id == Field::Task.as_str());
    Some(if turn.is_empty() && left_out { task } else { turn }).filter(|text| !text.is_empty())
}

/// Everything up to a `cache_control` is cached: the part that changes only with files, and the whole
/// system prompt of the session.
fn anthropic<'p>(prompt: &'p Prompt, task: &'p str) -> AnthropicRequest<'p> {
    let (stable, session) = prompt.system_at_cache_boundary();
    let block = |text, cached: bool| AnthropicBlock {
        r#type: "text",
        text,
        cache_control: cached.then_some(CacheControl { r#type: "ephemeral" }),
    };
    AnthropicRequest {
        system: [stable, session]
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| block(text, true))
            .collect(),
        messages: user_message(prompt, task)
            .map(|text| AnthropicMessage { role: "user", content: vec![block(text, false)] })
            .into_iter()
            .collect(),
    }
}

/// Providers cache by prefix; the key, a short digest of the stable part, routes requests with the same
/// prefix to the same cache.
fn chat<'p>(prompt: &'p Prompt, task: &'p str) -> ChatRequest<'p> {
    let messages = [("system", Some(prompt.system())), ("user", user_message(prompt, task))]
        .into_iter()
        .filter_map(|(role, text)| {
            text.filter(|text| !text.is_empty()).map(|content| ChatMessage { role, content })
        })
        .collect();
    ChatRequest { messages, prompt_cache_key: cache_key(prompt) }
}

fn responses<'p>(prompt: &'p Prompt, task: &'p str) -> ResponsesRequest<'p> {
    let input = user_message(prompt, task)
        .map(|text| InputMessage {
            role: "user",
            content: vec![InputText { r#type: "input_text", text }],
        })
        .into_iter()
        .collect();
    ResponsesRequest { instructions: prompt.system(), input, prompt_cache_key: cache_key(prompt) }
}

fn gemini<'p>(prompt: &'p Prompt, task: &'p str) -> GeminiRequest<'p> {
    let content = |role, text| GeminiContent { role, parts: vec![GeminiPart { text }] };
    GeminiRequest {
        system_instruction: content(None, prompt.system()),
        contents: user_message(prompt, task)
            .map(|text| content(Some("user"), text))
            .into_iter()
            .collect(),
    }
}

/// A short digest of the stable part, by which OpenAI routes requests with the same prefix.
fn cache_key(prompt: &Prompt) -> String {
    let (stable, _) = prompt.system_at_cache_boundary();
    let digest = foreword::digest(stable.as_bytes());
    digest.trim_start_matches("blake3:").chars().take(32).collect()
}
