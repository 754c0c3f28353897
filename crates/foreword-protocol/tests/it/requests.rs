//! Request bodies, as a model's server would see them.

use foreword_protocol::{
    Block, Content, Message, ModelRequest, Provider, RequestFacts, Role, SystemPart, ToolSpec,
    system_text,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn tool() -> ToolSpec {
    ToolSpec {
        name: "read".into(),
        description: "Read a file.".into(),
        input_schema: json!({"type": "object"}).into(),
    }
}

fn conversation() -> Vec<Message> {
    vec![
        Message::user("Hello"),
        Message::assistant("Good day."),
        Message::user("What is in a.txt?"),
        Message {
            role: Role::Assistant,
            content: Content::Blocks(vec![
                Block::Text { text: "I look.".into() },
                Block::ToolUse {
                    id: "t1".into(),
                    name: "read".into(),
                    input: json!({"path": "a.txt"}),
                },
            ]),
        },
        Message {
            role: Role::User,
            content: Content::Blocks(vec![Block::ToolResult {
                tool_use_id: "t1".into(),
                content: "no such file".into(),
                is_error: true,
            }]),
        },
    ]
}

fn body(provider: Provider, messages: &[Message]) -> Value {
    let request = ModelRequest {
        provider,
        model: "m",
        system: &[
            SystemPart { text: "Stable.\n", cache_boundary: true },
            SystemPart { text: "Session.", cache_boundary: false },
        ],
        turn_context: "It is noon.",
        messages,
        tools: &[tool()],
        max_tokens: 100,
        stream: true,
    };
    let body = request.body();
    assert_eq!(body, request.body());
    serde_json::from_str(&body).unwrap()
}

#[test]
fn anthropic_gets_blocks_with_breakpoints() {
    let cached = json!({"type": "ephemeral"});
    assert_eq!(
        body(Provider::Anthropic, &conversation()),
        json!({
            "model": "m",
            "max_tokens": 100,
            "stream": true,
            "system": [
                {"type": "text", "text": "Stable.\n", "cache_control": cached},
                {"type": "text", "text": "Session."},
            ],
            "tools": [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "Good day.", "cache_control": cached}]},
                {"role": "user", "content": [
                    {"type": "text", "text": "It is noon."},
                    {"type": "text", "text": "What is in a.txt?"},
                ]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.txt"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "no such file", "is_error": true, "cache_control": cached},
                ]},
            ],
        })
    );
}

#[test]
fn chat_completions_get_strings() {
    assert_eq!(
        body(Provider::OpenAi, &conversation()),
        json!({
            "model": "m",
            "max_tokens": 100,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "Stable.\nSession."},
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Good day."},
                {"role": "user", "content": "It is noon.\n\nWhat is in a.txt?"},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.txt\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "t1", "content": "Error: no such file"},
            ],
            "tools": [{"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}}],
        })
    );
}

#[test]
fn what_a_model_wrote_and_nobody_could_read_goes_back_to_it() {
    let messages = [
        Message::user("go"),
        Message {
            role: Role::Assistant,
            content: Content::Blocks(vec![Block::ToolUse {
                id: "t".into(),
                name: "read".into(),
                input: "{\"pa".into(),
            }]),
        },
    ];
    let anthropic = body(Provider::Anthropic, &messages);
    assert_eq!(anthropic["messages"][1]["content"][0]["input"], json!({"unreadable": "{\"pa"}));
    let openai = body(Provider::OpenAi, &messages);
    assert_eq!(openai["messages"][2]["tool_calls"][0]["function"]["arguments"], "{\"pa");
    assert_eq!(openai["messages"][3]["role"], "tool");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z\"\\\\ \n\u{2028}é😀]{0,12}",
        1 => Just(String::new()),
        1 => Just(" \n\t".to_owned()),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    let id = "[a-c]";
    prop_oneof![
        text().prop_map(|text| Block::Text { text }),
        (id, text()).prop_map(|(id, text)| Block::ToolUse {
            id,
            name: "t".into(),
            input: json!({ "x": text })
        }),
        (id, text(), any::<bool>()).prop_map(|(tool_use_id, content, is_error)| {
            Block::ToolResult { tool_use_id, content, is_error }
        }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let content = prop_oneof![
        text().prop_map(Content::Text),
        prop::collection::vec(block(), 0..5).prop_map(Content::Blocks),
    ];
    (role, content).prop_map(|(role, content)| Message { role, content })
}

proptest! {
    /// The check of a host finds in any body of ours the system prompt, byte for byte, and the
    /// provider's rules hold: roles take turns, no text is blank, every call has its result.
    #[test]
    fn any_conversation_makes_a_body_the_provider_takes(
        parts in prop::collection::vec((text(), any::<bool>()), 0..6),
        context in text(),
        messages in prop::collection::vec(message(), 0..8),
    ) {
        let system: String = parts.iter().map(|(text, _)| text.as_str()).collect();
        let parts: Vec<_> = parts
            .iter()
            .map(|(text, cache_boundary)| SystemPart { text, cache_boundary: *cache_boundary })
            .collect();
        for provider in [Provider::Anthropic, Provider::OpenAi] {
            let request = ModelRequest {
                provider, model: "m", system: &parts, turn_context: &context,
                messages: &messages, tools: &[], max_tokens: 1, stream: false,
            };
            let body = request.body();
            let texts = system_text(provider, &body).unwrap();
            if system.trim().is_empty() {
                prop_assert!(texts.iter().all(|text| *text == system));
            } else {
                prop_assert_eq!(texts, vec![system.clone()]);
                prop_assert!(RequestFacts::read(provider, &body).unwrap().system_contains(&system));
            }
        }
        let request = ModelRequest {
            provider: Provider::Anthropic, model: "m", system: &parts, turn_context: &context,
            messages: &messages, tools: &[], max_tokens: 1, stream: false,
        };
        let body = request.body();
        prop_assert!(body.matches(r#""cache_control":"#).count() <= 4);
        let value: Value = serde_json::from_str(&body).unwrap();
        let written = value["messages"].as_array().unwrap();
        let mut waiting: Vec<String> = Vec::new();
        for (index, message) in written.iter().enumerate() {
            prop_assert_eq!(&message["role"], if index % 2 == 0 { "user" } else { "assistant" });
            let content = message["content"].as_array().unwrap();
            prop_assert!(!content.is_empty());
            let mut results: Vec<String> = Vec::new();
            let mut calls: Vec<String> = Vec::new();
            for block in content {
                match block["type"].as_str().unwrap() {
                    "text" => prop_assert!(!block["text"].as_str().unwrap().trim().is_empty()),
                    "tool_use" => calls.push(block["id"].as_str().unwrap().into()),
                    "tool_result" => results.push(block["tool_use_id"].as_str().unwrap().into()),
                    other => prop_assert!(false, "{}", other),
                }
            }
            prop_assert_eq!(&results, &waiting);
            waiting = calls;
        }
        prop_assert!(waiting.is_empty());
        if !context.trim().is_empty() {
            prop_assert!(body.contains(&serde_json::to_string(&context).unwrap()));
        }
    }
}
