//! Answers of Anthropic Messages.

use serde_json::Value;

use crate::model::answer::{Answer, StopReason, anthropic_usage, tool_input};
use crate::model::error::ProviderError;
use crate::model::message::Block;
use crate::model::stream::{Delta, MAX_BLOCKS, event_value, too_many_blocks};
use foreword::Usage;

/// An answer so far.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    started: bool,
    stopped: bool,
    /// With their numbers, which grow.
    blocks: Vec<(u64, Partial)>,
    stop_reason: Option<StopReason>,
    usage: Usage,
}

#[derive(Debug)]
enum Partial {
    Text(String),
    Tool {
        id: String,
        name: String,
        json: String,
        input: Option<Value>,
    },
    /// Thinking and the like, which is not kept.
    Other,
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
        let event = event_value(data)?;
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match text(&event, "type") {
            "message_start" => {
                self.started = true;
                if let Some(usage) = event.get("message").and_then(|message| message.get("usage")) {
                    anthropic_usage(&mut self.usage, usage);
                }
            }
            "content_block_start" => {
                self.started = true;
                if self.blocks.len() >= MAX_BLOCKS {
                    return Err(too_many_blocks());
                }
                // What was told cannot be taken back: a part begins once, after those before it.
                if self.blocks.last().is_some_and(|(last, _)| *last >= index) {
                    return Err(out_of_order());
                }
                let block = event.get("content_block").unwrap_or(&Value::Null);
                let partial = match text(block, "type") {
                    "text" => {
                        say(text(block, "text"), deltas);
                        Partial::Text(text(block, "text").to_owned())
                    }
                    "tool_use" => {
                        let (id, name) =
                            (text(block, "id").to_owned(), text(block, "name").to_owned());
                        deltas.push(Delta::ToolCall { id: id.clone(), name: name.clone() });
                        let input = block.get("input").filter(|input| !is_empty(input)).cloned();
                        Partial::Tool { id, name, json: String::new(), input }
                    }
                    _ => Partial::Other,
                };
                self.blocks.push((index, partial));
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                let last = self.blocks.last().is_some_and(|(last, _)| *last == index);
                let block = self.blocks.iter_mut().rfind(|(known, _)| *known == index);
                match (block.map(|(_, block)| block), text(delta, "type")) {
                    (Some(Partial::Text(_)), "text_delta") if !last => return Err(out_of_order()),
                    (Some(Partial::Text(all)), "text_delta") => {
                        all.push_str(text(delta, "text"));
                        say(text(delta, "text"), deltas);
                    }
                    (Some(Partial::Tool { json, .. }), "input_json_delta") => {
                        json.push_str(text(delta, "partial_json"));
                    }
                    _ => {}
                }
            }
            "message_delta" => {
                if let Some(word) =
                    event.get("delta").and_then(|delta| delta.get("stop_reason")?.as_str())
                {
                    self.stop_reason = Some(StopReason::read(word));
                }
                if let Some(usage) = event.get("usage") {
                    anthropic_usage(&mut self.usage, usage);
                }
            }
            "message_stop" => self.stopped = true,
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Answer, ProviderError> {
        if !self.started && !self.stopped {
            return Err(ProviderError::Garbage("it has no event of an answer".to_owned()));
        }
        let stop_reason = match self.stop_reason {
            Some(reason) => reason,
            None if self.stopped => StopReason::EndTurn,
            None => return Err(ProviderError::Truncated),
        };
        let blocks = self
            .blocks
            .into_iter()
            .filter_map(|(_, partial)| match partial {
                Partial::Text(text) => (!text.is_empty()).then_some(Block::Text { text }),
                Partial::Tool { id, name, json, input } => {
                    let input = input.filter(|_| json.is_empty());
                    let input = input.unwrap_or_else(|| tool_input(&json));
                    Some(Block::ToolUse { id, name, input })
                }
                Partial::Other => None,
            })
            .collect();
        Ok(Answer { blocks, stop_reason, usage: self.usage })
    }
}

/// A whole answer.
pub(crate) fn whole(value: &Value) -> Result<Answer, ProviderError> {
    let Some(content) = value.get("content").and_then(Value::as_array) else {
        return Err(ProviderError::Garbage("it has no `content`".to_owned()));
    };
    if content.len() > MAX_BLOCKS {
        return Err(too_many_blocks());
    }
    let blocks = content
        .iter()
        .filter_map(|block| match text(block, "type") {
            "text" if text(block, "text").is_empty() => None,
            "text" => Some(Block::Text { text: text(block, "text").to_owned() }),
            "tool_use" => Some(Block::ToolUse {
                id: text(block, "id").to_owned(),
                name: text(block, "name").to_owned(),
                input: match block.get("input") {
                    None | Some(Value::Null) => tool_input(""),
                    Some(input) if input.is_object() => input.clone(),
                    Some(input) => Value::String(input.to_string()),
                },
            }),
            _ => None,
        })
        .collect();
    let mut usage = Usage::default();
    anthropic_usage(&mut usage, value.get("usage").unwrap_or(&Value::Null));
    let stop_reason = match text(value, "stop_reason") {
        "" => StopReason::EndTurn,
        word => StopReason::read(word),
    };
    Ok(Answer { blocks, stop_reason, usage })
}

fn out_of_order() -> ProviderError {
    ProviderError::Garbage("its parts are out of order".to_owned())
}

fn say(text: &str, deltas: &mut Vec<Delta>) {
    if !text.is_empty() {
        deltas.push(Delta::Text(text.to_owned()));
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_none_or(serde_json::Map::is_empty)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
