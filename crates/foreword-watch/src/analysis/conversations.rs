//! Which calls belong together.
//!
//! Programs do not say which conversation a call belongs to. A call continues the one whose latest call it
//! shares the most messages with, apart from their prompts, because the prompt is what may have changed. If
//! it continues none, it may still share a prompt with one, which could be cached as well.

use std::collections::BTreeSet;

use super::compare::{Comparison, Relation, cached_parts, compare};
use super::files::hash;
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
    print: Fingerprint,
    bytes: usize,
}

/// What a call is recognised by.
#[derive(Debug)]
struct Fingerprint {
    /// The messages in order.
    messages: Vec<u64>,
    /// Those that are too long to be the same by accident.
    long: BTreeSet<u64>,
    /// Lines of tools and system; words if there are only a few lines.
    prompt: BTreeSet<u64>,
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
        let print = Fingerprint::of(&request);
        let same_api = |latest: &Latest| latest.request.api == request.api;
        let continued = self
            .latest
            .iter()
            .enumerate()
            .filter(|(_, latest)| same_api(latest))
            .filter_map(|(at, latest)| Some((latest.print.shared_messages(&print)?, at)))
            .max();
        let bytes = request.parts.iter().map(|part| part.text.len()).sum();
        if let Some(latest) = continued.and_then(|(_, at)| self.latest.get_mut(at)) {
            let found = compare(latest.call, Relation::Continues, &latest.request, &request);
            (latest.call, latest.request, latest.print, latest.bytes) =
                (call, request, print, bytes);
            let conversation = latest.conversation;
            self.forget();
            return Placed { conversation, comparison: Some(found) };
        }
        let similar = self
            .latest
            .iter()
            .filter(|latest| same_api(latest) && latest.request.model == request.model)
            .filter(|latest| latest.print.prompt_similarity(&print) >= SAME_PROMPT)
            .max_by_key(|latest| latest.call);
        let comparison = similar
            .map(|latest| compare(latest.call, Relation::SharesPrompt, &latest.request, &request));
        let conversation = self.count;
        self.count += 1;
        self.latest.push(Latest { conversation, call, request, print, bytes });
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

impl Fingerprint {
    fn of(request: &ModelRequest) -> Self {
        let parts = cached_parts(request);
        let (messages, prompt): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| part.region == Region::Messages);
        let long = messages.iter().filter(|part| part.text.len() >= MIN_SHARED_TEXT);
        let lines = prompt.iter().flat_map(|part| part.text.lines());
        let lines = lines.filter(|line| !line.trim().is_empty());
        let mut lines: BTreeSet<u64> = lines.map(hash).collect();
        if lines.len() <= 3 {
            lines = prompt.iter().flat_map(|part| part.text.split_whitespace()).map(hash).collect();
        }
        Self {
            long: long.map(|part| hash(&part.text)).collect(),
            messages: messages.iter().map(|part| hash(&part.text)).collect(),
            prompt: lines,
        }
    }

    /// How many messages a later call shares with this one; `None` if it does not continue it.
    fn shared_messages(&self, later: &Self) -> Option<usize> {
        let pairs = self.messages.iter().zip(&later.messages);
        let from_start = pairs.take_while(|(old, new)| old == new).count();
        let anywhere = self.long.intersection(&later.long).count();
        let similar = || self.prompt_similarity(later) >= SAME_PROMPT;
        // The first message alone may be a greeting that every conversation starts with.
        let grew = later.messages.len() > self.messages.len();
        let continues = from_start >= 2
            || (from_start == 1 && (grew || self.messages.len() > 1) && similar())
            || (anywhere >= 1 && anywhere * 2 >= self.long.len() && similar());
        continues.then_some(from_start.max(anywhere))
    }

    /// The share of lines that two prompts have in common, of the longer one; 0 if there is no prompt.
    fn prompt_similarity(&self, other: &Self) -> f64 {
        let longer = self.prompt.len().max(other.prompt.len());
        if longer == 0 {
            return 0.0;
        }
        as_f64(self.prompt.intersection(&other.prompt).count()) / as_f64(longer)
    }
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
