//! Which calls belong together.
//!
//! Programs do not say which conversation a call belongs to. A call continues the one whose latest call it
//! shares the most messages with, apart from their prompts, because the prompt is what may have changed. If
//! it continues none, it may still share a prompt with one, which could be cached as well.

use std::collections::BTreeSet;

use super::compare::{Comparison, Relation, cached_parts, compare};
use crate::report::Region;
use crate::wire::ModelRequest;

/// Conversations that are remembered. With more, the one without a call for the longest time is forgotten.
const MAX_CONVERSATIONS: usize = 64;
/// Bytes of requests that are remembered.
const MAX_BYTES: usize = 256 << 20;
/// Messages shorter than this are shared by accident.
const MIN_SHARED_TEXT: usize = 32;
/// The share of lines of a prompt that makes it the same prompt, changed.
const SAME_PROMPT: f64 = 0.5;

/// The latest call of every conversation, as it was sent.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    latest: Vec<Latest>,
    count: usize,
}

#[derive(Debug)]
struct Latest {
    conversation: usize,
    call: usize,
    request: ModelRequest,
    bytes: usize,
}

/// Where a call belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) conversation: usize,
    /// Absent for a call that follows no other.
    pub(crate) comparison: Option<Comparison>,
}

impl Conversations {
    /// Finds the conversation of a call, and remembers the call.
    pub(crate) fn place(&mut self, call: usize, request: ModelRequest) -> Placed {
        let continued = self
            .latest
            .iter()
            .enumerate()
            .filter_map(|(at, latest)| Some((shared_messages(&latest.request, &request)?, at)))
            .max();
        let bytes = request.parts.iter().map(|part| part.text.len()).sum();
        if let Some(latest) = continued.and_then(|(_, at)| self.latest.get_mut(at)) {
            let found = compare(latest.call, Relation::Continues, &latest.request, &request);
            (latest.call, latest.request, latest.bytes) = (call, request, bytes);
            let conversation = latest.conversation;
            self.forget();
            return Placed { conversation, comparison: Some(found) };
        }
        let similar = self
            .latest
            .iter()
            .filter(|latest| {
                latest.request.api == request.api && latest.request.model == request.model
            })
            .filter(|latest| prompt_similarity(&latest.request, &request) >= SAME_PROMPT)
            .max_by_key(|latest| latest.call);
        let comparison = similar.map(|latest| {
            compare(latest.call, Relation::SharesPrompt, &latest.request, &request)
        });
        let conversation = self.count;
        self.count += 1;
        self.latest.push(Latest { conversation, call, request, bytes });
        self.forget();
        Placed { conversation, comparison }
    }

    fn forget(&mut self) {
        let bytes = |all: &[Latest]| all.iter().map(|latest| latest.bytes).sum::<usize>();
        while self.latest.len() > 1
            && (self.latest.len() > MAX_CONVERSATIONS || bytes(&self.latest) > MAX_BYTES)
        {
            let oldest = self.latest.iter().enumerate().min_by_key(|(_, latest)| latest.call);
            let Some((at, _)) = oldest else { return };
            self.latest.remove(at);
        }
    }
}

/// How many messages two calls share; `None` if the later one does not continue the earlier.
fn shared_messages(earlier: &ModelRequest, later: &ModelRequest) -> Option<usize> {
    if earlier.api != later.api {
        return None;
    }
    let messages = |request: &ModelRequest| -> Vec<String> {
        let parts = cached_parts(request).into_iter();
        let parts = parts.filter(|part| part.region == Region::Messages);
        parts.map(|part| part.text.clone()).collect()
    };
    let (old, new) = (messages(earlier), messages(later));
    let from_start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let long = |texts: &[String]| -> BTreeSet<String> {
        texts.iter().filter(|text| text.len() >= MIN_SHARED_TEXT).cloned().collect()
    };
    let (old_long, new_long) = (long(&old), long(&new));
    let anywhere = old_long.intersection(&new_long).count();
    let similar = || prompt_similarity(earlier, later);
    // The first message alone may be a greeting that every conversation starts with.
    let grew = new.len() > old.len();
    let continues = from_start >= 2
        || (from_start == 1 && (grew || old.len() > 1) && similar() >= SAME_PROMPT)
        || (anywhere >= 1 && anywhere * 2 >= old_long.len() && similar() >= SAME_PROMPT);
    continues.then_some(from_start.max(anywhere))
}

/// The share of lines that two prompts have in common, of the longer one; 0 if there is no prompt.
fn prompt_similarity(one: &ModelRequest, other: &ModelRequest) -> f64 {
    let lines = |request: &ModelRequest| -> BTreeSet<String> {
        let parts = cached_parts(request).into_iter();
        let parts = parts.filter(|part| part.region != Region::Messages);
        // A prompt of one line is compared by its words.
        let texts: Vec<String> = parts.map(|part| part.text.clone()).collect();
        let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty());
        let lines: BTreeSet<String> = lines.map(str::to_owned).collect();
        if lines.len() > 3 {
            return lines;
        }
        texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
    };
    let (one, other) = (lines(one), lines(other));
    let longer = one.len().max(other.len());
    if longer == 0 {
        return 0.0;
    }
    let common = one.intersection(&other).count();
    as_f64(common) / as_f64(longer)
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines are far below 2^53")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::read_request;

    fn request(system: &str, messages: &[&str]) -> ModelRequest {
        let messages: Vec<_> = messages
            .iter()
            .map(|text| serde_json::json!({"role": "user", "content": text}))
            .collect();
        let body = serde_json::json!({"model": "claude", "system": system, "messages": messages});
        read_request(None, "", &body.to_string()).unwrap()
    }

    #[test]
    fn two_conversations_that_take_turns_stay_apart() {
        let mut all = Conversations::default();
        let mut place = |call, system: &str, messages: &[&str]| {
            let placed = all.place(call, request(system, messages));
            let comparison = placed.comparison.map(|found| (found.previous, found.relation));
            (placed.conversation, comparison)
        };
        let system = "You are a coding agent.\nBe brief.\nUse tools.\nAsk.";
        let other = "You title conversations in five words";
        assert_eq!(place(1, system, &["Fix the failing test, please, it is red"]), (0, None));
        assert_eq!(place(2, other, &["Fix the failing test, please, it is red"]), (1, None));
        let continues = Some((1, Relation::Continues));
        assert_eq!(
            place(3, system, &["Fix the failing test, please, it is red", "ok", "go"]),
            (0, continues)
        );
        let shares = Some((3, Relation::SharesPrompt));
        assert_eq!(place(4, system, &["Write the changelog of the next release"]), (2, shares));
        let clock = "You are a coding agent.\nBe brief.\nUse tools.\nAsk. It is 12:00";
        let continues = Some((3, Relation::Continues));
        assert_eq!(
            place(5, clock, &["Fix the failing test, please, it is red", "ok", "go", "on"]),
            (0, continues)
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut all = Conversations::default();
        for call in 0..200 {
            all.place(call, request(&format!("prompt {call} {}", "x ".repeat(call)), &["hi"]));
        }
        assert!(all.latest.len() <= MAX_CONVERSATIONS);
    }
}
