//! Requests of Anthropic Messages.

use serde_json::value::RawValue;

use super::json::{self, Fields};
use super::{BodyProblem, Caching, ModelRequest, PartKind, RequestPart};
use crate::report::Region;

/// What Claude Code puts in front of its system prompt for the provider, which removes it.
const BILLING_HEADER: &str = "x-anthropic-billing-header:";

pub(super) fn read(body: &Fields<'_>, request: &mut ModelRequest) -> Result<(), BodyProblem> {
    request.caching =
        if body.get("cache_control").is_some() { Caching::Automatic } else { Caching::Marks };
    for (at, raw) in body.items("tools").unwrap_or_default().into_iter().enumerate() {
        let tool = Fields::read(raw).unwrap_or_default();
        let place = format!("tools[{at}]");
        let text = tool.without("cache_control");
        let mut part = RequestPart::new(place, Region::Tools, PartKind::ToolDefinition, text);
        part.tool = tool.string("name");
        part.cache_mark = tool.get("cache_control").is_some();
        request.parts.push(part);
    }
    if let Some(system) = body.get("system") {
        read_system(system, &mut request.parts);
    }
    let messages = body.items("messages");
    let messages = messages.ok_or_else(|| BodyProblem("`messages` is not a list".to_owned()))?;
    for (at, raw) in messages.into_iter().enumerate() {
        let Some(message) = Fields::read(raw) else { continue };
        let kind = match message.string("role").as_deref() {
            Some("assistant") => PartKind::Assistant,
            Some("system") => PartKind::System,
            _ => PartKind::User,
        };
        let Some(content) = message.get("content") else { continue };
        if let Some(text) = json::string(content) {
            let place = format!("messages[{at}].content");
            request.parts.push(RequestPart::new(place, Region::Messages, kind, text));
            continue;
        }
        for (block_at, raw) in json::items(content).unwrap_or_default().into_iter().enumerate() {
            let place = format!("messages[{at}].content[{block_at}]");
            request.parts.push(block(&place, kind, raw));
        }
    }
    Ok(())
}

fn read_system(system: &RawValue, parts: &mut Vec<RequestPart>) {
    let mut push = |place: String, text: String, cache_mark: bool| {
        let is_header = text.starts_with(BILLING_HEADER);
        let kind = if is_header { PartKind::Transport } else { PartKind::System };
        let part = RequestPart::new(place, Region::System, kind, text);
        parts.push(RequestPart { cache_mark, ..part });
    };
    if let Some(text) = json::string(system) {
        return push("system".to_owned(), text, false);
    }
    for (at, raw) in json::items(system).unwrap_or_default().into_iter().enumerate() {
        let block = Fields::read(raw).unwrap_or_default();
        let text = block.string("text").unwrap_or_else(|| raw.get().to_owned());
        push(format!("system[{at}]"), text, block.get("cache_control").is_some());
    }
}

fn block(place: &str, speaker: PartKind, raw: &RawValue) -> RequestPart {
    let block = Fields::read(raw).unwrap_or_default();
    let new = |kind: PartKind, text: String| {
        RequestPart::new(place.to_owned(), Region::Messages, kind, text)
    };
    let mut part = match block.string("type").as_deref() {
        Some("text") => new(speaker, block.string("text").unwrap_or_default()),
        Some("thinking") => new(PartKind::Assistant, block.string("thinking").unwrap_or_default()),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let input = block.get("input").map_or("{}", RawValue::get);
            let mut part = new(PartKind::ToolCall, input.to_owned());
            part.tool = block.string("name");
            part.call_id = block.string("id");
            part
        }
        Some(
            "tool_result" | "mcp_tool_result" | "web_search_tool_result" | "web_fetch_tool_result",
        ) => {
            let (text, is_media) =
                block.get("content").map_or((String::new(), false), content_text);
            let mut part = new(PartKind::ToolResult, text);
            part.call_id = block.string("tool_use_id");
            part.is_media = is_media;
            part
        }
        Some(kind @ ("image" | "document" | "file")) => {
            let mut part = new(speaker, json::media(kind, raw));
            part.is_media = true;
            part
        }
        _ => new(speaker, block.without("cache_control")),
    };
    part.cache_mark = block.get("cache_control").is_some();
    part
}

/// The text of a result, and whether it is nothing but media.
fn content_text(content: &RawValue) -> (String, bool) {
    if let Some(text) = json::string(content) {
        return (text, false);
    }
    let Some(blocks) = json::items(content) else { return (content.get().to_owned(), false) };
    let (mut texts, mut is_media) = (Vec::new(), !blocks.is_empty());
    for raw in blocks {
        let block = Fields::read(raw).unwrap_or_default();
        match block.string("text") {
            Some(text) => {
                is_media = false;
                texts.push(text);
            }
            None => {
                let kind = block.string("type").unwrap_or_else(|| "data".to_owned());
                texts.push(json::media(&kind, raw));
            }
        }
    }
    (texts.join("\n"), is_media)
}
