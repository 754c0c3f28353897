//! Keeping the conversation of one turn below the model's window.
//!
//! Every result of a tool stays in the conversation, so a turn with many calls grows without end. Before a
//! request would fill more than its share of the window, the oldest large results of the turn are
//! shortened, many at once: what lies before the newest messages then keeps its bytes for many calls, and
//! the provider's cache holds. Calls and their results stay together, and the turn reports all results as
//! they were.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foreword::estimate;
use foreword_protocol::{
    Block, Content, ConversationRoom, Message, Reading, left_out_note, shorten_result_to,
};
use serde_json::Value;

/// The tool that reads a shortened result again.
pub(crate) const RESULT_READ: &str = "result_read";

/// What was shortened to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortened {
    pub(crate) results: u64,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
}

/// The messages of a turn, with those that are sent shortened.
#[derive(Debug)]
pub(crate) struct Messages {
    all: Vec<Message>,
    /// Where this turn begins; what is before is the host's to shorten.
    own: usize,
    turn: u64,
    room: Option<ConversationRoom>,
    reading: Reading,
    /// Shortened results, by message and block.
    short: BTreeMap<(usize, usize), Short>,
    /// The tokens of each message as it is sent.
    tokens: Vec<u64>,
}

#[derive(Debug)]
struct Short {
    text: String,
    /// Whether more of it stays than of an old result, because the model had not read it.
    is_partial: bool,
    /// Whether only a note stays.
    is_left_out: bool,
}

impl Messages {
    /// Those of a turn that begins with the last of them.
    pub(crate) fn new(
        all: Vec<Message>,
        turn: u64,
        room: Option<ConversationRoom>,
        reading: Reading,
    ) -> Self {
        let tokens = all.iter().map(tokens_of).collect();
        Self { own: all.len(), all, turn, room, reading, short: BTreeMap::new(), tokens }
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.tokens.push(tokens_of(&message));
        self.all.push(message);
    }

    /// The messages as the model gets them.
    pub(crate) fn sent(&self) -> Cow<'_, [Message]> {
        if self.short.is_empty() {
            return Cow::Borrowed(&self.all);
        }
        let mut sent = self.all.clone();
        for ((message, block), short) in &self.short {
            if let Some(content) = sent.get_mut(*message).and_then(|it| result_in(it, *block)) {
                content.clone_from(&short.text);
            }
        }
        Cow::Owned(sent)
    }

    /// What was said in this turn, with all results as they were.
    pub(crate) fn into_own(mut self) -> Vec<Message> {
        self.all.split_off(self.own)
    }

    /// What a call of `result_read` asks for, if it is a result of this turn.
    pub(crate) fn read_again(&self, tool: &str, input: &Value) -> Option<&str> {
        let is_own = input.get("turn").and_then(Value::as_u64) == Some(self.turn);
        let id = input.get("id").and_then(Value::as_str);
        id.filter(|_| is_own && tool == RESULT_READ).and_then(|id| self.result(id))
    }

    /// A result of this turn as it was.
    fn result(&self, id: &str) -> Option<&str> {
        self.all.iter().skip(self.own).rev().find_map(|message| {
            let Content::Blocks(blocks) = &message.content else { return None };
            blocks.iter().find_map(|block| match block {
                Block::ToolResult { tool_use_id, content, .. } if tool_use_id == id => {
                    Some(content.as_str())
                }
                _ => None,
            })
        })
    }

    /// Shortens results if the next request would fill more than its share of the window.
    ///
    /// The results of the last message, which the model has not read yet, are shortened only where the
    /// request would not fit into the window at all.
    pub(crate) fn make_room(&mut self) -> Option<Shortened> {
        let room = self.room?;
        let before = self.total();
        if before <= room.compact_at {
            return None;
        }
        let last = self.all.len().saturating_sub(1);
        let results = self.shorten_old(self.own..last, room.compact_at / 2)
            + self.shorten_new(last, room.most)
            + self.leave_out(self.own..last, room.compact_at);
        let tokens_after = self.total();
        (results > 0).then_some(Shortened { results, tokens_before: before, tokens_after })
    }

    fn total(&self) -> u64 {
        self.tokens.iter().sum()
    }

    /// Shortens results in these messages, the oldest first, until all have at most so many tokens.
    fn shorten_old(&mut self, messages: std::ops::Range<usize>, goal: u64) -> u64 {
        let mut count = 0;
        for at in messages {
            for block in self.large_results(at) {
                if self.total() <= goal {
                    return count;
                }
                count += u64::from(self.shorten((at, block), 0));
            }
        }
        count
    }

    /// Leaves the oldest shortened results out but for a note, if all together are still too much.
    fn leave_out(&mut self, messages: std::ops::Range<usize>, most: u64) -> u64 {
        if self.total() <= most {
            return 0;
        }
        let (mut total, mut count) = (self.total(), 0);
        for ((at, block), short) in &mut self.short {
            if total <= most / 4 * 3 {
                break;
            }
            let Some(Message { content: Content::Blocks(blocks), .. }) = self.all.get(*at) else {
                continue;
            };
            let Some(Block::ToolResult { tool_use_id, .. }) = blocks.get(*block) else { continue };
            if !messages.contains(at) || short.is_left_out {
                continue;
            }
            let note = left_out_note(self.turn, tool_use_id, self.reading);
            let saved = u64::from(estimate(&short.text).saturating_sub(estimate(&note)));
            total = total.saturating_sub(saved);
            if let Some(tokens) = self.tokens.get_mut(*at) {
                *tokens = tokens.saturating_sub(saved);
            }
            *short = Short { text: note, is_partial: false, is_left_out: true };
            count += 1;
        }
        count
    }

    /// Shortens results of a message, the largest first, by as much as does not fit.
    fn shorten_new(&mut self, at: usize, most: u64) -> u64 {
        let mut blocks = self.large_results(at);
        let size = |block: &usize| self.content((at, *block)).map_or(0, str::len);
        blocks.sort_by_key(|block| std::cmp::Reverse(size(block)));
        let mut count = 0;
        for block in blocks {
            let Some(excess) = self.total().checked_sub(most).filter(|excess| *excess > 0) else {
                return count;
            };
            let tokens =
                self.content((at, block)).map_or(0, |content| u64::from(estimate(content)));
            count += u64::from(self.shorten((at, block), tokens.saturating_sub(excess)));
        }
        count
    }

    /// The results in a message that are not shortened yet, or not as far as old ones are.
    fn large_results(&self, at: usize) -> Vec<usize> {
        let Some(Message { content: Content::Blocks(blocks), .. }) = self.all.get(at) else {
            return Vec::new();
        };
        let results = blocks.iter().enumerate();
        let results = results.filter(|(_, block)| matches!(block, Block::ToolResult { .. }));
        let results = results.map(|(block, _)| block);
        let is_long = |block: &usize| self.short.get(&(at, *block)).is_none_or(|it| it.is_partial);
        results.filter(is_long).collect()
    }

    fn content(&self, (at, block): (usize, usize)) -> Option<&str> {
        let Content::Blocks(blocks) = &self.all.get(at)?.content else { return None };
        match blocks.get(block)? {
            Block::ToolResult { content, .. } => Some(content),
            _ => None,
        }
    }

    /// Shortens a result to what fits into these tokens; whether it is large enough for that.
    fn shorten(&mut self, key: (usize, usize), room: u64) -> bool {
        let (at, block) = key;
        let Some(Message { content: Content::Blocks(blocks), .. }) = self.all.get(at) else {
            return false;
        };
        let Some(Block::ToolResult { tool_use_id, content, .. }) = blocks.get(block) else {
            return false;
        };
        let (turn, reading) = (self.turn, self.reading);
        let Some(text) = shorten_result_to(turn, tool_use_id, content, reading, room) else {
            return false;
        };
        let before = self.short.get(&key).map_or(content.as_str(), |short| short.text.as_str());
        let saved = u64::from(estimate(before).saturating_sub(estimate(&text)));
        if let Some(tokens) = self.tokens.get_mut(at) {
            *tokens = tokens.saturating_sub(saved);
        }
        self.short.insert(key, Short { text, is_partial: room > 0, is_left_out: false });
        true
    }
}

fn result_in(message: &mut Message, block: usize) -> Option<&mut String> {
    let Content::Blocks(blocks) = &mut message.content else { return None };
    match blocks.get_mut(block)? {
        Block::ToolResult { content, .. } => Some(content),
        _ => None,
    }
}

fn tokens_of(message: &Message) -> u64 {
    u64::from(estimate(&serde_json::to_string(message).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_protocol::Role;

    fn step(messages: &mut Messages, number: usize, words: usize) {
        let id = format!("call-{number}");
        let input = serde_json::json!({ "path": "a.txt" });
        let call = Block::ToolUse { id: id.clone(), name: "read".to_owned(), input };
        messages.push(Message { role: Role::Assistant, content: Content::Blocks(vec![call]) });
        let content = format!("result {number}\n{}", "some words of a file\n".repeat(words));
        let result = Block::ToolResult { tool_use_id: id, content, is_error: false };
        messages.push(Message { role: Role::User, content: Content::Blocks(vec![result]) });
    }

    fn with(compact_at: u64, most: u64) -> Messages {
        let room = Some(ConversationRoom { compact_at, most });
        Messages::new(vec![Message::user("look")], 7, room, Reading::Offered)
    }

    #[test]
    fn a_long_turn_stays_below_its_limit_and_reports_all_results_as_they_were() {
        let mut messages = with(6000, 8000);
        let mut compactions = 0;
        let mut whole = 0;
        for number in 0..30 {
            step(&mut messages, number, 200);
            compactions += u32::from(messages.make_room().is_some());
            let sent = messages.sent();
            let tokens: u64 = sent.iter().map(tokens_of).sum();
            assert!(tokens <= 8000, "{number}: {tokens}");
            // The newest result is not shortened, and every call has its result.
            let newest = serde_json::to_string(sent.last().unwrap()).unwrap();
            assert!(!newest.contains("shortened by"), "{newest}");
            assert_eq!(sent.len(), 1 + 2 * (number + 1));
            whole = sent.len();
        }
        assert!((2..=20).contains(&compactions), "in steps, not with every call: {compactions}");
        assert!(messages.result("call-3").unwrap().len() > 4000);
        let first = serde_json::to_string(&messages.sent()[2]).unwrap();
        assert!(first.contains("result_read"), "{first}");
        let own = messages.into_own();
        assert_eq!(own.len(), whole - 1);
        assert!(!serde_json::to_string(&own).unwrap().contains("shortened by"));
    }

    #[test]
    fn new_results_are_shortened_only_if_the_window_has_no_room_for_them() {
        let mut messages = with(500, 20_000);
        step(&mut messages, 0, 1000);
        assert_eq!(messages.make_room(), None);
        let mut messages = with(500, 2000);
        step(&mut messages, 0, 1000);
        let shortened = messages.make_room().unwrap();
        assert_eq!(shortened.results, 1);
        assert!(
            (1500..=2000).contains(&shortened.tokens_after),
            "as little as needed: {shortened:?}"
        );
        assert!(matches!(messages.sent(), Cow::Owned(_)));
        // Once the model has read it, it is old.
        step(&mut messages, 1, 5);
        let shortened = messages.make_room().unwrap();
        assert!(shortened.results == 1 && shortened.tokens_after < 700, "{shortened:?}");
    }
}
