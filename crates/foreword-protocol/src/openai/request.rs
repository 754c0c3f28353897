//! Chat Completions, as OpenAI and many servers speak it. Contents are plain strings, which all of
//! them read.

use serde::Serialize;
use serde_json::Value;

use crate::model::conversation::{Part, Turn, turns};
use crate::model::message::Role;
use crate::model::request::ModelRequest;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    /// What OpenAI's reasoning models call it. Other servers know only the older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    messages: Vec<Written<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "function", rename_all = "lowercase")]
enum Tool<'a> {
    Function { name: &'a str, description: &'a str, parameters: &'a Value },
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Written<'a> {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: String,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

pub(crate) fn body(request: &ModelRequest<'_>) -> String {
    let (turns, _) = turns(request.messages, request.turn_context);
    let system: String = request.system.iter().map(|part| part.text).collect();
    let mut messages = Vec::with_capacity(turns.len() + 1);
    if !system.is_empty() {
        messages.push(Written::System { content: system });
    }
    for turn in &turns {
        write(turn, &mut messages);
    }
    let is_reasoning = is_reasoning_model(request.model);
    let body = Body {
        model: request.model,
        max_tokens: (!is_reasoning).then_some(request.max_tokens),
        max_completion_tokens: is_reasoning.then_some(request.max_tokens),
        stream: request.stream,
        stream_options: request.stream.then_some(StreamOptions { include_usage: true }),
        messages,
        tools: request
            .tools
            .iter()
            .map(|tool| Tool::Function {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.input_schema,
            })
            .collect(),
    };
    // Strings, numbers and JSON values always can be written.
    serde_json::to_string(&body).unwrap_or_default()
}

/// Whether OpenAI refuses `max_tokens` for a model.
fn is_reasoning_model(model: &str) -> bool {
    let bare = model.rsplit('/').next().unwrap_or(model);
    ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|family| {
        bare.strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', ':']))
    })
}

fn write<'a>(turn: &Turn<'a>, messages: &mut Vec<Written<'a>>) {
    let mut texts: Vec<&str> = Vec::new();
    let mut tool_calls = Vec::new();
    for part in &turn.parts {
        match *part {
            Part::Text(text) => texts.push(text),
            Part::Call { id, name, input } => {
                let arguments = match input {
                    // What the model wrote and nobody could read.
                    Value::String(text) => text.clone(),
                    input => input.to_string(),
                };
                tool_calls.push(Call {
                    id,
                    kind: "function",
                    function: Function { name, arguments },
                });
            }
            Part::Result { id, content, is_error } => messages.push(Written::Tool {
                tool_call_id: id,
                content: if is_error { format!("Error: {content}") } else { content.to_owned() },
            }),
        }
    }
    match turn.role {
        Role::Assistant => {
            let content = (!texts.is_empty()).then(|| texts.concat());
            messages.push(Written::Assistant { content, tool_calls });
        }
        Role::User if texts.is_empty() => {}
        Role::User => messages.push(Written::User { content: texts.join("\n\n") }),
    }
}
