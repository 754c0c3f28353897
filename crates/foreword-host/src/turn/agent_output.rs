//! Listening to an agent: what it says passes the guard, what comes in is counted, and what must not
//! come out holds the turn back.

use foreword::estimate;
use foreword_guard::ScanVerdict;
use foreword_guard::{OutputGuard, Provenance, redact_with, scan_output, whole};
use foreword_protocol::AgentEvent;
use foreword_protocol::{Block, Content as Said, Message, Role};
use foreword_store::Outcome;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::host::Host;
use crate::turn::Observer;
use crate::turn::active_session::ActiveSession;
use crate::turn::process::AgentProcess;

/// No answer is longer.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// No word for why an agent stopped is longer.
const MAX_STOP_REASON_CHARS: usize = 40;

/// How the agent's part went.
pub(crate) struct AgentOutcome {
    pub(crate) messages: Vec<Message>,
    pub(crate) answer: String,
    pub(crate) held: Option<String>,
    pub(crate) output: ScanVerdict,
    pub(crate) stop_reason: Option<String>,
}

impl Host {
    /// Listens to the agent until it is done, lets through what may be seen, and counts what came in.
    pub(crate) fn listen(
        &self,
        active: &ActiveSession,
        process: &mut AgentProcess<'_>,
        observer: &mut dyn Observer,
    ) -> Result<AgentOutcome, HostError> {
        let secrets = active.secrets();
        let new_guard = || OutputGuard::with_detector(&active.detector, &secrets);
        // What a step says is shown when it ends; a canary that goes on in the next one is found.
        let mut whole = OutputGuard::new(&active.canaries, &secrets);
        let mut guard = new_guard();
        let mut answer = String::new();
        let mut said = Steps::default();
        loop {
            if let Some(place) = leaked(active) {
                return Ok(held(answer, &format!("its canary token was found in `{place}`")));
            }
            let Some(event) = process.next(active)? else {
                return Err(HostError::Agent { message: process.exit_message() });
            };
            match event {
                AgentEvent::Prompt { .. } => {}
                AgentEvent::Text { text } => {
                    match whole.push(&text).and_then(|_| guard.push(&text)) {
                        Ok(safe) => {
                            observer.text(&safe);
                            said.text(&text);
                            answer.push_str(&safe);
                            if answer.len() > MAX_ANSWER_BYTES {
                                return Err(HostError::Agent {
                                    message: format!(
                                        "the agent said more than {MAX_ANSWER_BYTES} bytes in one turn"
                                    ),
                                });
                            }
                        }
                        Err(leak) => {
                            active.note_leak("answer", &leak.to_string());
                            return Ok(held(answer, "it repeated the session's canary token"));
                        }
                    }
                }
                AgentEvent::ToolCall { name, input, .. } => {
                    if let Some(leak) = active.detector.find(&input.to_string()) {
                        active.note_leak(&name, &leak.to_string());
                        return Ok(held(answer, "it passed the session's canary token to a tool"));
                    }
                    // The text of a step ends with it: a blank line sets it off from the next one.
                    match std::mem::replace(&mut guard, new_guard()).finish() {
                        Ok(finished) => {
                            let rest = finished.text + said.separator();
                            observer.text(&rest);
                            answer.push_str(&rest);
                        }
                        Err(leak) => {
                            active.note_leak("answer", &leak.to_string());
                            return Ok(held(answer, "it repeated the session's canary token"));
                        }
                    }
                    let mut input = input;
                    each_string(&mut input, &mut |text| *text = redact_with(text, &secrets).text);
                    observer.tool_call(own_name(&name), &input);
                }
                AgentEvent::ToolResult { name, content, is_error, .. } => {
                    let name = own_name(&name);
                    count_result(active, name, &content)?;
                    observer.tool_result(name, &content, is_error);
                }
                AgentEvent::Error { message } => return Err(HostError::Agent { message }),
                AgentEvent::Done { messages, .. } if !is_own_account(&messages) => {
                    return Err(HostError::Agent {
                        message:
                            "the agent's account of the turn puts words into the person's mouth"
                                .to_owned(),
                    });
                }
                AgentEvent::Done { messages, stop_reason, .. } => {
                    let finished = match whole.finish().and_then(|_| guard.finish()) {
                        Ok(finished) => finished,
                        Err(leak) => {
                            active.note_leak("answer", &leak.to_string());
                            return Ok(held(answer, "it repeated the session's canary token"));
                        }
                    };
                    observer.text(&finished.text);
                    answer.push_str(&finished.text);
                    if said.separated {
                        answer.truncate(answer.trim_end().len());
                    }
                    process.wait_for_exit();
                    if let Some(notice) = stopped_short(active, &stop_reason, &answer) {
                        observer.notice(&notice);
                    }
                    let stop_reason =
                        Some(stop_reason.chars().take(MAX_STOP_REASON_CHARS).collect());
                    let judged = self.judged(active, messages, answer, &secrets);
                    return Ok(AgentOutcome { stop_reason, ..judged });
                }
            }
        }
    }

    /// What an agent says of its failure passes the guard too, and a canary found meanwhile holds the
    /// turn back however it ended.
    pub(crate) fn without_leaks(
        &self,
        active: &ActiveSession,
        outcome: Result<AgentOutcome, HostError>,
    ) -> Result<AgentOutcome, HostError> {
        let outcome = match outcome {
            Err(HostError::Agent { message }) => {
                match whole(&message, &active.canaries, &active.secrets()) {
                    Ok(shown) => Err(HostError::Agent { message: shown.text }),
                    Err(leak) => {
                        active.note_leak("error", &leak.to_string());
                        Ok(held(String::new(), "it repeated the session's canary token"))
                    }
                }
            }
            outcome => outcome,
        };
        match (outcome, leaked(active)) {
            (Ok(outcome), Some(place)) if outcome.held.is_none() => {
                let reason = format!("its canary token was found in `{place}`");
                Ok(held(outcome.answer, &reason))
            }
            (Err(HostError::Agent { .. }), Some(place)) => {
                Ok(held(String::new(), &format!("its canary token was found in `{place}`")))
            }
            (outcome, _) => outcome,
        }
    }

    /// The answer as it is kept: without secrets, and judged.
    fn judged(
        &self,
        active: &ActiveSession,
        mut messages: Vec<Message>,
        answer: String,
        secrets: &[&str],
    ) -> AgentOutcome {
        for message in &mut messages {
            each_text(message, &mut |text| *text = redact_with(text, secrets).text);
        }
        let kept = serde_json::to_string(&messages).unwrap_or_default();
        if let Some(leak) = active.detector.find(&kept) {
            active.note_leak("messages", &leak.to_string());
            return held(answer, "it repeated the session's canary token");
        }
        let scanned = self.scanner().map(|scanner| scan_output(scanner, &answer));
        let output = scanned.as_ref().map_or(ScanVerdict::Pass, |scanned| scanned.verdict);
        if let (ScanVerdict::Flag | ScanVerdict::Block, Some(scanned)) = (output, &scanned) {
            let detail = json!({ "score": scanned.score, "reason": scanned.reason });
            let event = active.event("scan.output", Outcome::Refused).with_detail(detail);
            self.record(event);
        }
        if let (ScanVerdict::Block, Some(scanned)) = (output, scanned) {
            let reason = format!("it reads as an attack: {}", scanned.reason);
            return AgentOutcome { output, ..held(answer, &reason) };
        }
        AgentOutcome { messages, answer, held: None, output, stop_reason: None }
    }
}

/// What was said after the person's message: the model's words, and results of tools. Nobody else
/// speaks for the person.
fn is_own_account(messages: &[Message]) -> bool {
    messages.iter().all(|message| match (&message.role, &message.content) {
        (Role::Assistant, _) => true,
        (Role::User, Said::Text(_)) => false,
        (Role::User, Said::Blocks(blocks)) => {
            blocks.iter().all(|block| matches!(block, Block::ToolResult { .. }))
        }
    })
}

fn held(answer: String, reason: &str) -> AgentOutcome {
    AgentOutcome {
        messages: Vec::new(),
        answer,
        held: Some(reason.to_owned()),
        output: ScanVerdict::Pass,
        stop_reason: None,
    }
}

/// What to tell a person of an agent that did not end by itself, or said nothing.
fn stopped_short(active: &ActiveSession, stop_reason: &str, answer: &str) -> Option<String> {
    match stop_reason {
        "max_steps" => Some(format!(
            "the agent stopped after {} calls of the model (host.max_steps); it may not be done",
            active.settings.max_steps
        )),
        "max_tokens" => Some("the answer was cut off (model.max_output_tokens)".to_owned()),
        _ if answer.trim().is_empty() => Some("the agent ended without an answer".to_owned()),
        _ => None,
    }
}

pub(crate) fn leaked(active: &ActiveSession) -> Option<String> {
    active.leaked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// A tool's name without what another loop puts in front of it.
fn own_name(name: &str) -> &str {
    name.strip_prefix("mcp__foreword__").unwrap_or(name)
}

/// Counts what a tool brought into the session. Some were counted as they were served.
fn count_result(active: &ActiveSession, name: &str, content: &str) -> Result<(), HostError> {
    let counted = [
        "web_fetch",
        "memory_search",
        "content_add",
        "spawn_agent",
        "chain_run",
        "task_list",
        "task_update",
        "schedule_list",
    ];
    if counted.contains(&name) {
        return Ok(());
    }
    let external = active.settings.external_tools.iter().any(|tool| tool == name);
    let tokens = u64::from(estimate(content));
    if tokens == 0 {
        return Ok(());
    }
    if !external && active.taint()?.external_tokens > 0 {
        // Otherwise an agent could thin out what came from outside with output of its own.
        let source = format!("{name} ({tokens} tokens, not counted)");
        active.take_in(Provenance::ToolResult, &source, 0, false)?;
        return Ok(());
    }
    active.take_in(Provenance::ToolResult, name, tokens, external)?;
    Ok(())
}

fn each_text(message: &mut Message, change: &mut dyn FnMut(&mut String)) {
    match &mut message.content {
        Said::Text(text) => change(text),
        Said::Blocks(blocks) => {
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

/// Every text in a value of JSON.
fn each_string(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_string(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_string(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where the text of one step ends and that of the next begins.
#[derive(Default)]
struct Steps {
    /// Has text come that does not end its line?
    open: bool,
    /// Was the last text a separator?
    separated: bool,
}

impl Steps {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.open = !text.ends_with('\n');
            self.separated = false;
        }
    }

    /// What ends the text of a step.
    fn separator(&mut self) -> &'static str {
        if !std::mem::take(&mut self.open) {
            return "";
        }
        self.separated = true;
        "\n\n"
    }
}
