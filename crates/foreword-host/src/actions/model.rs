//! Calls of the model.

use std::time::Instant;

use foreword_protocol::{ErrorCode, Failure, ModelCall};
use foreword_store::Outcome;
use serde_json::{Value, json};

use crate::model::proxy::{self, Sink};
use crate::turn::active_session::ActiveSession;

/// Loops of others also call the model for titles and the like; so many more than steps may be.
const MAX_EXTRA_CALLS: u64 = 20;

pub(super) fn call(
    active: &ActiveSession,
    args: &ModelCall,
    sink: Sink<'_>,
) -> Result<Value, Failure> {
    let upstream = active
        .upstream
        .as_ref()
        .ok_or_else(|| Failure::new(ErrorCode::Unavailable, "this session has no model to call"))?;
    let most = u64::from(active.settings.max_steps) + MAX_EXTRA_CALLS;
    if active.activity.count_model_call() >= most {
        let message = format!("this turn has called the model {most} times (host.max_steps)");
        return Err(Failure::new(ErrorCode::Limit, message));
    }
    let began = Instant::now();
    let facts = proxy::check(args, upstream.provider, &active.prompt)?;
    active.policy.check(&facts, args.body.get(), &active.prompt)?;
    active.worked(began.elapsed());
    let agent = active.host.model_agent(upstream.timeout);
    let called = proxy::call(&agent, upstream, args, &active.tree, &mut |part| {
        let began = Instant::now();
        let sent = sink(part);
        active.worked(began.elapsed());
        sent
    })?;
    active.spend(called.usage);
    let detail = json!({
        "model": facts.model, "status": called.status, "usage": called.usage,
        "turn": active.turn.map(|turn| turn.0),
    });
    active.host.record(active.event("ipc.model_call", Outcome::Done).with_detail(detail));
    Ok(json!({ "status": called.status, "usage": called.usage }))
}
