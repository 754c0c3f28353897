//! The session itself: its status, its tools, and reports for the audit log.

use foreword::{estimate, nearest};
use foreword_guard::Provenance;
use foreword_protocol::{
    AuditReport, Block, Content, ErrorCode, Failure, Message, ResultRead, ToolDescribe,
};
use foreword_store::{Outcome, TurnNumber};
use serde_json::{Value, json};

use crate::error::HostError;
use crate::turn::active_session::ActiveSession;
use crate::turn::tool_results::is_framed;

const MAX_REPORT_CHARS: usize = 4000;

pub(super) fn status(active: &ActiveSession) -> Result<Value, Failure> {
    let level = active.taint()?;
    let session = active.host.reader.session(&active.identity.session).map_err(HostError::from)?;
    let refused = active.taint_gate().check("session_status", level).is_err();
    Ok(json!({
        "session": active.identity.session.as_str(),
        "agent": active.identity.agent,
        "turn": active.identity.turn.map(|turn| turn.0),
        "turns": session.map(|session| session.turns),
        "depth": active.identity.depth,
        "sandbox": active.prompt.context.sandbox_type.inspect(),
        "profile": active.prompt.context.profile().as_str(),
        "tools": active.prompt.tools.specs.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        "skills": active.prompt.allow_skills,
        "taint": {
            "ratio": level.ratio(), "threshold": active.taint_threshold(),
            "externalTokens": level.external_tokens, "totalTokens": level.total_tokens,
            "externalSincePerson": level.external_since_person,
            "sensitiveActionsRefused": refused,
        },
    }))
}

pub(super) fn describe(active: &ActiveSession, args: &ToolDescribe) -> Result<Value, Failure> {
    if let Some(tool) = active.prompt.tools.specs.iter().find(|tool| tool.name == args.name) {
        return Ok(json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
        }));
    }
    if let Some(target) = active.prompt.tools.servers.get(&args.name) {
        let tool = &target.spec;
        return Ok(json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
        }));
    }
    let tools = &active.prompt.context.tools;
    if let Some(tool) = tools.iter().find(|tool| tool.name.inspect() == args.name) {
        return Ok(json!({
            "name": args.name, "description": tool.description.inspect(), "inputSchema": null,
        }));
    }
    let known = active.prompt.tools.specs.iter().map(|tool| tool.name.as_str());
    let near = nearest(&args.name, known);
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let name: String = args.name.chars().take(100).collect();
    Err(Failure::new(ErrorCode::NotFound, format!("unknown tool `{name}`{near}")))
}

/// A tool's result of an earlier turn, as the model read it then. External parts are still framed.
pub(super) fn read_result(active: &ActiveSession, args: &ResultRead) -> Result<Value, Failure> {
    let session = &active.identity.session;
    let stored = active.host.reader.turn_messages(session, TurnNumber(args.turn));
    let stored = stored.map_err(HostError::from)?.unwrap_or_default();
    let messages: Vec<Message> = serde_json::from_str(&stored).unwrap_or_default();
    let blocks = messages.into_iter().flat_map(|message| match message.content {
        Content::Blocks(blocks) => blocks,
        Content::Text(_) => Vec::new(),
    });
    let (mut found, mut call) = (None, None);
    for block in blocks {
        match block {
            Block::ToolUse { id, name, input } if id == args.id => call = Some((name, input)),
            Block::ToolResult { tool_use_id, content, .. } if tool_use_id == args.id => {
                found = Some(content);
                break;
            }
            _ => {}
        }
    }
    if let Some((name, input)) = call {
        active.check_not_denied(&name, &input)?;
    }
    let Some(content) = found else {
        let id: String = args.id.chars().take(100).collect();
        let message = format!("turn {} of this session has no tool result `{id}`", args.turn);
        return Err(Failure::new(ErrorCode::NotFound, message));
    };
    if is_framed(&content) {
        // It was counted when it came; now it comes again, after what the person said last.
        let tokens = u64::from(estimate(&content));
        active.add_content(Provenance::ToolResult, "result_read", tokens, true)?;
    }
    Ok(json!({ "content": content }))
}

pub(super) fn report(active: &ActiveSession, args: &AuditReport) -> Result<Value, Failure> {
    if args.event.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`event` must not be empty"));
    }
    let cut = |text: &str| text.chars().take(MAX_REPORT_CHARS).collect::<String>();
    let text = json!({ "event": cut(&args.event), "detail": args.detail.as_deref().map(cut) });
    active.host.record_durably(active.event_with_text("ipc.audit_report", Outcome::Done, text))?;
    Ok(json!({ "recorded": true }))
}
