//! What requests and answers say, whatever API they are written for.
//!
//! A request becomes a list of parts in the order in which providers cache it: tools, system, messages. The
//! text of a part is what the model reads, so that two requests differ in their parts exactly where a
//! cache would miss. Marks for the cache are noted and are no part of the text.

mod answer;
mod anthropic;
mod chat;
mod decode;
mod gemini;
mod json;
mod responses;

use thiserror::Error;

use crate::report::{Api, Region};

pub(crate) use self::answer::{AnswerFacts, read_answer};
pub(crate) use self::decode::{Decoded, decode};
use self::json::Fields;

/// Why a body cannot be read as a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct BodyProblem(pub(crate) String);

/// A request of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelRequest {
    pub(crate) api: Api,
    /// Empty if the request names none.
    pub(crate) model: String,
    pub(crate) parts: Vec<RequestPart>,
    pub(crate) caching: Caching,
    /// What the request refers to and does not contain.
    pub(crate) elsewhere: Option<&'static str>,
}

/// How the provider decides what to cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Up to the parts with a mark.
    Marks,
    /// By itself.
    Automatic,
}

/// Who says the text of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PartKind {
    ToolDefinition,
    System,
    User,
    Assistant,
    ToolCall,
    ToolResult,
    /// For the provider, not for the model, and no part of what is cached.
    Transport,
}

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestPart {
    /// Such as `system[0]` or `messages[2].content[0]`.
    pub(crate) place: String,
    pub(crate) region: Region,
    pub(crate) kind: PartKind,
    pub(crate) text: String,
    pub(crate) cache_mark: bool,
    /// The tool that is defined, called, or has answered.
    pub(crate) tool: Option<String>,
    /// Links a result to its call.
    pub(crate) call_id: Option<String>,
    /// Whether the text stands for something else, such as an image.
    pub(crate) is_media: bool,
}

impl RequestPart {
    fn new(place: String, region: Region, kind: PartKind, text: String) -> Self {
        Self {
            place,
            region,
            kind,
            text,
            cache_mark: false,
            tool: None,
            call_id: None,
            is_media: false,
        }
    }

    /// What it is, for people.
    #[must_use]
    pub(crate) fn label(&self) -> String {
        let tool = self.tool.as_deref();
        match self.kind {
            PartKind::ToolDefinition => tool.unwrap_or("unnamed tool").to_owned(),
            PartKind::System => "system".to_owned(),
            PartKind::User => "user".to_owned(),
            PartKind::Assistant => "assistant".to_owned(),
            PartKind::ToolCall => format!("call of {}", tool.unwrap_or("a tool")),
            PartKind::ToolResult => format!("result of {}", tool.unwrap_or("a tool")),
            PartKind::Transport => "billing header".to_owned(),
        }
    }
}

/// The API of a request, by its path at the upstream.
pub(crate) fn api_of_path(path: &str) -> Option<Api> {
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    if path.ends_with("/messages") {
        Some(Api::AnthropicMessages)
    } else if path.ends_with("/chat/completions") {
        Some(Api::OpenaiChat)
    } else if path.ends_with("/responses") {
        Some(Api::OpenaiResponses)
    } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        Some(Api::GeminiGenerate)
    } else {
        None
    }
}

/// The model that a path names, as those of Gemini do.
pub(crate) fn model_of_path(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once("/models/")?;
    rest.split([':', '?', '/']).next().filter(|model| !model.is_empty())
}

/// The API of a body of unknown origin, by what it contains.
fn api_of_body(body: &Fields<'_>) -> Option<Api> {
    let has = |name: &str| body.get(name).is_some();
    if has("contents") {
        return Some(Api::GeminiGenerate);
    }
    if has("input") || has("instructions") {
        return Some(Api::OpenaiResponses);
    }
    let messages = body.items("messages")?;
    let is_anthropic =
        has("system")
            || has("anthropic_version")
            || has("thinking")
            || body.items("tools").unwrap_or_default().iter().any(|tool| {
                Fields::read(tool).is_some_and(|tool| tool.get("input_schema").is_some())
            })
            || body.string("model").is_some_and(|model| model.starts_with("claude"));
    let leads_with_system = messages
        .first()
        .and_then(|message| Fields::read(message))
        .and_then(|message| message.string("role"))
        .is_some_and(|role| matches!(role.as_str(), "system" | "developer"));
    Some(if is_anthropic && !leads_with_system { Api::AnthropicMessages } else { Api::OpenaiChat })
}

/// Reads the body of a request. Without an API, the body tells it.
pub(crate) fn read_request(
    api: Option<Api>,
    path: &str,
    body: &str,
) -> Result<ModelRequest, BodyProblem> {
    let fields = Fields::parse(body).map_err(BodyProblem)?;
    let api = api.or_else(|| api_of_body(&fields)).ok_or_else(|| {
        BodyProblem("it has neither `messages` nor `input` nor `contents`".to_owned())
    })?;
    let mut request = ModelRequest {
        api,
        model: fields.string("model").unwrap_or_default(),
        parts: Vec::new(),
        caching: Caching::Automatic,
        elsewhere: None,
    };
    match api {
        Api::AnthropicMessages => anthropic::read(&fields, &mut request)?,
        Api::OpenaiChat => chat::read(&fields, &mut request)?,
        Api::OpenaiResponses => responses::read(&fields, &mut request)?,
        Api::GeminiGenerate => {
            if request.model.is_empty() {
                request.model = model_of_path(path).unwrap_or_default().to_owned();
            }
            gemini::read(&fields, &mut request)?;
        }
    }
    name_results(&mut request.parts);
    Ok(request)
}

/// Gives each result the name of the tool that was called.
fn name_results(parts: &mut [RequestPart]) {
    let names: std::collections::BTreeMap<String, String> = parts
        .iter()
        .filter(|part| part.kind == PartKind::ToolCall)
        .filter_map(|part| part.call_id.clone().zip(part.tool.clone()))
        .collect();
    for part in parts.iter_mut().filter(|part| part.kind == PartKind::ToolResult) {
        if part.tool.is_none() {
            part.tool = part.call_id.as_ref().and_then(|id| names.get(id)).cloned();
        }
    }
}

#[cfg(test)]
mod tests;
