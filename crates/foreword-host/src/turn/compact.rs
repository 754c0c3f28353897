//! Making room in a long conversation, after a turn and before the window is full.
//!
//! First, large tool results of old turns are shortened; where that does not help enough, the model
//! summarises the oldest turns. The turns themselves stay in the database. Doing this in large steps
//! keeps what lies before the newest messages unchanged for many turns, and so in the provider's cache.

use foreword::estimate;
use foreword_guard::{Provenance, ScanVerdict, Trust, external_content, scan_input};
use foreword_protocol::{Block, Content, Message, Reading, Role};
use foreword_store::{
    Compaction, MAX_SUMMARY_BYTES, Outcome, StoreError, TurnNumber, TurnRange, TurnUsage,
};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::model::ask::{MAX_WAIT, Question};
use crate::model::call_policy::CallSize;
use crate::spending::budget::EndedCall;
use crate::turn::active_session::ActiveSession;
use crate::turn::compose::{MAX_HISTORY_TURNS, reading};
use crate::turn::history::{Conversation, NEWEST_TURNS, PastTurn};
use crate::turn::prepare::PreparedTurn;
use crate::turn::report::Observer;
use crate::turn::warning::Warning;

const SYSTEM: &str = include_str!("summary.md");
/// Tokens of a summary, at most.
const SUMMARY_TOKENS: u32 = 1500;
/// Bytes of one tool result that the summariser reads.
const MAX_RESULT_BYTES: usize = 2000;
/// A part of a turn with fewer bytes tells nothing.
const MIN_PART_BYTES: usize = 200;

/// The audit entry of a summary that was due and is missing; `session show` lists it.
pub const NOT_SUMMARISED: &str = "session.summarise";

/// What to do about a conversation that fills its room.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    shortened_through: TurnNumber,
    /// Turns to replace with a summary; those of an earlier summary are included in it.
    summarise_through: Option<TurnNumber>,
}

impl Plan {
    /// `None` while the conversation stays below its limit.
    ///
    /// Goes down to half of the limit, so that the next compaction is many turns away. The newest turns
    /// are shortened, and then summarised like the others, only where they do not fit into the limit.
    fn of(now: &Conversation, limit: u64, reading: Reading) -> Option<Self> {
        if now.tokens() <= limit {
            return None;
        }
        let goal = limit / 2;
        let mut turns = now.turns.clone();
        let old = turns.len().saturating_sub(NEWEST_TURNS);
        let summary = now.summary.as_ref().map_or(0, |summary| summary.tokens);
        // What a summary beside the newest turns may take.
        let beside = match old > 0 || summary > 0 {
            true => u64::from(SUMMARY_TOKENS).min(goal),
            false => 0,
        };
        let mut shortened_through = TurnNumber(0);
        let mut newest: u64 = turns.iter().skip(old).map(|turn| turn.tokens).sum();
        for (at, turn) in turns.iter_mut().enumerate() {
            if at >= old && newest + beside <= limit {
                break;
            }
            let short = turn.shortened(reading);
            if at >= old {
                newest = newest.saturating_sub(turn.tokens).saturating_add(short.tokens);
            }
            (shortened_through, *turn) = (short.number, short);
        }
        let mut tokens: u64 = turns.iter().map(|turn| turn.tokens).sum();
        let fits = if old > 0 { goal } else { limit };
        if tokens + summary <= fits {
            return Some(Self { shortened_through, summarise_through: None });
        }
        let mut summarise_through = None;
        for (at, turn) in turns.iter().enumerate() {
            let is_enough = match at < old {
                true => tokens + u64::from(SUMMARY_TOKENS) <= goal,
                false => tokens + u64::from(SUMMARY_TOKENS).min(goal) <= limit,
            };
            if is_enough {
                break;
            }
            tokens = tokens.saturating_sub(turn.tokens);
            summarise_through = Some(turn.number);
        }
        Some(Self { shortened_through, summarise_through })
    }
}

/// How a compaction ended that needed a summary.
enum Summarised {
    Text(String),
    /// Why the oldest turns are left out without one.
    Failed(String),
}

impl Host {
    /// Compacts the history of a session whose turn has ended, if it is due, and tells the person. A
    /// failure changes nothing: the oldest turns are then left out of the next prompt. Gives what the
    /// summary cost, which counts with the turn.
    pub(crate) fn compact(
        &self,
        active: &ActiveSession,
        prepared: &PreparedTurn,
        observer: &mut dyn Observer,
    ) -> TurnUsage {
        let mut usage = TurnUsage::default();
        match self.try_compact(active, prepared, observer, &mut usage) {
            Ok(warnings) => warnings.iter().for_each(|warning| observer.warning(warning)),
            Err(error) => observer.warning(&Warning::NotSummarised { reason: error.to_string() }),
        }
        if let Some(turn) = active.identity.turn.filter(|_| usage.calls > 0) {
            let session = active.identity.session.clone();
            let added = self
                .writer
                .write(self.now(), move |write| write.turn_add_usage(&session, turn, usage));
            if let Err(error) = added {
                tracing::warn!("cannot count the summary with its turn: {error}");
            }
        }
        usage
    }

    fn try_compact(
        &self,
        active: &ActiveSession,
        prepared: &PreparedTurn,
        observer: &mut dyn Observer,
        usage: &mut TurnUsage,
    ) -> Result<Vec<Warning>, HostError> {
        let session = &active.identity.session;
        let settings = &active.settings;
        let room = prepared.turn.history.room;
        let limit = room.saturating_mul(u64::from(settings.compact_at)) / 100;
        if settings.compact_at >= 100 {
            return Ok(Vec::new());
        }
        let reading = reading(&prepared.turn.tools.specs);
        let stored = self.reader.history(session, TurnRange::newest(MAX_HISTORY_TURNS))?;
        let turns: Vec<PastTurn> = stored.into_iter().map(PastTurn::of).collect();
        let last = self.reader.last_compaction(session)?;
        let now = Conversation::of(turns.clone(), last.as_ref(), reading);
        let Some(plan) = Plan::of(&now, limit, reading) else { return Ok(Vec::new()) };
        let mut new = Compaction {
            shortened_through: last.as_ref().map_or(plan.shortened_through, |last| {
                last.shortened_through.max(plan.shortened_through)
            }),
            summarised_through: last.as_ref().map_or(TurnNumber(0), |last| last.summarised_through),
            summary: last.map(|last| last.summary).unwrap_or_default(),
            // A ledger that cannot be read clears nothing.
            tainted: active.is_tainted().unwrap_or(true),
            model: None,
            tokens_before: now.tokens(),
            tokens_after: 0,
            at: self.now(),
        };
        let (mut replaced, mut failed) = (TurnNumber(0), None);
        if let Some(through) = plan.summarise_through {
            observer.warning(&Warning::Summarising { through: through.0 });
            let text = transcript(&new, &turns, through, room);
            match self.summarise(active, prepared, &text, usage)? {
                Summarised::Text(summary) => {
                    (new.summarised_through, new.summary) = (through, summary);
                    replaced = through;
                    new.model = Some(prepared.model.clone());
                }
                Summarised::Failed(reason) => failed = Some(reason),
            }
        }
        let after = Conversation::of(turns, Some(&new), reading).tokens();
        new.tokens_after = after;
        let done = Warning::Compacted {
            through: replaced.0,
            tokens_before: new.tokens_before,
            tokens_after: after,
        };
        let event = active.event("session.compact", Outcome::Done).with_detail(json!({
            "summarisedThrough": new.summarised_through.0,
            "shortenedThrough": new.shortened_through.0,
            "tokensBefore": new.tokens_before, "tokensAfter": after, "tainted": new.tainted,
        }));
        let is_useful = after < new.tokens_before;
        if is_useful {
            let session = session.clone();
            self.writer.write(self.now(), move |write| -> Result<(), StoreError> {
                write.compaction_add(&session, &new)?;
                write.audit(&event).map(drop)
            })?;
        }
        if let Some(reason) = &failed {
            let text = json!({ "reason": reason });
            self.record(active.event_with_text(NOT_SUMMARISED, Outcome::Failed, text));
        }
        let failed = failed.map(|reason| Warning::NotSummarised { reason });
        Ok(is_useful.then_some(done).into_iter().chain(failed).collect())
    }

    /// Asks the model of the session for a summary, within its spending limits.
    fn summarise(
        &self,
        active: &ActiveSession,
        prepared: &PreparedTurn,
        conversation: &str,
        spent: &mut TurnUsage,
    ) -> Result<Summarised, HostError> {
        let message = external_content("conversation", Trust::Tool, conversation);
        let max_tokens = prepared.max_output_tokens().min(SUMMARY_TOKENS);
        let size = CallSize {
            prompt_tokens: u64::from(estimate(SYSTEM)) + u64::from(estimate(&message)),
            output_tokens: u64::from(max_tokens),
        };
        let Some(budget) = prepared.tree.budget() else {
            return Ok(Summarised::Failed("this turn has no budget".to_owned()));
        };
        let reserved = match budget.admit(self, &prepared.model, size) {
            Ok(reserved) => reserved,
            Err(HostError::LimitReached(limit)) => {
                return Ok(Summarised::Failed(limit.to_string()));
            }
            Err(error) => return Err(error),
        };
        let answer = Question {
            agent: &self.model_agent(prepared.upstream.timeout.min(MAX_WAIT)),
            upstream: &prepared.upstream,
            model: &prepared.model,
            system: SYSTEM,
            message: &message,
            max_tokens,
        }
        .ask();
        let usage = answer.as_ref().map(|(_, usage)| *usage).unwrap_or_default();
        let (session, turn) = (&active.identity.session, active.identity.turn);
        let call = EndedCall { session, turn, model: &prepared.model, usage };
        budget.settle(self, reserved, &call);
        spent.add_call(usage);
        let text = match answer {
            Ok((text, _)) => text.trim().to_owned(),
            Err(reason) => return Ok(Summarised::Failed(reason)),
        };
        if text.is_empty() || text.len() > MAX_SUMMARY_BYTES {
            return Ok(Summarised::Failed("the model gave no usable summary".to_owned()));
        }
        if let Some(leak) = active.canary.detector.find(&text) {
            // The summariser is not told the canary, so the conversation holds it.
            active.report_leak("the summary of the oldest turns", &leak.to_string());
            self.replace_canary(active)?;
            return Ok(Summarised::Failed("the summary held the session's canary".to_owned()));
        }
        let scanned = scan_input(self.scanner()?, &text, Provenance::ToolResult);
        if scanned.verdict == ScanVerdict::Block {
            return Ok(Summarised::Failed("the summary looks like prompt injection".to_owned()));
        }
        Ok(Summarised::Text(text))
    }
}

/// The turns to replace as text, after the summary of those before them. Where it does not fit into
/// the model's window, the oldest are left out.
fn transcript(last: &Compaction, turns: &[PastTurn], through: TurnNumber, room: u64) -> String {
    let replaced =
        turns.iter().filter(|turn| turn.number > last.summarised_through && turn.number <= through);
    let mut left = room.saturating_sub(u64::from(estimate(&last.summary)));
    let mut parts = Vec::new();
    for turn in replaced.rev() {
        let text = told(turn, MAX_RESULT_BYTES);
        match left.checked_sub(u64::from(estimate(&text))) {
            Some(rest) => left = rest,
            None => {
                // A turn that is too long by itself is told in part; it may be the only one.
                let part = told_within(turn, left);
                let is_all = part.is_some() && turn.number.0 == last.summarised_through.0 + 1;
                parts.extend(part);
                parts.extend((!is_all).then(|| "[earlier turns are left out]".to_owned()));
                break;
            }
        }
        parts.push(text);
    }
    if !last.summary.is_empty() {
        let through = last.summarised_through.0;
        parts.push(format!("Summary of the turns up to {through}:\n{}", last.summary));
    }
    parts.reverse();
    parts.join("\n\n")
}

/// The beginning and the end of a turn as text, if that is worth the tokens that are left.
fn told_within(turn: &PastTurn, tokens: u64) -> Option<String> {
    let text = told(turn, MAX_RESULT_BYTES / 10);
    if u64::from(estimate(&text)) <= tokens {
        return Some(text);
    }
    // About three bytes a token, half of them for each end.
    let each = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(3) / 2;
    if each < MIN_PART_BYTES {
        return None;
    }
    let start = text.get(..text.floor_char_boundary(each))?;
    let end = text.get(text.ceil_char_boundary(text.len().saturating_sub(each))..)?;
    Some(format!("{start} […]\n[…] {end}"))
}

/// A turn as text, with so many bytes of each result.
fn told(turn: &PastTurn, max_result: usize) -> String {
    let mut lines = vec![format!("Turn {}", turn.number)];
    for Message { role, content } in turn.messages() {
        let who = match role {
            Role::User => "User",
            Role::Assistant => "Agent",
        };
        let blocks = match content {
            Content::Text(text) => vec![Block::Text { text }],
            Content::Blocks(blocks) => blocks,
        };
        lines.extend(blocks.into_iter().map(|block| match block {
            Block::Text { text } => format!("{who}: {text}"),
            Block::ToolUse { name, input, .. } => {
                format!("The agent called {name} with {}", start(&input.to_string(), max_result))
            }
            Block::ToolResult { content, .. } => format!("Result: {}", start(&content, max_result)),
        }));
    }
    lines.join("\n")
}

fn start(text: &str, max: usize) -> String {
    match text.get(..text.floor_char_boundary(max)) {
        Some(start) if start.len() < text.len() => format!("{start} […]"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_store::{TurnMessages, TurnState};

    fn turn(number: u64, words: usize) -> PastTurn {
        let messages = [Message::user("word ".repeat(words)), Message::assistant("ok")];
        let messages = serde_json::to_string(&messages).unwrap();
        let (number, state) = (TurnNumber(number), TurnState::Done);
        PastTurn::of(TurnMessages { number, state, messages })
    }

    fn plan(turns: &[PastTurn], limit: u64) -> Option<Plan> {
        let now = Conversation::of(turns.to_vec(), None, Reading::Offered);
        Plan::of(&now, limit, Reading::Offered)
    }

    #[test]
    fn the_oldest_turns_go_first_and_the_newest_stay() {
        let turns: Vec<PastTurn> = (1..=10).map(|number| turn(number, 1000)).collect();
        let each = turns.first().unwrap().tokens;
        assert_eq!(plan(&turns, each * 10), None);
        let full = plan(&turns, each * 10 - 1).unwrap();
        // Half of the limit, and room for the summary.
        assert_eq!(full.summarise_through, Some(TurnNumber(7)));
        assert_eq!(full.shortened_through, TurnNumber(8));
        // The two newest are left out of it as long as they fit.
        assert_eq!(plan(&turns, each * 5).unwrap().summarise_through, Some(TurnNumber(8)));
    }

    /// A turn that reads large files.
    fn reading_turn(number: u64, reads: usize) -> PastTurn {
        let result = |call: usize| Message {
            role: Role::User,
            content: Content::Blocks(vec![Block::ToolResult {
                tool_use_id: format!("c{call}"),
                content: "a line of the file\n".repeat(400),
                is_error: false,
            }]),
        };
        let messages: Vec<Message> =
            [Message::user("look")].into_iter().chain((0..reads).map(result)).collect();
        let messages = serde_json::to_string(&messages).unwrap();
        let (number, state) = (TurnNumber(number), TurnState::Done);
        PastTurn::of(TurnMessages { number, state, messages })
    }

    /// Report 15, number 3: the newest turns were never shortened, and the next prompt left them out.
    #[test]
    fn the_newest_turns_are_shortened_and_then_summarised_where_they_do_not_fit() {
        let one = reading_turn(1, 12);
        let short = one.shortened(Reading::Offered).tokens;
        assert!(short * 4 < one.tokens);
        let only_shortened = Plan { shortened_through: TurnNumber(1), summarise_through: None };
        assert_eq!(plan(std::slice::from_ref(&one), one.tokens - 1), Some(only_shortened));
        let both = [one.clone(), reading_turn(2, 12)];
        // The older one first, as long as that is enough.
        let first = plan(&both, one.tokens + short + 100).unwrap();
        assert_eq!(first, Plan { shortened_through: TurnNumber(1), summarise_through: None });
        let then = plan(&both, short * 3).unwrap();
        assert_eq!(then, Plan { shortened_through: TurnNumber(2), summarise_through: None });
        let last = plan(&both, short + short / 2 + 1500).unwrap();
        assert_eq!(last.shortened_through, TurnNumber(2));
        assert_eq!(plan(&both, short / 2).unwrap().summarise_through, Some(TurnNumber(2)));
    }

    #[test]
    fn a_turn_that_is_too_long_to_be_told_is_told_in_part() {
        let none = Compaction {
            shortened_through: TurnNumber(0),
            summarised_through: TurnNumber(0),
            summary: String::new(),
            tainted: false,
            model: None,
            tokens_before: 0,
            tokens_after: 0,
            at: 0,
        };
        let text = transcript(&none, &[turn(1, 9000)], TurnNumber(1), 500);
        assert!(text.starts_with("Turn 1\nUser: word word"), "{text}");
        assert!(text.contains(" […]\n[…] ") && text.ends_with("Agent: ok"), "{text}");
        assert!(estimate(&text) <= 600, "{}", estimate(&text));
    }

    #[test]
    fn a_transcript_names_the_turns_and_starts_where_the_last_summary_ended() {
        let last = Compaction {
            shortened_through: TurnNumber(1),
            summarised_through: TurnNumber(1),
            summary: "They greeted.".to_owned(),
            tainted: false,
            model: None,
            tokens_before: 0,
            tokens_after: 0,
            at: 0,
        };
        let turns = [turn(1, 1), turn(2, 2), turn(3, 3)];
        let text = transcript(&last, &turns, TurnNumber(2), 10_000);
        assert_eq!(
            text,
            "Summary of the turns up to 1:\nThey greeted.\n\nTurn 2\nUser: word word \nAgent: ok"
        );
        let cut = transcript(&last, &turns, TurnNumber(3), 22);
        assert!(cut.contains("[earlier turns are left out]\n\nTurn 3\n"), "{cut}");
    }
}
