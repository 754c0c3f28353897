//! What an agent tells its host on standard output, one JSON object a line.

use crate::model::{Message, StopReason};
use foreword::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that happened in the agent's loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// The prompt is rendered.
    Prompt {
        /// The digest of its text.
        digest: String,
    },
    /// The model says something.
    Text {
        /// The next piece.
        text: String,
    },
    /// The model calls a tool.
    ToolCall {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with.
        input: Value,
    },
    /// A tool answered.
    ToolResult {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// The answer, as the model sees it.
        content: String,
        /// Did it fail?
        is_error: bool,
    },
    /// Large results of the turn were shortened, so that the next request fits into the window.
    Shortened {
        /// How many.
        results: u64,
        /// Tokens of the conversation before.
        tokens_before: u64,
        /// And after.
        tokens_after: u64,
    },
    /// The turn is over.
    Done {
        /// What was said after the person's message: the model's messages and the results of tools.
        messages: Vec<Message>,
        /// Why the turn ended.
        stop_reason: StopReason,
        /// Tokens of all calls of the turn.
        usage: Usage,
    },
    /// The turn failed.
    Error {
        /// What went wrong, and what to do.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stop_reasons_keep_their_words() {
        for (word, reason) in [
            ("end_turn", StopReason::EndTurn),
            ("tool_use", StopReason::ToolUse),
            ("max_tokens", StopReason::MaxTokens),
            ("max_steps", StopReason::MaxSteps),
            ("refusal", StopReason::Refusal),
            ("pause_turn", StopReason::Other("pause_turn".into())),
        ] {
            let done = json!({"type": "done", "messages": [], "stopReason": word, "usage": {}});
            let event: AgentEvent = serde_json::from_value(done).unwrap();
            assert!(
                matches!(&event, AgentEvent::Done { stop_reason, .. } if *stop_reason == reason)
            );
            assert_eq!(serde_json::to_value(&event).unwrap()["stopReason"], word);
        }
    }
}
