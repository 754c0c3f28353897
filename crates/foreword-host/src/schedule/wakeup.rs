//! Running the schedules that are due, and the heartbeat.

use std::sync::Arc;

use foreword_store::{Event, Outcome, Schedule, SessionId, StoreError, When};
use serde::Serialize;
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::schedule::cron::Cron;
use crate::schedule::iso_time;
use crate::turn::report::{Observer, TurnReport};
use crate::turn::request::{Origin, TurnRequest};

/// What an agent is told at a heartbeat.
const MESSAGE: &str = include_str!("heartbeat.md");
/// The session of all heartbeats, so that each knows what the last one found.
const SESSION: &str = "heartbeat";

/// A turn that starts without a message from a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wakeup {
    /// The schedule's id; absent for the heartbeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The agent; by default that of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who created the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was due.
    pub due: String,
    /// When it is due again; absent after the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What the agent is told.
    pub message: String,
    /// Whether the message may contain external content.
    pub tainted: bool,
}

/// How such a turn ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeupReport {
    #[serde(flatten)]
    pub wakeup: Wakeup,
    /// The turn's report, if it finished.
    #[serde(flatten)]
    pub report: Option<TurnReport>,
    /// Why it did not finish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Host {
    /// Runs every schedule that is due. Each runs once among all hosts of the workspace, however often
    /// it was missed. If one turn fails, the others still run.
    ///
    /// The `template` provides everything but message, session, agent and user.
    ///
    /// Fails if no turn could start at all, for example without a model; then every schedule stays
    /// due. If the template's tree is cancelled, schedules that have not started stay due.
    pub fn run_due(
        self: &Arc<Self>,
        template: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> Result<Vec<WakeupReport>, HostError> {
        let due = self.reader.schedules_due(self.now())?;
        let mut reports = Vec::new();
        for schedule in due {
            if let Some(tree) = &template.tree {
                tree.check()?;
            }
            if reports.is_empty() {
                // A fault that stops every turn must not use up schedules that run only once.
                let prepared = self.dry_run(&TurnRequest { agent: None, ..how(template) })?;
                prepared.upstream.check_key()?;
            }
            let claimed = self.claim(&schedule)?;
            self.show_pending_warnings(observer);
            let Some((wakeup, session)) = claimed else { continue };
            reports.push(self.wake(wakeup, &session, template, observer));
        }
        Ok(reports)
    }

    /// Runs a heartbeat for the default agent, unless its HEARTBEAT.md is empty.
    pub fn heartbeat(
        self: &Arc<Self>,
        template: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> Result<Option<WakeupReport>, HostError> {
        if let Some(tree) = &template.tree {
            tree.check()?;
        }
        let workspace = self.workspace()?;
        let agent =
            workspace.config().agent.as_deref().map(|id| workspace.agent(id)).transpose()?;
        let list = workspace.identity_files(agent.as_ref(), None)?.heartbeat;
        if list.is_blank() {
            return Ok(None);
        }
        self.check_used(&workspace.used_files())?;
        let time = iso_time(self.now());
        let wakeup = Wakeup {
            schedule: None,
            agent: None,
            by: None,
            message: format!(
                "{}\n\n{}",
                MESSAGE.trim_end().replace("{{time}}", &time),
                list.inspect().trim_end()
            ),
            tainted: false,
            due: time,
            next: None,
        };
        Ok(Some(self.wake(wakeup, &SessionId::parse(SESSION)?, template, observer)))
    }

    /// Claims a schedule for the session it runs in, unless another host was faster.
    fn claim(&self, schedule: &Schedule) -> Result<Option<(Wakeup, SessionId)>, HostError> {
        let Some(due) = schedule.next_at else { return Ok(None) };
        let now = self.now();
        let next = match &schedule.when {
            When::At(_) => None,
            // After now, not after the time it was due: missed runs are made up for once.
            When::Cron(cron) => Cron::parse(cron)
                .ok()
                .and_then(|cron| cron.next_after(now.div_euclid(1000)))
                .map(|next| next.saturating_mul(1000)),
        };
        let id = schedule.id.clone();
        let claimed =
            self.writer.write(now, move |write| write.schedule_claim(&id, due, next, now));
        let claimed = match claimed {
            Err(StoreError::Unsealed { id, .. }) => {
                self.report_unsealed("schedule", std::iter::once(id.as_str()));
                return Ok(None);
            }
            claimed => claimed?,
        };
        // What runs is the row as it was when its seal was checked.
        let Some(schedule) = claimed else { return Ok(None) };
        let session = match schedule.session {
            Some(session) => session,
            None => SessionId::parse(&format!("schedule-{}", schedule.id.as_str()))?,
        };
        let wakeup = Wakeup {
            schedule: Some(schedule.id.as_str().to_owned()),
            agent: schedule.agent,
            by: Some(schedule.by),
            due: iso_time(due),
            next: next.map(iso_time),
            message: schedule.prompt,
            tainted: schedule.tainted,
        };
        Ok(Some((wakeup, session)))
    }

    fn wake(
        self: &Arc<Self>,
        wakeup: Wakeup,
        session: &SessionId,
        template: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> WakeupReport {
        observer.wakes(&wakeup);
        let request = TurnRequest {
            message: wakeup.message.clone(),
            session: Some(session.clone()),
            agent: wakeup.agent.clone(),
            origin: Origin::Schedule { tainted: wakeup.tainted },
            tree: template.tree.as_ref().map(|tree| tree.next_message()),
            ..how(template)
        };
        let (report, error) = match self.turn(&request, observer) {
            Ok(report) => (Some(report), None),
            Err(error) => (None, Some(error.to_string())),
        };
        if let (Some(id), Some(reason)) = (&wakeup.schedule, &error) {
            let event = Event::new("host", "schedule.fail", id.as_str(), Outcome::Failed);
            self.record(event.with_text(session, json!({ "reason": reason })));
        }
        let report = WakeupReport { wakeup, report, error };
        observer.woke(&report);
        report
    }
}

/// The part of a template that says how a turn runs.
fn how(template: &TurnRequest) -> TurnRequest {
    TurnRequest {
        runner: template.runner,
        model: template.model.clone(),
        sandbox: template.sandbox,
        cwd: template.cwd.clone(),
        ..TurnRequest::default()
    }
}
