//! The newest turns of a conversation that fit into the next prompt.

use foreword::{HistoryOmitted, estimate};
use foreword_protocol::Message;
use foreword_store::TurnMessages;

/// The part of a conversation that goes into the next turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    pub(crate) tokens: u64,
    pub(crate) omitted: Option<HistoryOmitted>,
}

/// A stored turn.
#[derive(Clone, Debug)]
pub(crate) struct PastTurn {
    stored: String,
    tokens: u64,
}

impl PastTurn {
    pub(crate) fn of(stored: TurnMessages) -> Self {
        Self { tokens: u64::from(estimate(&stored.messages)), stored: stored.messages }
    }

    /// Its messages; none if they cannot be parsed.
    fn messages(&self) -> Vec<Message> {
        serde_json::from_str(&self.stored).unwrap_or_default()
    }
}

impl History {
    /// The newest turns that fit into this many tokens. A turn fits as a whole or not at all.
    pub(crate) fn within(turns: Vec<PastTurn>, tokens: u64) -> Self {
        let mut left = tokens;
        let fitting = turns
            .iter()
            .rev()
            .take_while(|turn| match left.checked_sub(turn.tokens) {
                Some(rest) => {
                    left = rest;
                    true
                }
                None => false,
            })
            .count();
        let mut turns = turns;
        let kept = turns.split_off(turns.len() - fitting);
        let omitted = HistoryOmitted {
            turns: turns.len() as u64,
            tokens: turns.iter().map(|turn| turn.tokens).sum(),
        };
        Self {
            tokens: kept.iter().map(|turn| turn.tokens).sum(),
            messages: kept.iter().flat_map(PastTurn::messages).collect(),
            omitted: Some(omitted).filter(|omitted| omitted.turns > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(text: &str, tokens: u64) -> PastTurn {
        let messages = [Message::user(text), Message::assistant("ok")];
        PastTurn { stored: serde_json::to_string(&messages).unwrap(), tokens }
    }

    #[test]
    fn whole_turns_the_newest_first() {
        let turns = || vec![turn("one", 10), turn("two", 50), turn("three", 20)];
        let all = History::within(turns(), 80);
        assert_eq!((all.messages.len(), all.tokens, all.omitted), (6, 80, None));
        let some = History::within(turns(), 79);
        assert_eq!(some.messages.first().map(Message::text).as_deref(), Some("two"));
        assert_eq!(some.omitted, Some(HistoryOmitted { turns: 1, tokens: 10 }));
        // The oldest would fit, but a conversation has no holes.
        let newest = History::within(turns(), 40);
        assert_eq!(newest.messages.first().map(Message::text).as_deref(), Some("three"));
        assert_eq!(newest.omitted, Some(HistoryOmitted { turns: 2, tokens: 60 }));
        assert_eq!(History::within(turns(), 0).messages, []);
        assert_eq!(History::within(Vec::new(), 0).omitted, None);
    }
}
