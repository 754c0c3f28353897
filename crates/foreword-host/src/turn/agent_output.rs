//! Reading an agent's output: safe text is shown, tool results are counted, and a leaked canary token
//! ends the turn with its answer held back.

use std::collections::BTreeMap;
use std::fmt;

use foreword_guard::{OutputGuard, ScanVerdict, redact_with, whole};
use foreword_protocol::{AgentEvent, Block, Content, Message, Role, StopReason};
use foreword_store::Outcome;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::host::Host;
use crate::turn::active_session::ActiveSession;
use crate::turn::answer_text::{StepSeparator, each_string, each_text};
use crate::turn::process::AgentProcess;
use crate::turn::report::Observer;
use crate::turn::tool_results::{admit_result, own_name};
use crate::turn::transcript::Transcript;
use crate::turn::warning::Warning;

const MAX_ANSWER_BYTES: usize = 4 << 20;
const MAX_STOP_REASON_CHARS: usize = 40;
/// Calls of tools that may be under way at once.
const MAX_OPEN_CALLS: usize = 256;
/// What the model reads in the history after an answer that a limit ended.
const STOPPED_AT_LIMIT: &str = "[The turn ended here because a spending limit was reached.]";
/// The same for a turn that the person interrupted.
const INTERRUPTED: &str = "[The user interrupted the turn here.]";

/// How the agent's part of a turn ended.
pub(crate) struct AgentOutcome {
    pub(crate) messages: Vec<Message>,
    pub(crate) answer: String,
    pub(crate) held: Option<HeldReason>,
    /// Whether the person ended the turn.
    pub(crate) interrupted: bool,
    /// The scanner's verdict on the answer.
    pub(crate) verdict: ScanVerdict,
    pub(crate) stop_reason: Option<StopReason>,
}

/// Why an answer is held back.
pub(crate) enum HeldReason {
    CanaryRepeated,
    CanaryPassedToTool,
    CanaryFound { place: String },
    Attack { reason: String },
}

impl fmt::Display for HeldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CanaryRepeated => f.write_str("it repeats the session's canary token"),
            Self::CanaryPassedToTool => {
                f.write_str("the agent passed the session's canary token to a tool")
            }
            Self::CanaryFound { place } => {
                write!(f, "the session's canary token was found in `{place}`")
            }
            Self::Attack { reason } => write!(f, "it looks like prompt injection: {reason}"),
        }
    }
}

/// The answer while it is being written.
struct Answer<'a> {
    active: &'a ActiveSession,
    text: String,
    /// What was said and done, in case the turn is cut short.
    transcript: Transcript,
    guard: OutputGuard,
    separator: StepSeparator,
}

/// An answer that nothing is added to any more.
struct FinishedAnswer {
    text: String,
    /// What is left of it to show.
    rest: String,
    transcript: Transcript,
}

impl<'a> Answer<'a> {
    fn new(active: &'a ActiveSession, secrets: &[&str]) -> Self {
        Self {
            active,
            text: String::new(),
            transcript: Transcript::default(),
            guard: OutputGuard::with_detector(&active.canary.detector, secrets),
            separator: StepSeparator::default(),
        }
    }

    /// Takes more text; gives what is safe to show.
    fn push(&mut self, text: &str) -> Result<String, HeldReason> {
        let safe = self.guard.push(text).map_err(|leak| self.leaked(&leak))?;
        self.separator.push(text);
        self.text.push_str(&safe);
        self.transcript.text(&safe);
        Ok(safe)
    }

    /// Ends the text of a step; gives what is left of it to show.
    fn end_step(&mut self) -> Result<String, HeldReason> {
        let finished = self.guard.end_step().map_err(|leak| self.leaked(&leak))?;
        let rest = finished.text + self.separator.end_step();
        self.text.push_str(&rest);
        self.transcript.text(&rest);
        Ok(rest)
    }

    /// Ends the answer.
    fn finish(mut self) -> Result<FinishedAnswer, (String, HeldReason)> {
        match self.guard.finish() {
            Ok(finished) => {
                self.text.push_str(&finished.text);
                self.transcript.text(&finished.text);
                if self.separator.is_separated {
                    self.text.truncate(self.text.trim_end().len());
                }
                let (text, transcript) = (self.text, self.transcript);
                Ok(FinishedAnswer { text, rest: finished.text, transcript })
            }
            Err(leak) => {
                self.active.report_leak("answer", &leak.to_string());
                Err((self.text, HeldReason::CanaryRepeated))
            }
        }
    }

    fn leaked(&self, leak: &dyn fmt::Display) -> HeldReason {
        self.active.report_leak("answer", &leak.to_string());
        HeldReason::CanaryRepeated
    }
}

impl Host {
    /// Reads the agent's output until it is done.
    pub(crate) fn read_agent_output(
        &self,
        active: &ActiveSession,
        process: &mut AgentProcess<'_>,
        observer: &mut dyn Observer,
    ) -> Result<AgentOutcome, HostError> {
        let secrets = active.secrets();
        let mut answer = Answer::new(active, &secrets);
        // What tools were called with, until they answer.
        let mut calls: BTreeMap<String, Value> = BTreeMap::new();
        // Questions of agents that this one starts come here too.
        let is_attended = observer.can_ask();
        if is_attended {
            active.tree.questions().attend();
        }
        loop {
            if let Some(place) = active.canary.leaked_at() {
                return Ok(AgentOutcome::held(answer.text, HeldReason::CanaryFound { place }));
            }
            let mut tick = || {
                self.show_pending_warnings(observer);
                if is_attended {
                    active.tree.questions().answer(&mut |question| observer.ask(question));
                }
                observer.tick();
            };
            let event = match process.next(active, &mut tick) {
                // However its loop words it.
                Ok(Some(AgentEvent::Error { .. }) | None)
                    if active.activity.has_unknown_model() =>
                {
                    Err(active.unknown_model())
                }
                Ok(Some(AgentEvent::Error { message })) => {
                    let model_status = active.activity.refused_with();
                    Err(HostError::Agent { message, model_status })
                }
                Ok(Some(event)) => Ok(event),
                Ok(None) => Err(HostError::agent(process.exit_message())),
                Err(error) => Err(error),
            };
            let event = match event {
                Ok(event) => event,
                // However its loop reports that a call was refused.
                Err(_) if is_at_limit(active) => {
                    let stopped = self.cut_short(answer, STOPPED_AT_LIMIT, &secrets, observer)?;
                    let stop_reason = Some(StopReason::SpendingLimit);
                    return Ok(AgentOutcome { stop_reason, ..stopped });
                }
                // Ctrl-C may reach the agent first, with another error.
                Err(_) if active.tree.is_cancelled() => {
                    let stopped = self.cut_short(answer, INTERRUPTED, &secrets, observer)?;
                    return Ok(AgentOutcome { interrupted: true, ..stopped });
                }
                Err(error) => return Err(error),
            };
            let shown = match event {
                AgentEvent::Prompt { .. } => Ok(()),
                AgentEvent::Shortened { results, tokens_before, tokens_after } => {
                    let event = active.event("turn.compact", Outcome::Done);
                    self.record(event.with_detail(json!({
                        "results": results,
                        "tokensBefore": tokens_before, "tokensAfter": tokens_after,
                    })));
                    let shortened = Warning::Shortened { results, tokens_before, tokens_after };
                    observer.warning(&shortened);
                    Ok(())
                }
                AgentEvent::Text { text } => answer.push(&text).map(|safe| observer.text(&safe)),
                AgentEvent::ToolCall { id, name, input } => {
                    if calls.len() < MAX_OPEN_CALLS {
                        calls.insert(id.clone(), input.clone());
                    }
                    show_tool_call(&mut answer, &id, &name, input, observer)
                }
                AgentEvent::ToolResult { id, name, content, is_error } => {
                    let name = own_name(&name);
                    let input = calls.remove(&id).unwrap_or_default();
                    admit_result(active, &id, name, &input, &content)?;
                    let content = redact_with(&content, &secrets).text;
                    answer.transcript.result(&id, &content, is_error);
                    observer.tool_result(name, &content, is_error);
                    Ok(())
                }
                AgentEvent::Error { .. } => Ok(()),
                AgentEvent::Done { messages, stop_reason, .. } => {
                    if !is_own_account(&messages) {
                        return Err(HostError::agent(
                            "the agent reported a user message that the user did not send",
                        ));
                    }
                    let FinishedAnswer { text: answer, rest, .. } = match answer.finish() {
                        Ok(finished) => finished,
                        Err((answer, reason)) => return Ok(AgentOutcome::held(answer, reason)),
                    };
                    observer.text(&rest);
                    process.wait_for_exit();
                    if let Some(warning) = stopped_short(active, &stop_reason, &answer) {
                        observer.warning(&warning);
                    }
                    let outcome = self.judge(active, messages, answer, &secrets)?;
                    let stop_reason = match stop_reason {
                        _ if is_at_limit(active) => StopReason::SpendingLimit,
                        StopReason::Other(word) => {
                            StopReason::Other(word.chars().take(MAX_STOP_REASON_CHARS).collect())
                        }
                        known => known,
                    };
                    return Ok(AgentOutcome { stop_reason: Some(stop_reason), ..outcome });
                }
            };
            if let Err(reason) = shown {
                return Ok(AgentOutcome::held(answer.text, reason));
            }
            if answer.text.len() > MAX_ANSWER_BYTES {
                return Err(HostError::agent(format!(
                    "the agent wrote more than {MAX_ANSWER_BYTES} bytes in one turn"
                )));
            }
        }
    }

    /// Ends a turn early, with what the agent has said and done so far.
    fn cut_short(
        &self,
        answer: Answer<'_>,
        note: &str,
        secrets: &[&str],
        observer: &mut dyn Observer,
    ) -> Result<AgentOutcome, HostError> {
        let active = answer.active;
        let FinishedAnswer { text, rest, transcript } = match answer.finish() {
            Ok(finished) => finished,
            Err((answer, reason)) => return Ok(AgentOutcome::held(answer, reason)),
        };
        observer.text(&rest);
        self.judge(active, transcript.end(note), text, secrets)
    }

    /// Checks an agent's error message for canaries too. A canary found anywhere holds the answer
    /// back, however the turn ended.
    pub(crate) fn check_leaks(
        &self,
        active: &ActiveSession,
        outcome: Result<AgentOutcome, HostError>,
    ) -> Result<AgentOutcome, HostError> {
        let outcome = match outcome {
            Err(HostError::Agent { message, model_status }) => {
                match whole(&message, &active.canary.canaries, &active.secrets()) {
                    Ok(safe) => Err(HostError::Agent { message: safe.text, model_status }),
                    Err(leak) => {
                        active.report_leak("error", &leak.to_string());
                        Ok(AgentOutcome::held(String::new(), HeldReason::CanaryRepeated))
                    }
                }
            }
            outcome => outcome,
        };
        match (outcome, active.canary.leaked_at()) {
            (Ok(outcome), Some(place)) if outcome.held.is_none() => {
                Ok(AgentOutcome::held(outcome.answer, HeldReason::CanaryFound { place }))
            }
            (Err(HostError::Agent { .. }), Some(place)) => {
                Ok(AgentOutcome::held(String::new(), HeldReason::CanaryFound { place }))
            }
            (outcome, _) => outcome,
        }
    }

    /// Redacts and scans what the database will keep of the answer.
    fn judge(
        &self,
        active: &ActiveSession,
        mut messages: Vec<Message>,
        answer: String,
        secrets: &[&str],
    ) -> Result<AgentOutcome, HostError> {
        active.counted_results.fence(&mut messages);
        for message in &mut messages {
            each_text(message, &mut |text| *text = redact_with(text, secrets).text);
        }
        let kept = serde_json::to_string(&messages).unwrap_or_default();
        if let Some(leak) = active.canary.detector.find_in_json(&kept) {
            active.report_leak("messages", &leak.to_string());
            return Ok(AgentOutcome::held(answer, HeldReason::CanaryRepeated));
        }
        let scanned = self.scan_answer(active, &answer)?;
        let verdict = scanned.verdict;
        if verdict == ScanVerdict::Block {
            let reason = HeldReason::Attack { reason: scanned.reason };
            return Ok(AgentOutcome { verdict, ..AgentOutcome::held(answer, reason) });
        }
        let (held, stop_reason, interrupted) = (None, None, false);
        Ok(AgentOutcome { messages, answer, held, interrupted, verdict, stop_reason })
    }
}

impl AgentOutcome {
    fn held(answer: String, reason: HeldReason) -> Self {
        Self {
            messages: Vec::new(),
            answer,
            held: Some(reason),
            interrupted: false,
            verdict: ScanVerdict::Pass,
            stop_reason: None,
        }
    }
}

fn show_tool_call(
    answer: &mut Answer<'_>,
    id: &str,
    name: &str,
    mut input: Value,
    observer: &mut dyn Observer,
) -> Result<(), HeldReason> {
    if let Some(leak) = answer.active.canary.detector.find_in_json(&input.to_string()) {
        answer.active.report_leak(name, &leak.to_string());
        return Err(HeldReason::CanaryPassedToTool);
    }
    observer.text(&answer.end_step()?);
    let secrets = answer.active.secrets();
    each_string(&mut input, &mut |text| *text = redact_with(text, &secrets).text);
    answer.transcript.call(id, name, &input);
    observer.tool_call(own_name(name), &input);
    Ok(())
}

/// Whether a spending limit ends the turn.
fn is_at_limit(active: &ActiveSession) -> bool {
    active.tree.budget().is_some_and(|budget| budget.reached().is_some())
}

/// Whether the messages are the model's own and the results of tools. An agent never speaks for the
/// user.
fn is_own_account(messages: &[Message]) -> bool {
    messages.iter().all(|message| match (&message.role, &message.content) {
        (Role::Assistant, _) => true,
        (Role::User, Content::Text(_)) => false,
        (Role::User, Content::Blocks(blocks)) => {
            blocks.iter().all(|block| matches!(block, Block::ToolResult { .. }))
        }
    })
}

fn stopped_short(
    active: &ActiveSession,
    stop_reason: &StopReason,
    answer: &str,
) -> Option<Warning> {
    match stop_reason {
        StopReason::MaxSteps => Some(Warning::StepLimit { max_steps: active.settings.max_steps }),
        StopReason::MaxTokens => Some(Warning::AnswerCut),
        _ if is_at_limit(active) => None,
        _ if answer.trim().is_empty() => Some(Warning::NoAnswer),
        _ => None,
    }
}
