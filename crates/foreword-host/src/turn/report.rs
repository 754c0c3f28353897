//! What a turn shows while it runs, and what it reports at its end.

use foreword_protocol::{StopReason, Usage};
use serde::Serialize;
use serde_json::Value;

use crate::schedule::{Wakeup, WakeupReport};
use crate::turn::prepare::PreparedTurn;
use crate::turn::warning::Warning;

/// Receives what happens during a turn.
pub trait Observer {
    /// The prompt is ready.
    fn prepared(&mut self, _prepared: &PreparedTurn) {}
    /// A piece of the answer, safe to show.
    fn text(&mut self, _text: &str) {}
    fn tool_call(&mut self, _name: &str, _input: &Value) {}
    fn tool_result(&mut self, _name: &str, _content: &str, _is_error: bool) {}
    fn warning(&mut self, _warning: &Warning) {}
    /// A schedule or the heartbeat is about to start a turn.
    fn wakes(&mut self, _wakeup: &Wakeup) {}
    /// That turn has ended.
    fn woke(&mut self, _report: &WakeupReport) {}
}

/// Ignores everything.
impl Observer for () {}

/// The result of a turn.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnReport {
    pub session: String,
    /// The turn's number.
    pub turn: u64,
    /// The answer as it was shown.
    pub answer: String,
    /// `done` or `held`.
    pub state: &'static str,
    /// Why the answer was held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Why the agent stopped; absent if the host ended the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Tokens of all model calls.
    pub usage: Usage,
    /// Number of model calls.
    pub calls: u64,
    /// External tokens divided by all tokens of the session.
    pub taint_ratio: f64,
    /// Above this ratio, sensitive actions are refused.
    pub taint_threshold: f64,
    pub sandbox: String,
    pub model: String,
    /// The digest of the prompt.
    pub prompt: String,
    /// Turns of the conversation that no longer fit.
    pub history_omitted: u64,
    pub scanned: Scans,
    /// Time the host itself took, in milliseconds: excludes waiting for the agent's process, for the
    /// model, for other agents and for web pages.
    pub overhead_ms: f64,
}

/// The scanner's verdicts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scans {
    /// On the message.
    pub input: &'static str,
    /// On the answer.
    pub output: &'static str,
}
