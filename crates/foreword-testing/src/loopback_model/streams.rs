//! Answers in the formats of Anthropic and OpenAI, whole and as events.

use serde_json::{Value, json};

pub(super) fn whole_answer(openai: bool, text: &str) -> Value {
    match openai {
        true => json!({"choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 9}}),
        false => json!({"type": "message", "role": "assistant", "model": "test",
            "stop_reason": "end_turn", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 11, "output_tokens": 9}}),
    }
}

fn event(out: &mut String, value: &Value) {
    out.push_str(&format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()));
}

pub(super) fn anthropic_stream(call: usize, text: &str, tools: &[(String, Value)]) -> String {
    let mut out = String::new();
    let usage = json!({"input_tokens": 11, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5, "output_tokens": 1});
    event(
        &mut out,
        &json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "test", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage}}),
    );
    let mut index = 0;
    if !text.is_empty() {
        event(
            &mut out,
            &json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
        );
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(5) {
            let piece: String = piece.iter().collect();
            event(
                &mut out,
                &json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}),
            );
        }
        event(&mut out, &json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    for (number, (name, input)) in tools.iter().enumerate() {
        event(
            &mut out,
            &json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": format!("toolu_{call}_{number}"), "name": name, "input": {}}}),
        );
        event(
            &mut out,
            &json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": input.to_string()}}),
        );
        event(&mut out, &json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    let reason = if tools.is_empty() { "end_turn" } else { "tool_use" };
    event(
        &mut out,
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 13}}),
    );
    event(&mut out, &json!({"type": "message_stop"}));
    out
}

pub(super) fn openai_stream(call: usize, text: &str, tools: &[(String, Value)]) -> String {
    let mut out = String::new();
    let mut chunk = |delta: Value, finish: Value| {
        let value = json!({"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "test", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        out.push_str(&format!("data: {value}\n\n"));
    };
    chunk(json!({"role": "assistant", "content": text}), Value::Null);
    for (number, (name, input)) in tools.iter().enumerate() {
        chunk(
            json!({"tool_calls": [{"index": number, "id": format!("call_{call}_{number}"), "type": "function", "function": {"name": name, "arguments": input.to_string()}}]}),
            Value::Null,
        );
    }
    chunk(json!({}), json!(if tools.is_empty() { "stop" } else { "tool_calls" }));
    let usage = json!({"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "test", "choices": [], "usage": {"prompt_tokens": 18, "completion_tokens": 13, "total_tokens": 31, "prompt_tokens_details": {"cached_tokens": 7}}});
    out.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
    out
}
