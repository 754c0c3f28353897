//! What was said and done in a turn so far, for a turn that does not come to its own end.

use foreword_protocol::{Block, Content, Message, Role};
use serde_json::Value;

/// The most bytes of calls and results that are kept.
const MAX_BYTES: usize = 4 << 20;
/// The result of a call that was under way.
const UNANSWERED: &str =
    "[The turn ended while this call was running. It may or may not have taken effect.]";
/// Stands for a result of a long turn.
const NOT_KEPT: &str = "[This result was not kept.]";

/// The messages of a turn, written down as its agent reports them.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    said: Vec<(Role, Vec<Block>)>,
    /// Calls without a result.
    open: Vec<String>,
    bytes: usize,
}

impl Transcript {
    /// The model said something.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.push(Role::Assistant, Block::Text { text: text.to_owned() });
    }

    /// The model called a tool.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &Value) {
        let size = input.to_string().len();
        let (id, name) = (id.to_owned(), name.to_owned());
        let input =
            if self.takes(size) { input.clone() } else { Value::Object(Default::default()) };
        self.open.push(id.clone());
        self.push(Role::Assistant, Block::ToolUse { id, name, input });
    }

    /// A tool answered.
    pub(super) fn result(&mut self, id: &str, content: &str, is_error: bool) {
        self.open.retain(|open| open != id);
        let kept = if self.takes(content.len()) { content } else { NOT_KEPT };
        let (tool_use_id, content) = (id.to_owned(), kept.to_owned());
        self.push(Role::User, Block::ToolResult { tool_use_id, content, is_error });
    }

    /// The messages for the turns that follow, with a note on why they end here.
    pub(super) fn end(mut self, note: &str) -> Vec<Message> {
        for tool_use_id in std::mem::take(&mut self.open) {
            let content = UNANSWERED.to_owned();
            self.push(Role::User, Block::ToolResult { tool_use_id, content, is_error: true });
        }
        let last = self.said.last().and_then(|(_, blocks)| blocks.last());
        let is_after_text = matches!(last, Some(Block::Text { .. }));
        self.text(&if is_after_text { format!("\n\n{note}") } else { note.to_owned() });
        let message = |(role, blocks)| Message { role, content: Content::Blocks(blocks) };
        self.said.into_iter().map(message).collect()
    }

    fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.bytes.saturating_add(bytes) <= MAX_BYTES;
        self.bytes += if fits { bytes } else { 0 };
        fits
    }

    /// Adds a block to what a side is saying.
    fn push(&mut self, by: Role, block: Block) {
        match self.said.last_mut() {
            Some((role, blocks)) if *role == by => match (blocks.last_mut(), block) {
                (Some(Block::Text { text }), Block::Text { text: more }) => text.push_str(&more),
                (_, block) => blocks.push(block),
            },
            _ => self.said.push((by, vec![block])),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_turn_is_told_up_to_the_point_where_it_ended() {
        let mut turn = Transcript::default();
        turn.text("I look ");
        turn.text("around.");
        turn.call("1", "list", &json!({"path": "."}));
        turn.result("1", "a.txt", false);
        turn.call("2", "bash", &json!({"command": "sleep 9"}));
        let told = serde_json::to_value(turn.end("[Ended.]")).unwrap();
        assert_eq!(
            told,
            json!([
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look around."},
                    {"type": "tool_use", "id": "1", "name": "list", "input": {"path": "."}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": "a.txt"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "2", "name": "bash", "input": {"command": "sleep 9"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "2", "content": UNANSWERED, "is_error": true}]},
                {"role": "assistant", "content": [{"type": "text", "text": "[Ended.]"}]},
            ])
        );
        let mut text = Transcript::default();
        text.text("So far");
        assert_eq!(text.end("[Ended.]").first().map(Message::text).unwrap(), "So far\n\n[Ended.]");
        assert_eq!(Transcript::default().end("[Ended.]").len(), 1);
    }

    #[test]
    fn a_long_turn_keeps_what_fits() {
        let mut turn = Transcript::default();
        let long = "x".repeat(MAX_BYTES / 2);
        for id in ["1", "2", "3"] {
            turn.call(id, "read", &json!({}));
            turn.result(id, &long, false);
        }
        let told = serde_json::to_string(&turn.end("[Ended.]")).unwrap();
        assert!(told.len() < MAX_BYTES + 10_000 && told.contains(NOT_KEPT));
    }
}
