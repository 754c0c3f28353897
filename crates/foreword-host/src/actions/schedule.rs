//! Schedules that an agent adds, lists and removes.

use foreword::Timestamp;
use foreword_protocol::{ErrorCode, Failure, ScheduleAdd, ScheduleRemove};
use foreword_store::{NewSchedule, When};
use serde_json::{Value, json};

use super::change;
use super::content::ImportedTexts;
use crate::error::HostError;
use crate::schedule::{Cron, iso_time};
use crate::turn::active_session::ActiveSession;

pub(super) fn add(active: &ActiveSession, args: ScheduleAdd) -> Result<Value, Failure> {
    let bad = |message: String| Failure::new(ErrorCode::BadRequest, message);
    if args.prompt.trim().is_empty() {
        return Err(bad("`prompt` must not be empty".to_owned()));
    }
    let now = active.host.now();
    let (when, next_at) = match (args.cron, args.at) {
        (Some(cron), None) => {
            let parsed = Cron::parse(&cron).map_err(|error| bad(error.to_string()))?;
            let next = parsed.next_after(now.div_euclid(1000));
            let next = next.ok_or_else(|| bad(format!("`{cron}` never runs")))?;
            (When::Cron(cron), next.saturating_mul(1000))
        }
        (None, Some(at)) => {
            let at = Timestamp::parse(&at).ok_or_else(|| {
                bad(format!("invalid time `{at}`; write for example 2026-02-26T14:30:00Z"))
            })?;
            let ms = at.unix().saturating_mul(1000);
            if ms <= now {
                return Err(bad(format!("{} is in the past", at.as_str())));
            }
            (When::At(ms), ms)
        }
        _ => return Err(bad("give either `cron` or `at`".to_owned())),
    };
    if let Some(agent) = &args.agent {
        active.host.workspace()?.agent(agent).map_err(HostError::from)?;
    }
    let new = NewSchedule {
        when,
        prompt: args.prompt,
        agent: args.agent.or_else(|| active.identity.agent.clone()),
        session: None,
        by: active.actor(),
        next_at,
        // Even if a person approved it: the prompt may still quote external content.
        tainted: active.is_tainted()?,
    };
    let id = change(active, "schedule_add", move |write, now| {
        let id = write.schedule_add(&new, now)?;
        let detail = json!({ "schedule": id.as_str() });
        Ok((id, detail))
    })?;
    Ok(json!({ "id": id.as_str(), "next": iso_time(next_at) }))
}

pub(super) fn list(active: &ActiveSession) -> Result<Value, Failure> {
    let schedules = active.host.reader.schedule_list().map_err(HostError::from)?;
    let mut texts = ImportedTexts::default();
    let schedules: Vec<Value> = schedules
        .iter()
        .map(|entry| {
            let cron = match &entry.when {
                When::Cron(cron) => Some(cron),
                When::At(_) => None,
            };
            json!({
                "id": entry.id.as_str(), "cron": cron, "next": entry.next_at.map(iso_time),
                "prompt": texts.fence("schedule", &entry.prompt, entry.tainted),
                "agent": entry.agent, "runs": entry.runs, "by": entry.by, "tainted": entry.tainted,
            })
        })
        .collect();
    texts.record(active, "schedule_list")?;
    Ok(json!({ "schedules": schedules }))
}

pub(super) fn remove(active: &ActiveSession, args: ScheduleRemove) -> Result<Value, Failure> {
    let by = active.actor();
    let removed = change(active, "schedule_remove", move |write, _| {
        let removed = write.schedule_remove(&args.id, &by)?;
        let detail = json!({ "schedule": removed.id.as_str() });
        Ok((removed, detail))
    })?;
    Ok(json!({ "removed": removed.id.as_str() }))
}
