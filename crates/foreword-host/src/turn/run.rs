//! Running one turn from its request to its report.

use std::sync::Arc;
use std::time::Instant;

use foreword::{Choice, visible_line};
use foreword_guard::ScanVerdict;
use foreword_sandbox::SandboxKind;
use foreword_store::{Outcome, Session, TurnNumber};
use serde_json::json;

use crate::error::HostError;
use crate::governance::quarantine::Quarantine;
use crate::host::Host;
use crate::random::random_hex;
use crate::turn::active_session::ActiveSession;
use crate::turn::prepare::PreparedTurn;
use crate::turn::process::AgentProcess;
use crate::turn::report::{Observer, Scans, TurnReport};
use crate::turn::request::TurnRequest;
use crate::turn::run_dir::{self, RunDir};
use crate::turn::sandbox::prompt_name;
use crate::turn::server::Server;
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
        let (found, canary) = self.session_of(request)?;
        self.check_trusted(request.cwd.as_deref())?;
        if let Some(weaker) = self.weaker_sandbox(request)? {
            return Err(HostError::WeakerSandbox(weaker));
        }
        let prepared = self.prepare(request, found.as_ref(), &canary)?;
        self.check_used(&prepared.used_files)?;
        prepared.check_room()?;
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
        let result = self.run_agent(&turn, observer);
        if let Err(error) = &result {
            self.fail_turn(&turn.active, number, error);
        }
        result
    }

    fn run_agent(
        &self,
        turn: &StartedTurn<'_>,
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
        let protected = self.protected_paths(&prepared.cwd)?;
        for fault in protected.repositories.faults() {
            observer.warning(&Warning::GitSettings { reason: fault.clone() });
        }
        let quarantine = Quarantine::before(&protected.governed, protected.repositories.clone());
        let files = self.files_before_turn()?;
        let spec = self.sandbox_spec(prepared, &protected, &run_dir)?;
        let socket = prepared.sandbox.run_dir_inside(&spec).join(run_dir::SOCKET);
        let job = self.job(prepared, socket, &token, &spec)?;
        let server = Server::start(active, &run_dir.socket(), token)?;
        let mut process =
            AgentProcess::start(prepared.sandbox.as_ref(), &spec, job, &self.monitor)?;
        let outcome = self.read_agent_output(active, &mut process, observer);
        let outcome = self.check_leaks(active, outcome);
        let waited = process.waited();
        drop(process);
        // Everything the agent started ends with it.
        active.tree.cancel();
        drop(server);
        let place = format!("{}-{}", session.id, number.0);
        self.quarantine_new_files(active, &quarantine, &place, observer)?;
        self.note_changed_files(&session.id, *number, active.is_tainted()?, files)?;
        self.show_pending_warnings(observer);
        let outcome = outcome?;
        let usage = self.finish_turn(active, session, *number, &outcome)?;
        let overhead = turn.began.elapsed().saturating_sub(waited) + active.activity.host_time();
        Ok(TurnReport {
            session: session.id.as_str().to_owned(),
            turn: number.0,
            state: if outcome.held.is_some() { "held" } else { "done" },
            answer: outcome.answer,
            held: outcome.held.map(|held| held.to_string()),
            stop_reason: outcome.stop_reason,
            usage: usage.tokens,
            calls: usage.calls,
            taint_ratio: active.taint()?.ratio(),
            taint_threshold: active.taint_threshold(),
            sandbox: prepared.context.sandbox_type.inspect().to_owned(),
            model: prepared.model.clone(),
            prompt: prepared.prompt.digest(),
            history_omitted: prepared.history.omitted.map_or(0, |omitted| omitted.turns),
            scanned: Scans {
                input: turn.message_verdict.as_str(),
                output: outcome.verdict.as_str(),
            },
            overhead_ms: overhead.as_secs_f64() * 1000.0,
        })
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
    for warning in &prepared.warnings {
        observer.warning(&Warning::Gather(warning.clone()));
    }
    let sandbox = &prepared.sandbox;
    let guarantees = sandbox.guarantees();
    let chosen = request.sandbox.unwrap_or(prepared.config.host.sandbox);
    if let Some(warning) = Warning::of_sandbox(sandbox.name(), guarantees) {
        observer.warning(&warning);
    } else if chosen == Choice::Auto && sandbox.kind() == SandboxKind::Subprocess {
        let sandbox = prompt_name(sandbox.as_ref());
        observer.warning(&Warning::NoStrongerSandbox { sandbox, guarantees });
    }
    for content in prepared.external.iter().filter(|c| c.verdict != ScanVerdict::Pass) {
        let (source, verdict) = (content.source.clone(), content.verdict);
        observer.warning(&Warning::SuspectContent { source, verdict });
    }
}
