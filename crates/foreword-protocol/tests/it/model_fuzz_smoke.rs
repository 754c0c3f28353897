//! The checks of `fuzz/provider_checks.rs` on arbitrary text, and on bodies and streams that were
//! damaged. `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/provider_checks.rs"]
mod checks;

use crate::harness::{damaged, fuzz};

const BODIES: &[&str] = &[
    r#"{"model":"m","stream":true,"system":[{"type":"text","text":"You are.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"More."}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#,
    r#"{"system":"You \u00e4re\n","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null}]}"#,
    r#"{"messages":[{"role":"system","content":"You are."},{"role":"developer","content":[{"type":"text","text":"x"}]},{"content":"u","role":"user"}],"model":"m","tools":[{"type":"function"}]}"#,
];

const ANSWERS: &[&str] = &[
    r#"{"content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"read","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#,
    r#"{"choices":[{"message":{"content":"hi","tool_calls":[{"id":"c","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":9}}}"#,
    r#"{"type":"error","error":{"type":"overloaded_error","message":"Over\u0007loaded"}}"#,
    "<!DOCTYPE html><html><head><title>502</title></head>",
    "30",
];

const STREAMS: &[&str] = &[
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hé\"}}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"x\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"hé\"}}]}\r\n\r\n: ping\r\rdata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n",
    "data: {\"error\":{\"message\":\"no\"}}\n\n",
];

#[test]
fn any_body() {
    fuzz(damaged(BODIES), checks::request_body);
}

#[test]
fn any_answer() {
    fuzz(damaged(ANSWERS), checks::answer);
}

#[test]
fn any_stream() {
    fuzz(damaged(STREAMS), checks::stream);
}
