//! A model's answer, in the same form for every provider.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::MAX_ANSWER_BYTES;
use crate::model::error::{ProviderError, is_web_page, page_title, shown};
use crate::model::message::{Block, Content, Message, Provider, Role};
use foreword::Usage;

/// Why a model or an agent's loop stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model finished its answer.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The answer reached the output token limit.
    MaxTokens,
    /// The loop reached its limit of model calls. Providers never send this.
    MaxSteps,
    /// A limit on tokens, money or time was reached. Providers never send this.
    SpendingLimit,
    /// The model declined to answer.
    Refusal,
    /// Any other reason, in the words of the provider or the loop.
    #[serde(untagged)]
    Other(String),
}

impl StopReason {
    /// Reads the word of a provider.
    pub(crate) fn read(word: &str) -> Self {
        match word {
            "end_turn" | "stop" | "stop_sequence" => Self::EndTurn,
            "tool_use" | "tool_calls" | "function_call" => Self::ToolUse,
            "max_tokens" | "length" => Self::MaxTokens,
            "refusal" | "content_filter" => Self::Refusal,
            other => Self::Other(shown(other)),
        }
    }
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Texts and tool calls in order. A call whose input is no JSON object carries what the model
    /// wrote, as a string.
    pub blocks: Vec<Block>,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// What it cost.
    pub usage: Usage,
}

impl Answer {
    /// Reads a whole answer.
    pub fn from_body(provider: Provider, body: &str) -> Result<Self, ProviderError> {
        if body.len() > MAX_ANSWER_BYTES {
            return Err(ProviderError::TooLarge { limit: MAX_ANSWER_BYTES });
        }
        let body = body.trim_start_matches('\u{feff}');
        if is_web_page(body) {
            return Err(ProviderError::WebPage { status: None, title: page_title(body) });
        }
        let value: Value = serde_json::from_str(body).map_err(|error| {
            if error.is_eof() && !body.trim().is_empty() {
                ProviderError::Truncated
            } else {
                ProviderError::Garbage(format!("{error}; it begins with: {}", shown(body)))
            }
        })?;
        if let Some(error) = ProviderError::in_json(&value) {
            return Err(error);
        }
        match provider {
            Provider::Anthropic => crate::anthropic::stream::whole(&value),
            Provider::OpenAi => crate::openai::stream::whole(&value),
        }
    }

    /// Its texts, joined.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                Block::ToolUse { .. } | Block::ToolResult { .. } => None,
            })
            .collect()
    }

    /// As a message of the conversation.
    pub fn into_message(self) -> Message {
        Message { role: Role::Assistant, content: Content::Blocks(self.blocks) }
    }
}

/// What a tool is called with, as the model wrote it: an object, or the text if it is none.
pub(crate) fn tool_input(json: &str) -> Value {
    if json.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => Value::String(json.to_owned()),
    }
}

/// Adds what the usage of an Anthropic event says: each number is a total, not a difference.
pub(crate) fn anthropic_usage(usage: &mut Usage, value: &Value) {
    for (key, into) in [
        ("input_tokens", &mut usage.input_tokens),
        ("output_tokens", &mut usage.output_tokens),
        ("cache_read_input_tokens", &mut usage.cache_read_tokens),
        ("cache_creation_input_tokens", &mut usage.cache_write_tokens),
    ] {
        if let Some(number) = value.get(key).and_then(Value::as_u64) {
            *into = number;
        }
    }
}

/// As [`anthropic_usage`]; here the tokens of the prompt include those from the cache.
pub(crate) fn openai_usage(usage: &mut Usage, value: &Value) {
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    if let Some(prompt) = number("prompt_tokens") {
        let cached = value
            .get("prompt_tokens_details")
            .and_then(|details| details.get("cached_tokens"))
            .and_then(Value::as_u64)
            .unwrap_or(0)
            .min(prompt);
        usage.input_tokens = prompt - cached;
        usage.cache_read_tokens = cached;
    }
    if let Some(written) = number("completion_tokens") {
        usage.output_tokens = written;
    }
}
