//! Answers of Chat Completions.

use serde_json::Value;

use crate::model::answer::{Answer, StopReason, openai_usage, tool_input};
use crate::model::error::ProviderError;
use crate::model::message::Block;
use crate::model::stream::{Delta, MAX_BLOCKS, event_value, too_many_blocks};
use foreword::Usage;

/// An answer so far.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    started: bool,
    stopped: bool,
    text: String,
    calls: Vec<Call>,
    stop_reason: Option<StopReason>,
    usage: Usage,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    json: String,
    told: bool,
}

impl Parts {
    pub(crate) fn event(
        &mut self,
        data: &str,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ProviderError> {
        if self.stopped {
            return Ok(());
        }
        if data.trim() == "[DONE]" {
            self.stopped = true;
            return Ok(());
        }
        let event = event_value(data)?;
        if let Some(usage) = event.get("usage") {
            openai_usage(&mut self.usage, usage);
        }
        let Some(choice) = event.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(());
        };
        self.started = true;
        if let Some(delta) = choice.get("delta") {
            self.delta(delta, deltas)?;
        }
        if let Some(word) = choice.get("finish_reason").and_then(Value::as_str) {
            self.stop_reason = Some(StopReason::read(word));
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, deltas: &mut Vec<Delta>) -> Result<(), ProviderError> {
        for text in [text(delta, "content"), text(delta, "refusal")] {
            if !text.is_empty() {
                self.text.push_str(text);
                deltas.push(Delta::Text(text.to_owned()));
            }
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for written in calls.into_iter().flatten() {
            let function = written.get("function").unwrap_or(&Value::Null);
            let call =
                self.call(written.get("index").and_then(Value::as_u64), text(written, "id"))?;
            if call.id.is_empty() {
                text(written, "id").clone_into(&mut call.id);
            }
            // Some servers repeat the name with every piece.
            if call.name.is_empty() {
                text(function, "name").clone_into(&mut call.name);
            }
            call.json.push_str(text(function, "arguments"));
            if !call.told && !call.name.is_empty() && !call.id.is_empty() {
                call.told = true;
                deltas.push(Delta::ToolCall { id: call.id.clone(), name: call.name.clone() });
            }
        }
        Ok(())
    }

    /// The call a piece belongs to. Servers without indices begin a call with its id.
    fn call(&mut self, index: Option<u64>, id: &str) -> Result<&mut Call, ProviderError> {
        let found = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| call.id == id),
        };
        let at = match found {
            Some(at) => at,
            None if self.calls.len() >= MAX_BLOCKS => return Err(too_many_blocks()),
            None => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        self.calls.get_mut(at).ok_or_else(too_many_blocks)
    }

    pub(crate) fn finish(self) -> Result<Answer, ProviderError> {
        if !self.started {
            return Err(ProviderError::Garbage("it has no event of an answer".to_owned()));
        }
        let stop_reason = match self.stop_reason {
            Some(reason) => reason,
            None if self.stopped && self.calls.is_empty() => StopReason::EndTurn,
            None if self.stopped => StopReason::ToolUse,
            None => return Err(ProviderError::Truncated),
        };
        let calls = self.calls.into_iter().map(|call| (call.id, call.name, tool_input(&call.json)));
        Ok(answer(self.text, calls, stop_reason, self.usage))
    }
}

/// A whole answer.
pub(crate) fn whole(value: &Value) -> Result<Answer, ProviderError> {
    let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) else {
        return Err(ProviderError::Garbage("it has no `choices`".to_owned()));
    };
    let message = choice.get("message").unwrap_or(&Value::Null);
    let none = Vec::new();
    let calls = message.get("tool_calls").and_then(Value::as_array).unwrap_or(&none);
    if calls.len() > MAX_BLOCKS {
        return Err(too_many_blocks());
    }
    let mut usage = Usage::default();
    openai_usage(&mut usage, value.get("usage").unwrap_or(&Value::Null));
    let stop_reason = match choice.get("finish_reason").and_then(Value::as_str) {
        Some(word) => StopReason::read(word),
        None if calls.is_empty() => StopReason::EndTurn,
        None => StopReason::ToolUse,
    };
    let calls = calls.iter().map(|call| {
        let function = call.get("function").unwrap_or(&Value::Null);
        let input = match function.get("arguments") {
            Some(Value::Object(object)) => Value::Object(object.clone()),
            _ => tool_input(text(function, "arguments")),
        };
        (text(call, "id").to_owned(), text(function, "name").to_owned(), input)
    });
    let said = [text(message, "content"), text(message, "refusal")].concat();
    Ok(answer(said, calls, stop_reason, usage))
}

fn answer(
    text: String,
    calls: impl Iterator<Item = (String, String, Value)>,
    stop_reason: StopReason,
    usage: Usage,
) -> Answer {
    let mut blocks = Vec::new();
    if !text.is_empty() {
        blocks.push(Block::Text { text });
    }
    for (number, (id, name, input)) in calls.enumerate() {
        // A result needs an id to refer to.
        let id = if id.is_empty() { format!("call_{number}") } else { id };
        blocks.push(Block::ToolUse { id, name, input });
    }
    Answer { blocks, stop_reason, usage }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
