//! Requests of OpenAI Chat Completions.

use serde_json::value::RawValue;

use super::json::{self, Fields};
use super::{BodyProblem, ModelRequest, PartKind, RequestPart};
use crate::report::Region;

pub(super) fn read(body: &Fields<'_>, request: &mut ModelRequest) -> Result<(), BodyProblem> {
    tools(body, "tools", request);
    tools(body, "functions", request);
    let messages = body.items("messages");
    let messages = messages.ok_or_else(|| BodyProblem("`messages` is not a list".to_owned()))?;
    let mut leading = true;
    for (at, raw) in messages.into_iter().enumerate() {
        let Some(message) = Fields::read(raw) else { continue };
        let kind = match message.string("role").as_deref() {
            Some("system" | "developer") => PartKind::System,
            Some("assistant") => PartKind::Assistant,
            Some("tool" | "function") => PartKind::ToolResult,
            _ => PartKind::User,
        };
        leading &= kind == PartKind::System;
        let region = if leading { Region::System } else { Region::Messages };
        let place = format!("messages[{at}]");
        let from = request.parts.len();
        if let Some(content) = message.get("content") {
            content_parts(&place, region, kind, content, &mut request.parts);
        }
        for part in request.parts.get_mut(from..).unwrap_or_default() {
            part.call_id = message.string("tool_call_id");
            part.tool = message.string("name").filter(|_| kind == PartKind::ToolResult);
        }
        for (call_at, raw) in
            message.items("tool_calls").unwrap_or_default().into_iter().enumerate()
        {
            let call = Fields::read(raw).unwrap_or_default();
            let function = call.object("function").unwrap_or_default();
            let text = function.string("arguments").unwrap_or_default();
            let place = format!("{place}.tool_calls[{call_at}]");
            let mut part = RequestPart::new(place, Region::Messages, PartKind::ToolCall, text);
            part.tool = function.string("name");
            part.call_id = call.string("id");
            request.parts.push(part);
        }
    }
    Ok(())
}

/// Tools as Chat Completions and Responses write them.
pub(super) fn tools(body: &Fields<'_>, name: &str, request: &mut ModelRequest) {
    for (at, raw) in body.items(name).unwrap_or_default().into_iter().enumerate() {
        let tool = Fields::read(raw).unwrap_or_default();
        let place = format!("{name}[{at}]");
        let text = tool.without("cache_control");
        let mut part = RequestPart::new(place, Region::Tools, PartKind::ToolDefinition, text);
        let function = tool.object("function").unwrap_or_default();
        part.tool = function
            .string("name")
            .or_else(|| tool.string("name"))
            .or_else(|| tool.string("server_label"))
            .or_else(|| tool.string("type"));
        request.parts.push(part);
    }
}

/// The blocks of a content, as Chat Completions and Responses write them.
pub(super) fn content_parts(
    place: &str,
    region: Region,
    kind: PartKind,
    content: &RawValue,
    parts: &mut Vec<RequestPart>,
) {
    if let Some(text) = json::string(content) {
        parts.push(RequestPart::new(place.to_owned(), region, kind, text));
        return;
    }
    for (at, raw) in json::items(content).unwrap_or_default().into_iter().enumerate() {
        let block = Fields::read(raw).unwrap_or_default();
        let text = block.string("text").or_else(|| block.string("refusal"));
        let is_media = text.is_none();
        let text = text.unwrap_or_else(|| {
            json::media(&block.string("type").unwrap_or_else(|| "data".to_owned()), raw)
        });
        let place = format!("{place}.content[{at}]");
        let part = RequestPart::new(place, region, kind, text);
        let cache_mark = block.get("cache_control").is_some();
        parts.push(RequestPart { is_media, cache_mark, ..part });
    }
}
