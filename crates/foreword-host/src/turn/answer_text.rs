//! Texts inside messages and tool arguments, and the blank lines between the steps of an answer.

use foreword_protocol::{Block, Content, Message};
use serde_json::Value;

pub(super) fn each_text(message: &mut Message, change: &mut dyn FnMut(&mut String)) {
    match &mut message.content {
        Content::Text(text) => change(text),
        Content::Blocks(blocks) => {
            for block in blocks {
                match block {
                    Block::Text { text } => change(text),
                    Block::ToolResult { content, .. } => change(content),
                    Block::ToolUse { input, .. } => each_string(input, change),
                }
            }
        }
    }
}

pub(super) fn each_string(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_string(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_string(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Separates the text of one step from that of the next.
#[derive(Default)]
pub(super) struct StepSeparator {
    /// Whether the last text left its line unfinished.
    is_line_open: bool,
    /// Whether the answer ends with a separator.
    pub(super) is_separated: bool,
}

impl StepSeparator {
    pub(super) fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.is_line_open = !text.ends_with('\n');
            self.is_separated = false;
        }
    }

    /// What ends the text of a step.
    pub(super) fn end_step(&mut self) -> &'static str {
        if !std::mem::take(&mut self.is_line_open) {
            return "";
        }
        self.is_separated = true;
        "\n\n"
    }
}
