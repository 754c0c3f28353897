//! Turns that nobody asks for at the moment: schedules that are due, and the heartbeat.

use std::sync::Arc;

use crate::schedule::cron::Cron;
use foreword::Timestamp;
use foreword_store::{Event, Outcome, Schedule, SessionId, StoreError, When};
use serde::Serialize;
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::turn::prepare::{Origin, TurnRequest};
use crate::turn::{Observer, TurnReport};

/// What an agent is told at a heartbeat.
const MESSAGE: &str = include_str!("heartbeat.md");
/// The session of all heartbeats, so that one knows what the last one found.
const SESSION: &str = "heartbeat";

/// Why an agent is set to work without a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wakeup {
    /// The schedule; none for the heartbeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The agent; none is the workspace's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who made the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was due.
    pub due: String,
    /// When it is due again; a schedule that has nothing more to run is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What the agent is told.
    pub message: String,
    /// May that come from outside?
    pub tainted: bool,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeupReport {
    /// Why.
    #[serde(flatten)]
    pub waking: Wakeup,
    /// The turn, if it came to its end.
    #[serde(flatten)]
    pub report: Option<TurnReport>,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Host {
    /// Runs every schedule that is due, each exactly once among all hosts of the workspace, however
    /// often it was missed. A turn that fails does not keep the others from running.
    ///
    /// Of `template`, everything counts but message, session, agent and user.
    ///
    /// # Errors
    ///
    /// If no turn could start at all, such as without a model: then every schedule stays due. If the
    /// tree of the template is cancelled, what has not begun stays due too.
    pub fn run_due(
        self: &Arc<Self>,
        template: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> Result<Vec<WakeupReport>, HostError> {
        let due = self.reader.schedules_due(self.now())?;
        let mut woken = Vec::new();
        for schedule in due {
            if let Some(tree) = &template.tree {
                tree.check()?;
            }
            if woken.is_empty() {
                // What would stop every turn must not use up schedules that run once.
                self.dry_run(&TurnRequest { agent: None, ..bare(template) })?;
            }
            let Some(waking) = self.claim(&schedule)? else { continue };
            let session = match schedule.session {
                Some(session) => session,
                None => SessionId::parse(&format!("schedule-{}", schedule.id.as_str()))?,
            };
            woken.push(self.wake(waking, session, template, observer));
        }
        Ok(woken)
    }

    /// Runs a heartbeat for the default agent, if its HEARTBEAT.md has anything to say.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be read, or the turn was cancelled before it began.
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
        if list.is_none_or(|file| file.text.trim().is_empty()) {
            return Ok(None);
        }
        let time = shown(self.now());
        let waking = Wakeup {
            schedule: None,
            agent: None,
            by: None,
            message: MESSAGE.trim_end().replace("{{time}}", &time),
            tainted: false,
            due: time,
            next: None,
        };
        Ok(Some(self.wake(waking, SessionId::parse(SESSION)?, template, observer)))
    }

    /// Takes a schedule to run it, unless another host was faster.
    fn claim(&self, schedule: &Schedule) -> Result<Option<Wakeup>, HostError> {
        let Some(due) = schedule.next_at else { return Ok(None) };
        let now = self.now();
        let next = match &schedule.when {
            When::At(_) => None,
            // After now, not after the time it was due: what was missed is made up for once.
            When::Cron(cron) => Cron::parse(cron)
                .ok()
                .and_then(|cron| cron.next_after(now.div_euclid(1000)))
                .map(|next| next.saturating_mul(1000)),
        };
        let id = schedule.id.clone();
        let event = Event::new("host", "schedule.run", id.as_str(), Outcome::Pending)
            .with_detail(json!({ "due": due, "next": next, "by": schedule.by }));
        let ours = self.writer.write(now, move |write| -> Result<bool, StoreError> {
            let ours = write.schedule_claim(&id, due, next, now)?;
            if ours {
                write.audit(&event)?;
            }
            Ok(ours)
        })?;
        Ok(ours.then(|| Wakeup {
            schedule: Some(schedule.id.as_str().to_owned()),
            agent: schedule.agent.clone(),
            by: Some(schedule.by.clone()),
            due: shown(due),
            next: next.map(shown),
            message: schedule.prompt.clone(),
            tainted: schedule.tainted,
        }))
    }

    fn wake(
        self: &Arc<Self>,
        waking: Wakeup,
        session: SessionId,
        template: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> WakeupReport {
        observer.wakes(&waking);
        let request = TurnRequest {
            message: waking.message.clone(),
            session: Some(session),
            agent: waking.agent.clone(),
            origin: Origin::Schedule { tainted: waking.tainted },
            tree: template.tree.as_ref().map(|tree| tree.next_message()),
            ..bare(template)
        };
        let (report, error) = match self.turn(&request, observer) {
            Ok(report) => (Some(report), None),
            Err(error) => (None, Some(error.to_string())),
        };
        if let (Some(id), Some(reason)) = (&waking.schedule, &error) {
            let event = Event::new("host", "schedule.fail", id.as_str(), Outcome::Failed);
            self.record(event.with_detail(json!({ "reason": reason })));
        }
        let woken = WakeupReport { waking, report, error };
        observer.woke(&woken);
        woken
    }
}

/// How a turn is run, whatever it is about.
fn bare(template: &TurnRequest) -> TurnRequest {
    TurnRequest {
        runner: template.runner,
        model: template.model.clone(),
        sandbox: template.sandbox,
        cwd: template.cwd.clone(),
        ..TurnRequest::default()
    }
}

fn shown(ms: i64) -> String {
    Timestamp::from_unix(ms.div_euclid(1000)).as_str().to_owned()
}
