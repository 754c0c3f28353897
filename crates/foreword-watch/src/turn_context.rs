//! Where the turn context of a prompt stands in a request.
//!
//! It changes with every turn, so everything behind it is read again. Its place is in front of the newest
//! user message; frameworks that let nobody write there may put it behind the system prompt.

use serde::Serialize;

use crate::report::Region;
use crate::wire::{PartKind, RequestPart};

/// Where the turn context of a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TurnContextPlace {
    /// In front of the newest user message.
    BeforeUserMessage,
    /// Behind the newest user message.
    AfterUserMessage,
    /// Behind the system prompt, where no cache mark covers it. The system prompt stays cached; the
    /// conversation is read again.
    AfterSystemPrompt,
    /// In front of text that stays the same between turns, which is read again because of it.
    InCachedPrefix,
    /// Not in the request byte for byte.
    Missing,
}

impl TurnContextPlace {
    /// Whether the prompt in front of it can be cached.
    #[must_use]
    pub fn is_right(self) -> bool {
        !matches!(self, Self::InCachedPrefix | Self::Missing)
    }
}

/// Finds the turn context. `prompt_end` is where the system prompt ends in the text of the system region, if
/// it is there.
pub(crate) fn find(
    parts: &[RequestPart],
    turn_context: &str,
    prompt_end: Option<usize>,
) -> TurnContextPlace {
    let messages: Vec<&RequestPart> =
        parts.iter().filter(|part| part.region == Region::Messages).collect();
    match messages.iter().rposition(|part| part.text.contains(turn_context)) {
        Some(at) => in_messages(&messages, at, turn_context),
        None => in_system(parts, turn_context, prompt_end),
    }
}

fn in_messages(messages: &[&RequestPart], at: usize, turn_context: &str) -> TurnContextPlace {
    // What the user wrote is all text of theirs beside the turn context itself.
    let newest = messages.iter().rposition(|part| {
        part.kind == PartKind::User && !part.text.replacen(turn_context, "", 1).trim().is_empty()
    });
    let Some(newest) = newest else { return TurnContextPlace::BeforeUserMessage };
    match at.cmp(&newest) {
        std::cmp::Ordering::Greater => TurnContextPlace::AfterUserMessage,
        std::cmp::Ordering::Equal => {
            let text = messages.get(at).map_or("", |part| part.text.as_str());
            let behind = text.rsplit_once(turn_context).map_or("", |(_, behind)| behind);
            if behind.trim().is_empty() {
                TurnContextPlace::AfterUserMessage
            } else {
                TurnContextPlace::BeforeUserMessage
            }
        }
        std::cmp::Ordering::Less => {
            let between = messages.get(at..newest).unwrap_or_default();
            if between.iter().all(|part| matches!(part.kind, PartKind::User | PartKind::System)) {
                TurnContextPlace::BeforeUserMessage
            } else {
                TurnContextPlace::InCachedPrefix
            }
        }
    }
}

fn in_system(
    parts: &[RequestPart],
    turn_context: &str,
    prompt_end: Option<usize>,
) -> TurnContextPlace {
    let system = || {
        let own = parts.iter().filter(|part| part.region == Region::System);
        own.filter(|part| part.kind != PartKind::Transport)
    };
    let text: String = system().map(|part| part.text.as_str()).collect();
    let Some(at) = text.rfind(turn_context) else { return TurnContextPlace::Missing };
    let mut end = 0;
    let is_marked = system().any(|part| {
        end += part.text.len();
        part.cache_mark && end > at
    });
    if prompt_end.is_some_and(|prompt_end| prompt_end <= at) && !is_marked {
        TurnContextPlace::AfterSystemPrompt
    } else {
        TurnContextPlace::InCachedPrefix
    }
}
