//! One turn: a message goes in, the agent works in its sandbox, an answer comes out or is held back.

pub(crate) mod active_session;
pub(crate) mod agent_output;
pub(crate) mod agent_tree;
pub(crate) mod external;
pub(crate) mod history;
pub(crate) mod launch;
pub(crate) mod prepare;
pub(crate) mod process;
pub(crate) mod process_identity;
pub(crate) mod rate_limit;
pub(crate) mod run_dir;
pub(crate) mod runner;
pub(crate) mod server;
pub(crate) mod session_socket;

use std::sync::Arc;
use std::time::Instant;

use crate::governance::quarantine::Quarantine;
use foreword::{estimate, visible_line};
use foreword_guard::ScanVerdict;
use foreword_guard::{Provenance, scan_input};
use foreword_protocol::Message;
use foreword_store::{
    Content, Event, FinishedTurn, NewSession, Outcome, Session, SessionId, StoreError, TurnEnd,
    TurnNumber, TurnUsage,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::host::Host;
use crate::random::{new_canary, random_hex};
use crate::schedule::heartbeat::{Wakeup, WakeupReport};
use crate::turn::active_session::ActiveSession;
use crate::turn::agent_output::{AgentOutcome, leaked};
use crate::turn::launch::advisory;
use crate::turn::prepare::{Origin, PreparedTurn, TurnRequest};
use crate::turn::process::AgentProcess;
use crate::turn::run_dir::RunDir;
use crate::turn::server::Server;

/// What a person sees while a turn lasts.
pub trait Observer {
    /// The turn can start, with this prompt.
    fn prepared(&mut self, _prepared: &PreparedTurn) {}
    /// Text of the answer, as it may be shown.
    fn text(&mut self, _text: &str) {}
    /// The agent calls a tool.
    fn tool_call(&mut self, _name: &str, _input: &Value) {}
    /// A tool answered.
    fn tool_result(&mut self, _name: &str, _content: &str, _is_error: bool) {}
    /// Something the person should know.
    fn notice(&mut self, _text: &str) {}
    /// Something about the workspace, likely the same in every turn.
    fn warning(&mut self, text: &str) {
        self.notice(text);
    }
    /// An agent is set to work by a schedule or the heartbeat.
    fn wakes(&mut self, _waking: &Wakeup) {}
    /// What came of that.
    fn woke(&mut self, _woken: &WakeupReport) {}
}

/// Looks at nothing.
impl Observer for () {}

/// What came of a turn.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnReport {
    /// The session.
    pub session: String,
    /// The turn's number.
    pub turn: u64,
    /// What the person got to see.
    pub answer: String,
    /// `done` or `held`.
    pub state: &'static str,
    /// Why the answer was held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Why the agent stopped, as its loop calls it: `end_turn`, `max_tokens`, `max_steps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Tokens of all calls of the model.
    pub usage: foreword_protocol::Usage,
    /// Calls of the model.
    pub calls: u64,
    /// External tokens over all tokens of the session.
    pub taint_ratio: f64,
    /// Above this, sensitive actions are refused.
    pub taint_threshold: f64,
    /// The sandbox in use.
    pub sandbox: String,
    /// The model.
    pub model: String,
    /// The digest of the prompt.
    pub prompt: String,
    /// Turns of the conversation that no longer fit.
    pub history_omitted: u64,
    /// What the scanner says of message and answer.
    pub scanned: Scans,
    /// What the host itself took, in milliseconds: everything but waiting for the agent's process,
    /// for the model, for other agents and for pages.
    pub overhead_ms: f64,
}

/// Verdicts of the scanner.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scans {
    /// On the message.
    pub input: &'static str,
    /// On the answer.
    pub output: &'static str,
}

impl Host {
    /// Runs one turn to its end. Whatever stops it, a turn that was finished stays finished.
    ///
    /// # Errors
    ///
    /// If the turn cannot start, or the agent fails; the turn is on record as failed then.
    pub fn turn(
        self: &Arc<Self>,
        request: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let began = Instant::now();
        let (found, canary) = self.session_of(request)?;
        // Before and after the files are read: what an agent slips in meanwhile takes no effect.
        self.check_trusted()?;
        let prepared = self.prepare(request, found.as_ref(), &canary)?;
        self.check_trusted()?;
        prepared.check_room()?;
        for warning in &prepared.warnings {
            observer.warning(warning);
        }
        let sandbox = &prepared.sandbox;
        if let Some(warning) = advisory(sandbox.name(), sandbox.guarantees()) {
            observer.warning(&warning);
        }
        for content in &prepared.external {
            if content.verdict != ScanVerdict::Pass {
                let verdict = content.verdict.as_str();
                observer.notice(&format!("the scanner says {verdict} of {}", content.source));
            }
        }
        observer.prepared(&prepared);
        let scanned = self.scan_message(request)?;
        if scanned == ScanVerdict::Flag {
            observer.notice("the message reads like an attempt to steer the agent; it was flagged");
        }
        let session = match found {
            Some(session) => session,
            None => self.new_session(request, &prepared, &canary)?,
        };
        let token = random_hex::<32>()?;
        let number = self.begin(request, &session, &prepared)?;
        let active =
            ActiveSession::new(self, &session, Some(number), request.depth, token, &prepared);
        let active = Arc::new(active);
        let result = self.run(&active, &session, number, &prepared, scanned, began, observer);
        if let Err(error) = &result {
            self.fail(&active, number, error);
        }
        result
    }

    fn scan_message(&self, request: &TurnRequest) -> Result<ScanVerdict, HostError> {
        let Some(scanner) = self.scanner() else { return Ok(ScanVerdict::Pass) };
        let provenance = match &request.origin {
            Origin::Agent { tainted: true, .. } | Origin::Schedule { tainted: true } => {
                Provenance::External
            }
            _ => Provenance::User,
        };
        let scanned = scan_input(scanner, &request.message, provenance);
        if scanned.verdict == ScanVerdict::Block {
            let subject = request.session.as_ref().map_or("new", SessionId::as_str);
            let detail = json!({ "score": scanned.score, "reason": scanned.reason });
            let event = Event::new(&self.options.person, "scan.input", subject, Outcome::Refused);
            self.record_durably(event.with_detail(detail))?;
            return Err(HostError::Blocked { reason: scanned.reason });
        }
        Ok(scanned.verdict)
    }

    pub(crate) fn new_session(
        &self,
        request: &TurnRequest,
        prepared: &PreparedTurn,
        canary: &str,
    ) -> Result<Session, HostError> {
        let id = match &request.session {
            Some(id) => id.clone(),
            None => SessionId::random()?,
        };
        let parent = match &request.origin {
            Origin::Agent { parent, .. } => Some(parent.clone()),
            _ => None,
        };
        let new = NewSession {
            id: id.clone(),
            agent: prepared.agent.clone(),
            user: prepared.user.clone(),
            runner: prepared.runner.as_str().to_owned(),
            canary: canary.to_owned(),
            parent,
            depth: request.depth,
            channel: prepared.context.channel.inspect().to_owned(),
        };
        let now = self.now();
        let event = Event::new(&self.options.person, "session.create", id.as_str(), Outcome::Done)
            .with_detail(json!({ "agent": new.agent, "runner": new.runner, "depth": new.depth }));
        self.writer.write(now, move |write| {
            write.session_create(&new, now)?;
            write.audit(&event).map(drop)
        })?;
        let made = self.reader.session(&id)?;
        made.ok_or_else(|| HostError::Limit(format!("the session `{id}` is gone")))
    }

    /// Begins the turn: message and recalled memories are on record before the agent sees them.
    fn begin(
        &self,
        request: &TurnRequest,
        session: &Session,
        prepared: &PreparedTurn,
    ) -> Result<TurnNumber, HostError> {
        let now = self.now();
        let (provenance, external, source) = match &request.origin {
            Origin::Person => (Provenance::User, false, "message"),
            Origin::Schedule { tainted: true } => (Provenance::External, true, "schedule"),
            Origin::Schedule { tainted: false } => (Provenance::Operator, false, "schedule"),
            Origin::Agent { tainted: true, .. } => (Provenance::External, true, "parent agent"),
            Origin::Agent { tainted: false, .. } => (Provenance::User, false, "parent agent"),
        };
        let content = |provenance, source: &str, text: &str, external| Content {
            provenance,
            source: source.to_owned(),
            tokens: u64::from(estimate(text)),
            external,
            at: now,
        };
        let mut contents = vec![content(provenance, source, &request.message, external)];
        for content in &prepared.external {
            contents.push(Content {
                provenance: Provenance::External,
                source: content.source.clone(),
                tokens: content.tokens,
                external: true,
                at: now,
            });
        }
        let context = &prepared.context;
        for memory in context.memories.iter().chain(&context.activity) {
            let text = memory.text.inspect();
            contents.push(content(Provenance::Memory, "recalled", text, memory.tainted));
        }
        let (id, owner, message) =
            (session.id.clone(), self.owner.clone(), prepared.message.clone());
        let event = Event::new(&self.options.person, "turn.begin", id.as_str(), Outcome::Pending)
            .with_detail(json!({
                "model": prepared.model, "runner": prepared.runner.as_str(),
                "sandbox": prepared.context.sandbox_type.inspect(), "prompt": prepared.prompt.digest(),
                "external": prepared.external.len(),
                "governance": if prepared.sandbox.guarantees().advisory() { "advisory" } else { "enforced" },
            }));
        let before = session.clone();
        self.writer.write(now, move |write| -> Result<_, HostError> {
            for running in write.running_turns(Some(&id))? {
                if process_identity::is_alive(&running.owner) {
                    return Err(HostError::Busy { session: id.as_str().to_owned() });
                }
                write.turns_abandon(&id, &running.owner, now)?;
            }
            // History, taint and canary are those of the session as it was when it was read.
            let current = write.session(&id)?;
            if !current.is_some_and(|current| {
                (current.turns, current.last_at) == (before.turns, before.last_at)
                    && current.canary() == before.canary()
            }) {
                return Err(HostError::SessionChanged { session: id.as_str().to_owned() });
            }
            let number = write.turn_begin(&id, &message, &owner, now)?;
            for content in &contents {
                write.content_add(&id, Some(number), content)?;
            }
            write.audit(&event)?;
            Ok(number)
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one turn, named one by one")]
    fn run(
        &self,
        active: &Arc<ActiveSession>,
        session: &Session,
        number: TurnNumber,
        prepared: &PreparedTurn,
        scanned: ScanVerdict,
        began: Instant,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let name = random_hex::<8>()?;
        let run_dir = RunDir::create(&self.options.run_base, &name, &self.owner)?;
        let workspace = self.workspace()?;
        // There from the start, it is the store that fills it: inside it cannot be written.
        let skills = self.root.join(&workspace.config().skills.directory);
        std::fs::create_dir_all(&skills)
            .map_err(|error| HostError::io(format!("make {}", skills.display()), error))?;
        let governed = workspace.governed()?;
        let quarantine = Quarantine::before(&governed);
        let spec = self.spec(prepared, &governed, &quarantine, &run_dir)?;
        let inside = prepared.sandbox.run_dir_inside(&spec);
        let job = self.job(prepared, active, inside.join(run_dir::SOCKET), &spec)?;
        let server = Server::start(active, &run_dir.socket())?;
        let mut process = AgentProcess::start(prepared.sandbox.as_ref(), &spec, job)?;
        let outcome = self.listen(active, &mut process, observer);
        let outcome = self.without_leaks(active, outcome);
        let away = process.away();
        drop(process);
        // Whatever the agent started ends with it, and nobody waits for an answer any more.
        active.tree.cancel();
        drop(server);
        let accepted = self.accepted()?;
        let place = format!("{}-{}", session.id, number.0);
        let aside = quarantine.after(&workspace, &place, accepted.as_ref());
        for fault in aside.faults {
            let fault = visible_line(&fault.to_string());
            observer.notice(&format!("what the agent made may be left in its place: {fault}"));
            let event = active.event("governed.quarantine", Outcome::Failed);
            self.record(event.with_detail(json!({ "reason": fault })));
        }
        for found in aside.moved {
            let why = match found.group {
                Some(_) => "which is governed",
                None => "which your own git would heed",
            };
            observer.notice(&format!(
                "the agent made {}, {why}; it was moved to {}",
                visible_line(&found.path),
                visible_line(&found.moved_to)
            ));
            let event = active.event("governed.quarantine", Outcome::Refused);
            self.record(event.with_detail(json!({ "path": found.path, "moved": found.moved_to })));
        }
        let outcome = outcome?;
        let report_parts = self.finish(active, session, number, &outcome)?;
        let level = active.taint()?;
        let overhead = began.elapsed().saturating_sub(away) + active.busy();
        Ok(TurnReport {
            session: session.id.as_str().to_owned(),
            turn: number.0,
            state: if outcome.held.is_some() { "held" } else { "done" },
            answer: outcome.answer,
            held: outcome.held,
            stop_reason: outcome.stop_reason,
            usage: report_parts.tokens,
            calls: report_parts.calls,
            taint_ratio: level.ratio(),
            taint_threshold: active.threshold,
            sandbox: prepared.context.sandbox_type.inspect().to_owned(),
            model: prepared.model.clone(),
            prompt: prepared.prompt.digest(),
            history_omitted: prepared.history.omitted.map_or(0, |omitted| omitted.turns),
            scanned: Scans { input: scanned.as_str(), output: outcome.output.as_str() },
            overhead_ms: overhead.as_secs_f64() * 1000.0,
        })
    }

    /// Finishes the turn in one transaction: from here on it cannot be lost.
    fn finish(
        &self,
        active: &ActiveSession,
        session: &Session,
        number: TurnNumber,
        outcome: &AgentOutcome,
    ) -> Result<TurnUsage, HostError> {
        let spent = active.spent();
        let now = self.now();
        let message = self.reader.turns(&session.id, foreword_store::TurnRange::newest(1))?;
        let said = message.last().map(|turn| turn.message.clone()).unwrap_or_default();
        let mut messages = vec![Message::user(said)];
        match &outcome.held {
            None => messages.extend(outcome.messages.iter().cloned()),
            Some(_) => messages.push(Message::assistant("[this answer was held back]")),
        }
        let finished = FinishedTurn {
            messages: serde_json::to_string(&messages).unwrap_or_else(|_| "[]".to_owned()),
            answer: outcome.answer.clone(),
            usage: spent,
            state: if outcome.held.is_some() { TurnEnd::Held } else { TurnEnd::Done },
            at: now,
        };
        let result = if outcome.held.is_some() { Outcome::Refused } else { Outcome::Done };
        let event = active.event("turn.finish", result).with_detail(json!({
            "turn": number.0, "held": outcome.held, "usage": finished.usage,
        }));
        let leaked = leaked(active).is_some() || outcome.held.is_some();
        let canary = if leaked { Some(new_canary()?) } else { None };
        let rotate = active.event("canary.rotate", Outcome::Done);
        let id = session.id.clone();
        self.writer.write(now, move |write| -> Result<(), StoreError> {
            write.turn_finish(&id, number, &finished)?;
            write.audit(&event)?;
            if let Some(canary) = canary {
                write.session_canary(&id, canary.as_str())?;
                write.audit(&rotate)?;
            }
            Ok(())
        })?;
        Ok(spent)
    }

    /// Puts on record that a turn failed; the error itself goes to whoever asked.
    fn fail(&self, active: &ActiveSession, number: TurnNumber, error: &HostError) {
        let (id, reason, now) = (active.session.clone(), error.to_string(), self.now());
        let usage = active.spent();
        let event = Event::new("host", "turn.fail", id.as_str(), Outcome::Failed)
            .with_detail(json!({ "turn": number.0, "reason": reason, "usage": usage }));
        let written = self.writer.write(now, move |write| -> Result<(), StoreError> {
            write.turn_fail(&id, number, &reason, usage, now)?;
            write.audit(&event).map(drop)
        });
        if let Err(error) = written {
            tracing::error!("a failed turn could not be put on record: {error}");
        }
    }
}
