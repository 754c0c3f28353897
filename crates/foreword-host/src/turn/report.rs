//! What a turn shows while it runs, and what it reports at its end.

use foreword_protocol::{StopReason, Usage};
use foreword_workspace::AutorunRule;
use serde::Serialize;
use serde_json::Value;

use crate::governance::{PermissionAnswer, PermissionQuestion};
use crate::schedule::{Wakeup, WakeupReport};
use crate::turn::prepare::PreparedTurn;
use crate::turn::warning::{ReadBy, Warning};

/// Files that run when called and are named one by one.
const MAX_NAMED: usize = 200;

/// Warnings, compactions and refused calls that a report names.
pub(crate) const MAX_KEPT: usize = 200;

/// Receives what happens during a turn, on the turn's own thread.
pub trait Observer: Send {
    /// The prompt is ready.
    fn prepared(&mut self, _prepared: &PreparedTurn) {}
    /// A piece of the answer, safe to show.
    fn text(&mut self, _text: &str) {}
    fn tool_call(&mut self, _name: &str, _input: &Value) {}
    fn tool_result(&mut self, _name: &str, _content: &str, _is_error: bool) {}
    fn warning(&mut self, _warning: &Warning) {}
    /// Called a few times a second while the agent or the model works.
    fn tick(&mut self) {}
    /// Whether a person is there to answer questions.
    fn can_ask(&self) -> bool {
        false
    }
    /// Asks the person about a call. Called only if they are there.
    fn ask(&mut self, _question: &PermissionQuestion) -> PermissionAnswer {
        PermissionAnswer::No
    }
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
    /// `done`, `held` or `interrupted`.
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
    /// What the model calls of this message cost, sub-agents included; absent if a price is unknown.
    pub cost_usd: Option<f64>,
    /// The spending limit that ended the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// What to do about it.
    #[serde(skip)]
    pub limit_hint: Option<String>,
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
    /// Calls of tools that were not carried out, because a check or a person refused them.
    pub refused_calls: Vec<RefusedCall>,
    /// What the person was told besides the answer.
    pub warnings: Vec<String>,
    /// What was shortened or summarised, during the turn and after it.
    pub compactions: Vec<TurnCompaction>,
    /// What the turn changed among the files that run.
    pub changes: TurnChanges,
    /// Time the host itself took, in milliseconds: excludes waiting for the agent's process, for the
    /// model, for other agents and for web pages, and the look at what changed.
    pub overhead_ms: f64,
    /// Time for the look at what the turn changed, in milliseconds.
    pub look_ms: f64,
}

/// A call of a tool that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedCall {
    pub tool: String,
    pub reason: String,
}

/// A compaction of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnCompaction {
    /// Results of this turn that were shortened while it ran; 0 for a compaction after it.
    pub shortened_results: u64,
    /// The summary replaces all turns up to this one; 0 if there is none.
    pub summarised_through: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// Passes on what happens, and keeps for the report what the person is told.
pub(crate) struct Noting<'o> {
    observer: &'o mut dyn Observer,
    warnings: Vec<String>,
    compactions: Vec<TurnCompaction>,
}

impl<'o> Noting<'o> {
    pub(crate) fn new(observer: &'o mut dyn Observer) -> Self {
        Self { observer, warnings: Vec::new(), compactions: Vec::new() }
    }

    /// Adds what was kept to the report of the turn.
    pub(crate) fn report_in(self, report: &mut TurnReport) {
        report.warnings = self.warnings;
        report.compactions = self.compactions;
    }
}

impl Observer for Noting<'_> {
    fn prepared(&mut self, prepared: &PreparedTurn) {
        self.observer.prepared(prepared);
    }

    fn text(&mut self, text: &str) {
        self.observer.text(text);
    }

    fn tool_call(&mut self, name: &str, input: &Value) {
        self.observer.tool_call(name, input);
    }

    fn tool_result(&mut self, name: &str, content: &str, is_error: bool) {
        self.observer.tool_result(name, content, is_error);
    }

    fn warning(&mut self, warning: &Warning) {
        let kept = match *warning {
            Warning::Shortened { results, tokens_before, tokens_after } => Some(TurnCompaction {
                shortened_results: results,
                summarised_through: 0,
                tokens_before,
                tokens_after,
            }),
            Warning::Compacted { through, tokens_before, tokens_after } => Some(TurnCompaction {
                shortened_results: 0,
                summarised_through: through,
                tokens_before,
                tokens_after,
            }),
            _ => None,
        };
        if self.compactions.len() < MAX_KEPT {
            self.compactions.extend(kept);
        }
        if !warning.is_notice() && self.warnings.len() < MAX_KEPT {
            self.warnings.push(warning.to_string());
        }
        self.observer.warning(warning);
    }

    fn tick(&mut self) {
        self.observer.tick();
    }

    fn can_ask(&self) -> bool {
        self.observer.can_ask()
    }

    fn ask(&mut self, question: &PermissionQuestion) -> PermissionAnswer {
        self.observer.ask(question)
    }

    fn wakes(&mut self, wakeup: &Wakeup) {
        self.observer.wakes(wakeup);
    }

    fn woke(&mut self, report: &WakeupReport) {
        self.observer.woke(report);
    }
}

/// The state of a turn that the person ended.
pub(crate) const INTERRUPTED: &str = "interrupted";

impl TurnReport {
    /// Whether the person ended the turn. What was said and done until then is kept.
    pub fn is_interrupted(&self) -> bool {
        self.state == INTERRUPTED
    }
}

/// What a turn changed among the files that run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnChanges {
    /// Number of changed files of any kind.
    pub files: u64,
    /// Changes that were put back and wait for a decision, those of agents it started included.
    pub held: Vec<HeldFile>,
    /// Changed files that run when called, which stay.
    pub runs_when_called: Vec<RunnableFile>,
    /// Changed files that would have been held, but there was no copy to put back.
    pub not_held: Vec<String>,
    /// Files that run on their own whose change was put back, but is still in git's index or a commit.
    pub staged: Vec<String>,
    /// What was moved to quarantine because it could not be held.
    pub quarantined: Vec<MovedFile>,
    /// Directories with more entries than were checked; empty for the workspace itself.
    pub unchecked: Vec<String>,
    /// Files that are not listed because there are too many.
    pub more: u64,
}

/// A change that waits for a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldFile {
    pub id: String,
    pub path: String,
    /// Who would run the file.
    pub read_by: String,
}

/// A changed file that runs when called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunnableFile {
    pub path: String,
    /// Who runs it.
    pub read_by: &'static str,
}

/// A file that was moved to quarantine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedFile {
    pub path: String,
    /// Relative to the workspace.
    pub moved_to: String,
}

impl TurnChanges {
    pub(crate) fn name(&mut self, path: &str, rule: &AutorunRule) {
        if self.runs_when_called.len() < MAX_NAMED {
            self.runs_when_called.push(RunnableFile { path: path.to_owned(), read_by: rule.by });
        } else {
            self.more += 1;
        }
    }

    /// What a person should know at once.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !self.held.is_empty() {
            let paths = self.held.iter().map(|held| held.path.clone()).collect();
            warnings.push(Warning::ChangesHeld { paths });
        }
        warnings.extend(self.quarantined.iter().map(|moved| Warning::Quarantined {
            path: moved.path.clone(),
            moved_to: moved.moved_to.clone(),
            read_by: ReadBy::Program,
        }));
        if !self.staged.is_empty() {
            warnings.push(Warning::ChangesStaged { paths: self.staged.clone() });
        }
        if !self.not_held.is_empty() {
            warnings.push(Warning::ChangesNotHeld { paths: self.not_held.clone() });
        }
        if !self.unchecked.is_empty() {
            warnings.push(Warning::NotFullyChecked { directories: self.unchecked.clone() });
        }
        warnings
    }
}

/// The scanner's verdicts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scans {
    /// On the message.
    pub input: &'static str,
    /// On the answer.
    pub output: &'static str,
}
