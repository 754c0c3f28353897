//! What answers say about themselves: usage, tools that were called, and whether they are complete.

use foreword::Usage;
use serde_json::Value;

use crate::report::Api;

/// The facts of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerFacts {
    pub(crate) usage: Option<Usage>,
    /// The names of the tools it calls.
    pub(crate) called: Vec<String>,
    /// What the provider says went wrong.
    pub(crate) error: Option<String>,
    /// Whether a stream has its last event; true for answers that are no streams.
    pub(crate) is_complete: bool,
}

/// Reads an answer, whole or streamed.
pub(crate) fn read_answer(api: Api, body: &str) -> AnswerFacts {
    let mut facts = AnswerFacts::default();
    let trimmed = body.trim_start();
    if let Ok(value) = serde_json::from_str::<Value>(trimmed) {
        facts.is_complete = true;
        // Gemini streams a list if it is not asked for events.
        match value {
            Value::Array(items) => items.iter().for_each(|item| facts.take(api, item)),
            value => facts.take(api, &value),
        }
        return facts;
    }
    for line in trimmed.lines() {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { continue };
        if data == "[DONE]" {
            facts.is_complete = true;
        } else if let Ok(event) = serde_json::from_str::<Value>(data) {
            facts.take(api, &event);
        }
    }
    facts
}

fn number(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path).and_then(Value::as_u64)
}

fn text(value: &Value, path: &str) -> Option<String> {
    value.pointer(path).and_then(Value::as_str).map(str::to_owned)
}

impl AnswerFacts {
    fn take(&mut self, api: Api, event: &Value) {
        let error =
            text(event, "/error/message").or_else(|| text(event, "/response/error/message"));
        if let Some(error) = error.or_else(|| text(event, "/error")) {
            self.error.get_or_insert(error);
        }
        match api {
            Api::AnthropicMessages => self.take_anthropic(event),
            Api::OpenaiChat => self.take_chat(event),
            Api::OpenaiResponses => self.take_responses(event),
            Api::GeminiGenerate => self.take_gemini(event),
        }
    }

    fn call(&mut self, name: Option<String>) {
        self.called.extend(name);
    }

    fn take_anthropic(&mut self, event: &Value) {
        let usage = event.get("usage").or_else(|| event.pointer("/message/usage"));
        if let Some(usage) = usage {
            let known = self.usage.get_or_insert_default();
            // A later event repeats some of the numbers and adds others.
            let mut set = |name: &str, field: fn(&mut Usage) -> &mut u64| {
                if let Some(number) = usage.get(name).and_then(Value::as_u64) {
                    *field(known) = number;
                }
            };
            set("input_tokens", |usage| &mut usage.input_tokens);
            set("output_tokens", |usage| &mut usage.output_tokens);
            set("cache_read_input_tokens", |usage| &mut usage.cache_read_tokens);
            set("cache_creation_input_tokens", |usage| &mut usage.cache_write_tokens);
        }
        let is_call = |block: &Value| {
            matches!(
                block.get("type").and_then(Value::as_str),
                Some("tool_use" | "server_tool_use")
            )
        };
        if let Some(block) = event.get("content_block").filter(|block| is_call(block)) {
            self.call(text(block, "/name"));
        }
        for block in event.get("content").and_then(Value::as_array).into_iter().flatten() {
            if is_call(block) {
                self.call(text(block, "/name"));
            }
        }
        self.is_complete |= event.get("type").is_some_and(|kind| kind == "message_stop");
    }

    fn take_chat(&mut self, event: &Value) {
        if let Some(prompt) = number(event, "/usage/prompt_tokens") {
            let cached = number(event, "/usage/prompt_tokens_details/cached_tokens").unwrap_or(0);
            self.usage = Some(Usage {
                input_tokens: prompt.saturating_sub(cached),
                output_tokens: number(event, "/usage/completion_tokens").unwrap_or(0),
                cache_read_tokens: cached,
                cache_write_tokens: 0,
            });
        }
        for choice in event.get("choices").and_then(Value::as_array).into_iter().flatten() {
            for message in [choice.get("message"), choice.get("delta")].into_iter().flatten() {
                let calls = message.get("tool_calls").and_then(Value::as_array);
                for call in calls.into_iter().flatten() {
                    self.call(text(call, "/function/name").filter(|name| !name.is_empty()));
                }
            }
        }
    }

    fn take_responses(&mut self, event: &Value) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_end =
            matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        self.is_complete |= is_end;
        // A whole answer, or the event that repeats it at the end.
        let response = if is_end { event.get("response") } else { Some(event) };
        let Some(response) = response else { return };
        if let Some(input) = number(response, "/usage/input_tokens") {
            let cached = number(response, "/usage/input_tokens_details/cached_tokens").unwrap_or(0);
            self.usage = Some(Usage {
                input_tokens: input.saturating_sub(cached),
                output_tokens: number(response, "/usage/output_tokens").unwrap_or(0),
                cache_read_tokens: cached,
                cache_write_tokens: 0,
            });
        }
        if kind == "response.output_item.done" {
            self.take_output_item(event.get("item"));
        } else if !is_end {
            for item in response.get("output").and_then(Value::as_array).into_iter().flatten() {
                self.take_output_item(Some(item));
            }
        }
    }

    fn take_output_item(&mut self, item: Option<&Value>) {
        let Some(item) = item else { return };
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind.ends_with("_call") {
            self.call(text(item, "/name").or_else(|| Some(kind.to_owned())));
        }
    }

    fn take_gemini(&mut self, event: &Value) {
        if let Some(prompt) = number(event, "/usageMetadata/promptTokenCount") {
            let cached = number(event, "/usageMetadata/cachedContentTokenCount").unwrap_or(0);
            let thoughts = number(event, "/usageMetadata/thoughtsTokenCount").unwrap_or(0);
            let written = number(event, "/usageMetadata/candidatesTokenCount").unwrap_or(0);
            self.usage = Some(Usage {
                input_tokens: prompt.saturating_sub(cached),
                output_tokens: written.saturating_add(thoughts),
                cache_read_tokens: cached,
                cache_write_tokens: 0,
            });
        }
        for candidate in event.get("candidates").and_then(Value::as_array).into_iter().flatten() {
            let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
            for part in parts.into_iter().flatten() {
                self.call(text(part, "/functionCall/name"));
            }
            self.is_complete |= candidate.get("finishReason").is_some();
        }
    }
}
