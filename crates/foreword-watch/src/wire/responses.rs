//! Requests of OpenAI Responses.

use super::chat::{content_parts, tools};
use super::json::{self, Fields};
use super::{BodyProblem, ModelRequest, PartKind, RequestPart};
use crate::report::Region;

pub(super) fn read(body: &Fields<'_>, request: &mut ModelRequest) -> Result<(), BodyProblem> {
    tools(body, "tools", request);
    if let Some(text) = body.string("instructions") {
        let place = "instructions".to_owned();
        request.parts.push(RequestPart::new(place, Region::System, PartKind::System, text));
    }
    if body.string("previous_response_id").is_some() {
        request.elsewhere =
            Some("earlier messages are stored at the provider (previous_response_id)");
    }
    let Some(input) = body.get("input") else { return Ok(()) };
    if let Some(text) = json::string(input) {
        let place = "input".to_owned();
        request.parts.push(RequestPart::new(place, Region::Messages, PartKind::User, text));
        return Ok(());
    }
    let items = json::items(input);
    let items =
        items.ok_or_else(|| BodyProblem("`input` is neither text nor a list".to_owned()))?;
    let mut leading = true;
    for (at, raw) in items.into_iter().enumerate() {
        let item = Fields::read(raw).unwrap_or_default();
        let place = format!("input[{at}]");
        let new = |kind: PartKind, text: String| {
            RequestPart::new(place.clone(), Region::Messages, kind, text)
        };
        let kind = item.string("type");
        let role = item.string("role");
        if role.is_none() || !matches!(role.as_deref(), Some("system" | "developer")) {
            leading = false;
        }
        match kind.as_deref() {
            Some("message") | None if role.is_some() => {
                let kind = match role.as_deref() {
                    Some("system" | "developer") => PartKind::System,
                    Some("assistant") => PartKind::Assistant,
                    _ => PartKind::User,
                };
                let region = if leading { Region::System } else { Region::Messages };
                if let Some(content) = item.get("content") {
                    content_parts(&place, region, kind, content, &mut request.parts);
                }
            }
            Some("function_call" | "custom_tool_call" | "local_shell_call" | "mcp_call") => {
                let arguments = item.string("arguments").or_else(|| item.string("input"));
                let arguments =
                    arguments.or_else(|| item.get("action").map(|action| action.get().to_owned()));
                let mut part = new(PartKind::ToolCall, arguments.unwrap_or_default());
                part.tool = item.string("name").or(kind);
                part.call_id = item.string("call_id");
                request.parts.push(part);
            }
            Some(
                "function_call_output" | "custom_tool_call_output" | "local_shell_call_output",
            ) => {
                let output = item.get("output");
                let text =
                    output.map(|raw| json::string(raw).unwrap_or_else(|| raw.get().to_owned()));
                let mut part = new(PartKind::ToolResult, text.unwrap_or_default());
                part.call_id = item.string("call_id");
                request.parts.push(part);
            }
            _ => request.parts.push(new(PartKind::Assistant, raw.get().to_owned())),
        }
    }
    Ok(())
}
