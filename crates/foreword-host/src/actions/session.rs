//! The session itself: how it stands, what its tools are, what its agent puts on record.

use foreword::nearest;
use foreword_protocol::{AuditReport, ErrorCode, Failure, ToolDescribe};
use serde_json::{Value, json};

use crate::error::HostError;
use crate::turn::active_session::Live;

/// The most characters of an agent's report that are kept.
const LONGEST_REPORT: usize = 4000;

pub(super) fn status(live: &Live) -> Result<Value, Failure> {
    let level = live.taint()?;
    let session = live.host.reader.session(&live.session).map_err(HostError::from)?;
    let refused = level.ratio() > live.threshold || level.external_since_person;
    Ok(json!({
        "session": live.session.as_str(),
        "agent": live.agent,
        "turn": live.turn.map(|turn| turn.0),
        "turns": session.map(|session| session.turns),
        "depth": live.depth,
        "sandbox": live.context.sandbox_type.inspect(),
        "profile": live.context.profile().as_str(),
        "tools": live.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        "taint": {
            "ratio": level.ratio(), "threshold": live.threshold,
            "externalTokens": level.external_tokens, "totalTokens": level.total_tokens,
            "externalSincePerson": level.external_since_person,
            "sensitiveActionsRefused": refused,
        },
    }))
}

pub(super) fn describe(live: &Live, args: &ToolDescribe) -> Result<Value, Failure> {
    if let Some(tool) = live.tools.iter().find(|tool| tool.name == args.name) {
        return Ok(json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
        }));
    }
    let tools = &live.context.tools;
    if let Some(tool) = tools.iter().find(|tool| tool.name.inspect() == args.name) {
        return Ok(json!({
            "name": args.name, "description": tool.description.inspect(), "inputSchema": null,
        }));
    }
    let known = live.tools.iter().map(|tool| tool.name.as_str());
    let near = nearest(&args.name, known);
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let name: String = args.name.chars().take(100).collect();
    Err(Failure::new(ErrorCode::NotFound, format!("there is no tool `{name}`{near}")))
}

pub(super) fn report(live: &Live, args: &AuditReport) -> Result<Value, Failure> {
    if args.event.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`event` must say what happened"));
    }
    let cut = |text: &str| text.chars().take(LONGEST_REPORT).collect::<String>();
    let detail = json!({ "event": cut(&args.event), "detail": args.detail.as_deref().map(cut) });
    super::change(live, "audit_report", detail, |_, _| Ok(()))?;
    Ok(json!({ "recorded": true }))
}
