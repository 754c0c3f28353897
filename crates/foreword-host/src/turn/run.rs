//! Running one turn from its request to its report.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use foreword::{Choice, visible_line};
use foreword_guard::ScanVerdict;
use foreword_sandbox::SandboxKind;
use foreword_store::{HeldState, Outcome, Session, TurnNumber};
use foreword_workspace::Governed;
use serde_json::json;

use crate::error::HostError;
use crate::governance::before::{BeforeTurn, TurnId};
use crate::governance::quarantine::Quarantine;
use crate::host::Host;
use crate::mcp::ServerPlace;
use crate::random::random_hex;
use crate::spending::budget::{SpentBefore, TurnBudget};
use crate::spending::{LimitReached, usd};
use crate::turn::active_session::ActiveSession;
use crate::turn::agent_tree::AgentTree;
use crate::turn::prepare::PreparedTurn;
use crate::turn::process::AgentProcess;
use crate::turn::report::{
    HeldFile, INTERRUPTED, Noting, Observer, Scans, TurnChanges, TurnReport,
};
use crate::turn::request::TurnRequest;
use crate::turn::run_dir::{self, RunDir};
use crate::turn::sandbox::prompt_name;
use crate::turn::server::Server;
use crate::turn::start_gate::StartPermit;
use crate::turn::warning::{ReadBy, Warning};

/// A turn that has started.
struct StartedTurn<'a> {
    active: Arc<ActiveSession>,
    session: &'a Session,
    number: TurnNumber,
    prepared: &'a PreparedTurn,
    message_verdict: ScanVerdict,
    began: Instant,
}

impl Host {
    /// Runs one turn to its end. If the agent fails, the turn is recorded as failed.
    pub fn turn(
        self: &Arc<Self>,
        request: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let began = Instant::now();
        let request = &*request.named()?;
        let permit =
            self.start_gate.enter(&|| request.tree.as_ref().map_or(Ok(()), AgentTree::check))?;
        // A thread of its own gives back what the allocator keeps for it. A caller's thread may live for long,
        // and hundreds of them would keep a cache each.
        thread::scope(|scope| {
            let turn = || self.run_turn(request, permit, began, observer);
            let thread = thread::Builder::new().name("foreword-turn".to_owned());
            let thread = thread
                .spawn_scoped(scope, turn)
                .map_err(|error| HostError::io("start a thread", error))?;
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    fn run_turn(
        self: &Arc<Self>,
        request: &TurnRequest,
        permit: StartPermit,
        began: Instant,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let mut noting = Noting::new(observer);
        let observer: &mut dyn Observer = &mut noting;
        let (found, canary) = self.session_of(request)?;
        self.check_trusted(request.cwd.as_deref())?;
        if let Some(weaker) = self.weaker_sandbox(request)? {
            return Err(HostError::WeakerSandbox(weaker));
        }
        let prepared = self.prepare(request, found.as_ref(), &canary)?;
        prepared.upstream.check_key()?;
        self.check_used(&prepared.turn.used_files)?;
        self.check_skills(&prepared.turn.local_skills)?;
        prepared.check_room()?;
        let before = match prepared.tree.budget() {
            // A sub-agent spends from the budget of the message.
            Some(_) => SpentBefore::default(),
            None => self.spent_before(&prepared.limits, found.as_ref().map(|found| &found.id))?,
        };
        self.show_pending_warnings(observer);
        warn_about(request, &prepared, observer);
        observer.prepared(&prepared);
        let message_verdict = self.scan_message(request)?;
        if message_verdict == ScanVerdict::Flag {
            observer.warning(&Warning::SuspectMessage);
        }
        let session = match found {
            Some(session) => session,
            None => self.new_session(request, &prepared, &canary)?,
        };
        prepared.set_budget(&session.id, before);
        let number = self.begin_turn(request, &session, &prepared)?;
        let active = ActiveSession::of_turn(self, &session, Some(number), request.depth, &prepared);
        let turn = StartedTurn {
            active: Arc::new(active),
            session: &session,
            number,
            prepared: &prepared,
            message_verdict,
            began,
        };
        let mut result = self.run_agent(&turn, permit, observer);
        if let Ok(report) = &mut result {
            let summary = self.compact(&turn.active, &prepared, observer);
            report.usage = report.usage.and(summary.tokens);
            report.calls += summary.calls;
            noting.report_in(report);
        }
        if let Some(budget) = prepared.tree.budget()
            && budget.root == session.id
        {
            budget.end(self, number);
        }
        if let Err(error) = &result {
            self.fail_turn(&turn.active, number, error);
        }
        result
    }

    fn run_agent(
        &self,
        turn: &StartedTurn<'_>,
        permit: StartPermit,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let StartedTurn { active, session, number, prepared, .. } = turn;
        let run_dir = RunDir::create(&self.options.run_base, &random_hex::<8>()?, &self.owner)?;
        let token = random_hex::<32>()?;
        let workspace = self.workspace()?;
        // The skill store writes here while the agent runs. A directory that appears only then would
        // look like the agent's and be quarantined.
        let skills = self.root.join(&workspace.config().skills.directory);
        std::fs::create_dir_all(&skills)
            .map_err(|error| HostError::io(format!("create {}", skills.display()), error))?;
        let protected = self.protected_paths(&prepared.turn.cwd)?;
        for fault in protected.repositories.faults() {
            observer.warning(&Warning::GitSettings { reason: fault.clone() });
        }
        let quarantine = Quarantine::before(&protected.governed, protected.repositories.clone());
        let looking = Instant::now();
        let before = BeforeTurn::capture(&self.root, self.turn_id(turn))?;
        let looked = looking.elapsed();
        let started = self.sandbox_spec(prepared, &protected, &before, &run_dir).and_then(|spec| {
            let socket = prepared.turn.sandbox.run_dir_inside(&spec).join(run_dir::SOCKET);
            let job = self.job(prepared, socket, &token, &spec, *number)?;
            active.servers.set_place(ServerPlace::of(&prepared.turn.sandbox, &spec));
            let server = Server::start(active, &run_dir.socket(), token)?;
            let sandbox = prepared.turn.sandbox.as_ref();
            Ok((server, AgentProcess::start(sandbox, &spec, job, &self.monitor, permit)?))
        });
        let (server, mut process) = started.inspect_err(|_| before.forget())?;
        let outcome = self.read_agent_output(active, &mut process, observer);
        let outcome = self.check_leaks(active, outcome);
        let waited = process.waited();
        drop(process);
        // Everything the agent started ends with it.
        active.tree.cancel();
        drop(server);
        active.servers.end();
        let place = format!("{}-{}", session.id, number.0);
        let quarantined = self.quarantine_new_files(active, &quarantine, &place, observer);
        let looking = Instant::now();
        let changes = self.account_for_turn(turn, &before, &protected.governed, observer);
        let looked = looked + looking.elapsed();
        self.show_pending_warnings(observer);
        quarantined?;
        let (changes, outcome) = (changes?, outcome?);
        let usage = self.finish_turn(active, session, *number, &outcome)?;
        let limit = prepared.tree.budget().and_then(TurnBudget::reached);
        let spent = prepared.tree.budget().map(TurnBudget::used).unwrap_or_default();
        let elapsed = turn.began.elapsed().saturating_sub(waited).saturating_sub(looked);
        let overhead = elapsed + active.activity.host_time();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        Ok(TurnReport {
            session: session.id.as_str().to_owned(),
            turn: number.0,
            state: match &outcome.held {
                Some(_) => "held",
                None if outcome.interrupted => INTERRUPTED,
                None => "done",
            },
            answer: outcome.answer,
            held: outcome.held.map(|held| held.to_string()),
            stop_reason: outcome.stop_reason,
            usage: usage.tokens,
            calls: usage.calls,
            cost_usd: usd(spent),
            limit: limit.map(ToString::to_string),
            limit_hint: limit.map(LimitReached::hint),
            taint_ratio: active.taint()?.ratio(),
            taint_threshold: active.taint_threshold(),
            sandbox: prepared.turn.context.sandbox_type.inspect().to_owned(),
            model: prepared.model.clone(),
            prompt: prepared.turn.prompt.digest(),
            history_omitted: prepared.turn.history.omitted.map_or(0, |omitted| omitted.turns),
            scanned: Scans {
                input: turn.message_verdict.as_str(),
                output: outcome.verdict.as_str(),
            },
            refused_calls: active.refused_calls(),
            warnings: Vec::new(),
            compactions: Vec::new(),
            changes,
            overhead_ms: milliseconds(overhead),
            look_ms: milliseconds(looked),
        })
    }

    fn turn_id(&self, turn: &StartedTurn<'_>) -> TurnId {
        let cwd =
            turn.prepared.turn.cwd.strip_prefix(&self.root).unwrap_or(&turn.prepared.turn.cwd);
        TurnId {
            session: turn.session.id.as_str().to_owned(),
            turn: turn.number.0,
            agent: turn.active.actor(),
            owner: self.owner.clone(),
            cwd: cwd.to_owned(),
        }
    }

    /// Puts back what the agent changed among the files that run, and says so.
    fn account_for_turn(
        &self,
        turn: &StartedTurn<'_>,
        before: &BeforeTurn,
        governed: &Governed,
        observer: &mut dyn Observer,
    ) -> Result<TurnChanges, HostError> {
        let active = &turn.active;
        // A ledger that cannot be read clears nothing.
        let tainted = active.is_tainted().unwrap_or(true);
        let (mut changes, faults) = self.account_for(before, Some(governed), tainted)?;
        for fault in &faults {
            let event = active.event("change.hold", Outcome::Failed);
            let reason = visible_line(&fault.to_string());
            self.record(event.with_detail(json!({ "reason": reason })));
            observer.warning(&Warning::put_back_failed(fault));
        }
        // What agents it started have changed was put back when they ended.
        let elapsed = i64::try_from(turn.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        let since = self.now().saturating_sub(elapsed);
        for held in self.reader.held_changes(Some(HeldState::Pending))? {
            if held.held_at >= since && held.session != turn.session.id {
                let id = held.id.to_string();
                changes.held.push(HeldFile { id, path: held.path, read_by: held.read_by });
            }
        }
        changes.warnings().iter().for_each(|warning| observer.warning(warning));
        Ok(changes)
    }

    /// Moves governed files that the agent created out of the way, and says so.
    fn quarantine_new_files(
        &self,
        active: &ActiveSession,
        quarantine: &Quarantine,
        place: &str,
        observer: &mut dyn Observer,
    ) -> Result<(), HostError> {
        let accepted = self.accepted()?;
        let report = quarantine.after(place, accepted.as_ref());
        for fault in report.faults {
            let reason = fault.to_string();
            let event = active.event("governed.quarantine", Outcome::Failed);
            self.record(event.with_detail(json!({ "reason": visible_line(&reason) })));
            observer.warning(&Warning::QuarantineFailed { reason });
        }
        for entry in report.moved {
            let event = active.event("governed.quarantine", Outcome::Refused);
            let detail = json!({ "path": entry.path, "moved": entry.moved_to });
            self.record(event.with_detail(detail));
            observer.warning(&Warning::Quarantined {
                path: entry.path,
                moved_to: entry.moved_to,
                read_by: if entry.group.is_some() { ReadBy::Model } else { ReadBy::Git },
            });
        }
        Ok(())
    }
}

fn warn_about(request: &TurnRequest, prepared: &PreparedTurn, observer: &mut dyn Observer) {
    for warning in &prepared.turn.warnings {
        observer.warning(&Warning::Gather(warning.clone()));
    }
    let sandbox = &prepared.turn.sandbox;
    let guarantees = sandbox.guarantees();
    let chosen = request.sandbox.unwrap_or(prepared.turn.config.host.sandbox);
    if let Some(warning) = Warning::of_sandbox(sandbox.name(), guarantees) {
        observer.warning(&warning);
    } else if chosen == Choice::Auto && sandbox.kind() == SandboxKind::Subprocess {
        let sandbox = prompt_name(sandbox.as_ref());
        observer.warning(&Warning::NoStrongerSandbox { sandbox, guarantees });
    }
    for content in prepared.turn.external.iter().filter(|c| c.verdict != ScanVerdict::Pass) {
        let (source, verdict) = (content.source.clone(), content.verdict);
        observer.warning(&Warning::SuspectContent { source, verdict });
    }
}
