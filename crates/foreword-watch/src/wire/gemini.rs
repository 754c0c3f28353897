//! Requests of Gemini `generateContent`.

use super::json::{self, Fields};
use super::{BodyProblem, ModelRequest, PartKind, RequestPart};
use crate::report::Region;

pub(super) fn read(body: &Fields<'_>, request: &mut ModelRequest) -> Result<(), BodyProblem> {
    // The first release of the API wrote names with underscores, and both are accepted.
    let either = |fields: &Fields<'_>, camel: &str, snake: &str| {
        fields.get(camel).or_else(|| fields.get(snake)).map(|raw| raw.get().to_owned())
    };
    for (at, raw) in body.items("tools").unwrap_or_default().into_iter().enumerate() {
        let tool = Fields::read(raw).unwrap_or_default();
        let declared = tool
            .items("functionDeclarations")
            .or_else(|| tool.items("function_declarations"))
            .unwrap_or_default();
        let is_empty = declared.is_empty();
        for (function_at, raw) in declared.into_iter().enumerate() {
            let place = format!("tools[{at}].functionDeclarations[{function_at}]");
            let text = raw.get().to_owned();
            let mut part = RequestPart::new(place, Region::Tools, PartKind::ToolDefinition, text);
            part.tool = Fields::read(raw).and_then(|function| function.string("name"));
            request.parts.push(part);
        }
        if is_empty {
            let text = raw.get().to_owned();
            let place = format!("tools[{at}]");
            request.parts.push(RequestPart::new(
                place,
                Region::Tools,
                PartKind::ToolDefinition,
                text,
            ));
        }
    }
    if let Some(system) = either(body, "systemInstruction", "system_instruction") {
        if let Ok(text) = serde_json::from_str::<String>(&system) {
            let place = "systemInstruction".to_owned();
            request.parts.push(RequestPart::new(place, Region::System, PartKind::System, text));
        } else if let Ok(system) = Fields::parse(&system) {
            parts("systemInstruction", Region::System, PartKind::System, &system, request);
        }
    }
    if either(body, "cachedContent", "cached_content").is_some() {
        request.elsewhere = Some("a part of the prompt is stored at the provider (cachedContent)");
    }
    let Some(contents) = body.get("contents") else { return Ok(()) };
    if let Some(text) = json::string(contents) {
        let place = "contents".to_owned();
        request.parts.push(RequestPart::new(place, Region::Messages, PartKind::User, text));
        return Ok(());
    }
    let contents = json::items(contents);
    let contents = contents.ok_or_else(|| BodyProblem("`contents` is not a list".to_owned()))?;
    for (at, raw) in contents.into_iter().enumerate() {
        let content = Fields::read(raw).unwrap_or_default();
        let kind = match content.string("role").as_deref() {
            Some("model") => PartKind::Assistant,
            _ => PartKind::User,
        };
        parts(&format!("contents[{at}]"), Region::Messages, kind, &content, request);
    }
    Ok(())
}

fn parts(
    place: &str,
    region: Region,
    speaker: PartKind,
    content: &Fields<'_>,
    request: &mut ModelRequest,
) {
    for (at, raw) in content.items("parts").unwrap_or_default().into_iter().enumerate() {
        let block = Fields::read(raw).unwrap_or_default();
        let place = format!("{place}.parts[{at}]");
        let object = |camel: &str, snake: &str| block.object(camel).or_else(|| block.object(snake));
        let (kind, text, tool, is_media) = if let Some(text) = block.string("text") {
            (speaker, text, None, false)
        } else if let Some(call) = object("functionCall", "function_call") {
            let arguments = call.get("args").map_or("{}", |raw| raw.get()).to_owned();
            (PartKind::ToolCall, arguments, call.string("name"), false)
        } else if let Some(result) = object("functionResponse", "function_response") {
            let response = result.get("response").map_or("", |raw| raw.get()).to_owned();
            (PartKind::ToolResult, response, result.string("name"), false)
        } else {
            (speaker, json::media("data", raw), None, true)
        };
        let part = RequestPart::new(place, region, kind, text);
        request.parts.push(RequestPart { tool, is_media, ..part });
    }
}
