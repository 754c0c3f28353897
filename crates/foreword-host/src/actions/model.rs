//! Calls of the model.

use std::time::Instant;

use foreword_protocol::{ErrorCode, Failure, ModelCall};
use foreword_store::Outcome;
use serde_json::{Value, json};

use crate::model::proxy::{self, Sink};
use crate::turn::active_session::Live;

/// Loops of others also call the model for titles and the like; so many more than steps may be.
const CALLS_BESIDE: u64 = 20;

pub(super) fn call(live: &Live, args: &ModelCall, sink: Sink<'_>) -> Result<Value, Failure> {
    let upstream = live
        .upstream
        .as_ref()
        .ok_or_else(|| Failure::new(ErrorCode::Unavailable, "this session has no model to call"))?;
    let most = u64::from(live.settings.max_steps) + CALLS_BESIDE;
    if live.activity.count_model_call() >= most {
        let message = format!("this turn has called the model {most} times (host.max_steps)");
        return Err(Failure::new(ErrorCode::Limit, message));
    }
    let began = Instant::now();
    let facts = proxy::check(args, upstream.provider, &live.prompt)?;
    live.terms.check(&facts, args.body.get(), &live.prompt)?;
    live.worked(began.elapsed());
    let agent = live.host.model_agent(upstream.timeout);
    let called = proxy::call(&agent, upstream, args, &live.tree, &mut |part| {
        let began = Instant::now();
        let sent = sink(part);
        live.worked(began.elapsed());
        sent
    })?;
    live.spend(called.usage);
    let detail = json!({
        "model": facts.model, "status": called.status, "usage": called.usage,
        "turn": live.turn.map(|turn| turn.0),
    });
    live.host.record(live.event("ipc.model_call", Outcome::Done).with_detail(detail));
    Ok(json!({ "status": called.status, "usage": called.usage }))
}
