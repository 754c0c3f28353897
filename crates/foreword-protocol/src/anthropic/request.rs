//! Anthropic Messages.
//!
//! Everything up to a `cache_control` is kept by the provider; four are allowed. They stand at the
//! boundaries of the system prompt (two at most), before the newest thing the person said, and at
//! the end: the next turn reads the first three, the next step of this turn all of them.

use serde::Serialize;
use serde_json::Value;

use crate::model::conversation::{Part, Turn, is_blank, turns};
use crate::model::message::Role;
use crate::model::request::ModelRequest;

/// Boundaries of the system prompt that are marked.
const SYSTEM_BOUNDARIES: usize = 2;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Written<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct Written<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    what: What<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum What<'a> {
    Text {
        text: std::borrow::Cow<'a, str>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Input<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// What a tool was called with. The provider takes nothing but objects; a model writes other things.
#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Object(&'a Value),
    Other { unreadable: &'a Value },
}

#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum CacheControl {
    Ephemeral,
}

pub(crate) fn body(request: &ModelRequest<'_>) -> String {
    let (turns, person) = turns(request.messages, request.turn_context);
    let mut messages: Vec<Written<'_>> = turns.iter().map(written).collect();
    let before_person = person.and_then(|person| person.checked_sub(1));
    let last = messages.len().checked_sub(1);
    for index in [before_person, last].into_iter().flatten() {
        if let Some(block) = messages.get_mut(index).and_then(|message| message.content.last_mut())
        {
            block.cache_control = Some(CacheControl::Ephemeral);
        }
    }
    let body = Body {
        model: request.model,
        max_tokens: request.max_tokens,
        stream: request.stream,
        system: system(request),
        tools: request
            .tools
            .iter()
            .map(|tool| Tool {
                name: &tool.name,
                description: &tool.description,
                input_schema: &tool.input_schema,
            })
            .collect(),
        messages,
    };
    // Strings, numbers and JSON values always can be written.
    serde_json::to_string(&body).unwrap_or_default()
}

/// Blocks whose texts are the system prompt, byte for byte. A blank piece, which the provider would
/// refuse, joins the block before it, or the one after it at the start.
fn system<'a>(request: &ModelRequest<'a>) -> Vec<Block<'a>> {
    let mut blocks: Vec<(std::borrow::Cow<'a, str>, bool)> = Vec::new();
    for part in request.system.iter().filter(|part| !part.text.is_empty()) {
        match blocks.last_mut() {
            Some((text, boundary)) if is_blank(part.text) || is_blank(text) => {
                text.to_mut().push_str(part.text);
                *boundary = part.cache_boundary || *boundary && is_blank(part.text);
            }
            _ => blocks.push((part.text.into(), part.cache_boundary)),
        }
    }
    blocks.retain(|(text, _)| !is_blank(text));
    let boundaries = blocks.iter().filter(|(_, boundary)| *boundary).count();
    let mut skipped = boundaries.saturating_sub(SYSTEM_BOUNDARIES);
    blocks
        .into_iter()
        .map(|(text, boundary)| {
            let marked = boundary && skipped == 0;
            skipped = skipped.saturating_sub(usize::from(boundary));
            let cache_control = marked.then_some(CacheControl::Ephemeral);
            Block { what: What::Text { text }, cache_control }
        })
        .collect()
}

fn written<'a>(turn: &Turn<'a>) -> Written<'a> {
    let content = turn
        .parts
        .iter()
        .map(|part| {
            let what = match *part {
                Part::Text(text) => What::Text { text: text.into() },
                Part::Call { id, name, input } => What::ToolUse {
                    id,
                    name,
                    input: if input.is_object() {
                        Input::Object(input)
                    } else {
                        Input::Other { unreadable: input }
                    },
                },
                Part::Result { id, content, is_error } => {
                    What::ToolResult { tool_use_id: id, content, is_error }
                }
            };
            Block { what, cache_control: None }
        })
        .collect();
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    Written { role, content }
}
