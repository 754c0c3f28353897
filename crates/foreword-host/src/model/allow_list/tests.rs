use foreword_protocol::Provider::{self, Anthropic, OpenAi};
use serde_json::{Value, json};

use super::{MAX_INLINE_BYTES, check};

fn refusal(provider: Provider, body: &Value) -> String {
    match check(provider, &body.to_string()) {
        Ok(_) => format!("passes: {body}"),
        Err(error) => error.to_string(),
    }
}

/// A body with one message of these blocks.
fn said(blocks: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": blocks}]})
}

#[test]
fn what_the_provider_would_fetch_is_refused_at_every_depth() {
    let by_url =
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/x"}});
    let places = [
        (json!({"system": [by_url]}), "system[0].source"),
        (said(&json!([by_url])), "messages[0].content[0].source.type"),
        (
            said(&json!([{"type": "tool_result", "tool_use_id": "1", "content": [by_url]}])),
            "messages[0].content[0].content[0].source.type",
        ),
        (
            said(
                &json!([{"type": "document", "source": {"type": "content", "content": [by_url]}}]),
            ),
            "messages[0].content[0].source.content[0].source.type",
        ),
        (
            said(&json!([{"type": "tool_result", "content": [
                {"type": "document", "source": {"type": "content", "content": [by_url]}}]}])),
            "messages[0].content[0].content[0].source.content[0].source.type",
        ),
    ];
    for (body, path) in places {
        let refused = refusal(Anthropic, &body);
        assert!(refused.starts_with(&format!("`{path}` ")), "{refused}");
    }
    assert_eq!(
        refusal(Anthropic, &said(&json!([by_url]))),
        "`messages[0].content[0].source.type` has the value `url`; allowed: `base64`, `text`, `content`"
    );
}

#[test]
fn what_the_provider_would_do_on_its_own_is_refused() {
    for (body, path) in [
        (json!({"mcp_servers": [{"type": "url", "url": "https://x"}]}), "mcp_servers"),
        (json!({"container": {"skills": []}}), "container"),
        (json!({"speed": "fast"}), "speed"),
        (json!({"service_tier": "priority"}), "service_tier"),
        (json!({"tools": [{"type": "web_fetch_20250910", "name": "w"}]}), "tools[0].type"),
        (json!({"tools": [{"type": "mcp_toolset"}]}), "tools[0].type"),
        (
            json!({"tools": [{"name": "a", "allowed_callers": ["code_execution_20250825"]}]}),
            "tools[0].allowed_callers[0]",
        ),
        (
            json!({"context_management": {"edits": [{"type": "compact_20260112"}]}}),
            "context_management.edits[0].type",
        ),
        (
            said(&json!([{"type": "container_upload", "file_id": "f"}])),
            "messages[0].content[0].file_id",
        ),
        (
            said(&json!([{"type": "document", "source": {"file_id": "f"}}])),
            "messages[0].content[0].source.file_id",
        ),
        (said(&json!([{"type": "image", "source": "https://x"}])), "messages[0].content[0].source"),
        (
            said(&json!([{"type": "tool_result", "content": {"type": "image"}}])),
            "messages[0].content[0].content",
        ),
        (json!({"messages": [{"role": "system", "content": "x"}]}), "messages[0].role"),
    ] {
        let refused = refusal(Anthropic, &body);
        assert!(refused.starts_with(&format!("`{path}` ")), "{path}: {refused}");
    }
    for (body, path) in [
        (json!({"search_parameters": {"mode": "on"}}), "search_parameters"),
        (json!({"web_search_options": {}}), "web_search_options"),
        (json!({"plugins": []}), "plugins"),
        (json!({"prompt": {"id": "p"}}), "prompt"),
        (json!({"previous_response_id": "r"}), "previous_response_id"),
        (json!({"n": 2}), "n"),
        (json!({"n": "2"}), "n"),
        (json!({"store": true}), "store"),
        (json!({"tools": [{"type": "web_search"}]}), "tools[0].type"),
        (
            said(&json!([{"type": "image_url", "image_url": {"url": "https://x"}}])),
            "messages[0].content[0].image_url.url",
        ),
        (
            said(&json!([{"type": "image_url", "image_url": "HTTPS://x"}])),
            "messages[0].content[0].image_url",
        ),
        (
            said(
                &json!([{"type": "image_url", "image_url": "data:image/png;base64,aGk=\nhttps://x"}]),
            ),
            "messages[0].content[0].image_url",
        ),
        (
            said(&json!([{"type": "file", "file": {"file_id": "f"}}])),
            "messages[0].content[0].file.file_id",
        ),
        (
            said(&json!([{"type": "input_file", "file_url": "https://x"}])),
            "messages[0].content[0].file_url",
        ),
        (json!({"messages": [{"role": "assistant", "audio": {"id": "a"}}]}), "messages[0].audio"),
        (
            json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"$ref": "https://x"}}}}}]}),
            "tools[0].function.parameters",
        ),
    ] {
        let refused = refusal(OpenAi, &body);
        assert!(refused.starts_with(&format!("`{path}` ")), "{path}: {refused}");
    }
}

#[test]
fn keys_that_two_readers_could_understand_differently_are_refused() {
    let twice = r#"{"messages":[{"role":"user","content":[
        {"type":"image","source":{"type":"base64","data":"","type":"url"}}]}]}"#;
    let error = check(Anthropic, twice).unwrap_err().to_string();
    assert_eq!(error, "`messages[0].content[0].source.type` occurs twice");
    for name in ["Messages", "mes\u{200b}sages", "MESSAGES", &"x".repeat(1000)] {
        assert!(check(Anthropic, &json!({name: []}).to_string()).is_err(), "{name}");
    }
    let error = check(Anthropic, &json!({"mes\u{200b}sages": []}).to_string()).unwrap_err();
    assert!(error.to_string().starts_with("`mes\\u{200b}sages` is not a field"), "{error}");
    for text in ["", "[]", "7", "{", "{} {}", "\"x\""] {
        assert!(check(OpenAi, text).is_err(), "{text}");
    }
}

#[test]
fn what_runners_send_passes() {
    let anthropic = json!({
        "model": "m", "max_tokens": 4096, "stream": true, "temperature": 1, "top_p": null,
        "metadata": {"user_id": "u"}, "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "system": [{"type": "text", "text": "P", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "tools": [{"name": "Bash", "description": "d", "eager_input_streaming": true, "input_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$defs": {"a": {"type": "string"}}, "properties": {"$ref": {"$ref": "#/$defs/a"}}}}],
        "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": "see https://example.org/x.png"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "s"},
                {"type": "text", "text": "t", "citations": null},
                {"type": "tool_use", "id": "1", "name": "Bash", "caller": {"type": "direct"},
                 "input": {"url": "https://x", "source": {"type": "url"}, "$ref": "https://x"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "is_error": false, "content": [
                    {"type": "text", "text": "t"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]},
                {"type": "document", "title": "t", "citations": {"enabled": true},
                 "source": {"type": "text", "media_type": "text/plain", "data": "words"}}]}]
    });
    assert!(check(Anthropic, &anthropic.to_string()).is_ok(), "{}", refusal(Anthropic, &anthropic));
    let openai = json!({
        "model": "m", "max_completion_tokens": 10, "stream": true, "store": false, "n": 1,
        "stream_options": {"include_usage": true}, "reasoning_effort": "low", "tool_choice": "auto",
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": false}}],
        "messages": [
            {"role": "system", "content": "P"},
            {"role": "user", "content": [{"type": "text", "text": "t"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}}]},
            {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"url\":\"https://x\"}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "r"}]
    });
    assert!(check(OpenAi, &openai.to_string()).is_ok(), "{}", refusal(OpenAi, &openai));
}

#[test]
fn inline_data_is_bounded_and_counted_apart_from_text() {
    let image = |length: usize| {
        let data = "A".repeat(length);
        said(&json!([{"type": "image", "source": {"type": "base64", "data": data}}])).to_string()
    };
    let tokens = check(Anthropic, &image(100_000)).unwrap();
    assert!((1600..1700).contains(&tokens), "{tokens}");
    assert!(check(Anthropic, &image(MAX_INLINE_BYTES)).is_ok());
    let error = check(Anthropic, &image(MAX_INLINE_BYTES + 1)).unwrap_err().to_string();
    assert!(error.contains("the limit is 10485760"), "{error}");

    let words = said(&json!("word ".repeat(1000))).to_string();
    let tokens = check(Anthropic, &words).unwrap();
    assert!((900..1200).contains(&tokens), "{tokens}");
    let schema = json!({"tools": [{"name": "f", "input_schema": {"words": "word ".repeat(1000)}}]});
    assert!(check(Anthropic, &schema.to_string()).unwrap() > 900, "tools count too");
}

#[test]
fn depth_does_no_harm() {
    let deep =
        |field: &str| format!(r#"{{"{field}":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for field in ["messages", "logit_bias", "x"] {
        assert!(check(OpenAi, &deep(field)).is_err());
    }
}
