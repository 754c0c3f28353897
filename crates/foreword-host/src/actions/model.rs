//! Calling the model.

use std::time::{Duration, Instant};

use foreword_protocol::{ErrorCode, Failure, ModelCall};
use foreword_store::Outcome;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::model::proxy::{self, Sink};
use crate::spending::budget::EndedCall;
use crate::turn::active_session::{ActiveSession, ModelAccess, SessionIdentity};
use crate::turn::tool_results::count_request;
use crate::turn::warning::Warning;

/// Calls allowed beyond `host.max_steps`, since third-party loops also ask the model for titles.
const MAX_EXTRA_CALLS: u64 = 20;

pub(super) fn call(
    active: &ActiveSession,
    args: &ModelCall,
    sink: Sink<'_>,
) -> Result<Value, Failure> {
    let ModelAccess { upstream, policy, .. } = active
        .model
        .as_ref()
        .ok_or_else(|| Failure::new(ErrorCode::Unavailable, "this session cannot call a model"))?;
    let max = u64::from(active.settings.max_steps) + MAX_EXTRA_CALLS;
    if active.activity.start_model_call() >= max {
        let message =
            format!("this turn has reached its limit of {max} model calls (host.max_steps)");
        return Err(Failure::new(ErrorCode::Limit, message));
    }
    let began = Instant::now();
    let size = policy.check(args, upstream.provider)?;
    count_request(active, args.body.get())?;
    let budget = active.budget()?;
    let reserved = budget.admit(&active.host, &policy.model, size).inspect_err(|error| {
        if let HostError::LimitReached(limit) = error {
            active.report_limit(budget, limit);
        }
    })?;
    active.activity.add_host_time(began.elapsed());
    let agent = active.host.model_agent(upstream.timeout);
    let on_retry = |reason: &str, wait: Duration| {
        active.host.warn_later(Warning::Retrying { reason: reason.to_owned(), wait });
    };
    let called = proxy::call(&agent, upstream, args, &active.tree, &on_retry, &mut |part| {
        let began = Instant::now();
        let sent = sink(part);
        active.activity.add_host_time(began.elapsed());
        sent
    });
    let usage = called.tokens(size);
    let SessionIdentity { session, turn, .. } = &active.identity;
    let call = EndedCall { session, turn: *turn, model: &policy.model, usage };
    let cost = budget.settle(&active.host, reserved, &call);
    active.activity.add_usage(usage);
    let unknown_model = called.unknown_model;
    let status = called.status?;
    active.activity.finish_model_call(status, unknown_model);
    let detail = json!({
        "model": policy.model, "status": status, "usage": usage, "microdollars": cost,
        "turn": turn.map(|turn| turn.0),
    });
    active.host.record(active.event("ipc.model_call", Outcome::Done).with_detail(detail));
    Ok(json!({ "status": status, "usage": usage }))
}
