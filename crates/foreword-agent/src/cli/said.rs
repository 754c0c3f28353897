//! What was said in a turn, collected from the events of another program.

use foreword_protocol::{AgentEvent, Block, Content, Message, Role, StopReason, Usage};
use serde_json::Value;

use crate::error::AgentError;
use crate::events::Events;
use crate::output::cut;

/// The most bytes of a tool's answer that are kept.
const MAX_RESULT: usize = 256 << 10;

/// The messages so far; each is told as it comes.
pub(super) struct Said<'a, 'b> {
    events: &'a mut Events<'b>,
    messages: Vec<Message>,
    /// The names of the calls that wait for a result.
    calls: Vec<(String, String)>,
    /// Bytes of the current text that were told already.
    told: usize,
    pub(super) usage: Usage,
}

impl<'a, 'b> Said<'a, 'b> {
    pub(super) fn new(events: &'a mut Events<'b>) -> Self {
        let usage = Usage::default();
        Self { events, messages: Vec::new(), calls: Vec::new(), told: 0, usage }
    }

    /// A piece of a text, ahead of the whole.
    pub(super) fn piece(&mut self, text: &str) -> Result<(), AgentError> {
        self.told += text.len();
        self.events.text(text)
    }

    /// A whole text. What was told of it ahead is not told again.
    pub(super) fn text(&mut self, text: &str) -> Result<(), AgentError> {
        let told = std::mem::take(&mut self.told);
        if told == 0 {
            self.events.text(text)?;
        }
        if !text.is_empty() {
            self.push(Role::Assistant, Block::Text { text: text.to_owned() });
        }
        Ok(())
    }

    /// A call of a tool.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &Value) -> Result<(), AgentError> {
        let (id, name) = (id.to_owned(), name.to_owned());
        self.events.emit(&AgentEvent::ToolCall {
            id: id.clone(),
            name: name.clone(),
            input: input.clone(),
        })?;
        self.calls.push((id.clone(), name.clone()));
        self.push(Role::Assistant, Block::ToolUse { id, name, input: input.clone() });
        Ok(())
    }

    /// The result of a call.
    pub(super) fn result(
        &mut self,
        id: &str,
        text: String,
        is_error: bool,
    ) -> Result<(), AgentError> {
        let Some(at) = self.calls.iter().position(|(call, _)| call == id) else {
            return Ok(());
        };
        let (id, name) = self.calls.swap_remove(at);
        let content = cut(text, MAX_RESULT);
        self.events.emit(&AgentEvent::ToolResult {
            id: id.clone(),
            name,
            content: content.clone(),
            is_error,
        })?;
        self.push(Role::User, Block::ToolResult { tool_use_id: id, content, is_error });
        Ok(())
    }

    /// The last event of the turn.
    pub(super) fn done(self, stop_reason: StopReason) -> AgentEvent {
        AgentEvent::Done { messages: self.messages, stop_reason, usage: self.usage }
    }

    fn push(&mut self, role: Role, block: Block) {
        match self.messages.last_mut() {
            Some(Message { role: last, content: Content::Blocks(blocks) }) if *last == role => {
                blocks.push(block);
            }
            _ => self.messages.push(Message { role, content: Content::Blocks(vec![block]) }),
        }
    }
}

/// The text of a content: a string, or blocks with texts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
