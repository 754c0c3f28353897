//! Calls of the model.

use foreword_ipc::{ErrorCode, Failure, ModelCall};
use foreword_store::Outcome;
use serde_json::{Value, json};

use crate::live::Live;
use crate::proxy::{self, Sink};

pub(super) fn call(live: &Live, args: &ModelCall, sink: Sink<'_>) -> Result<Value, Failure> {
    let upstream = live
        .upstream
        .as_ref()
        .ok_or_else(|| Failure::new(ErrorCode::Unavailable, "this session has no model to call"))?;
    let facts = proxy::check(args, upstream.provider, &live.prompt)?;
    let called = proxy::call(upstream, args, &live.tree, sink)?;
    live.spend(called.usage);
    let detail = json!({
        "model": facts.model, "status": called.status, "usage": called.usage,
        "turn": live.turn.map(|turn| turn.0),
    });
    live.host.record(live.event("model.call", Outcome::Done).with_detail(detail));
    Ok(json!({ "status": called.status, "usage": called.usage }))
}
