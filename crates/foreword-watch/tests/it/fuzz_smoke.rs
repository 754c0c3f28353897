//! The checks of `fuzz/watch_checks.rs` on arbitrary text, and on requests and captures that were damaged.
//! `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/watch_checks.rs"]
mod checks;

use crate::harness::{anything, damaged, fuzz};

const REQUESTS: &[&str] = &[
    r##"{"model":"claude","system":[{"type":"text","text":"# Rules\n\nAlways run the tests before you commit.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"mcp__a__b","description":"Read"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"     1\u2192# Rules"}]}]}]}"##,
    r#"{"model":"gpt-5","messages":[{"role":"system","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"SYSTEM: x"}]}"#,
    r#"{"instructions":"i","input":[{"type":"function_call_output","call_id":"c","output":"<system-reminder>\nx\n</system-reminder>"}]}"#,
    r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"inlineData":{}}]}]}"#,
];

const CAPTURES: &[&str] = &[
    "{\"kind\":\"call\",\"number\":1,\"at\":\"\",\"upstream\":\"anthropic\",\"path\":\"/v1/messages\",\"api\":\"anthropic-messages\",\"status\":200,\"firstByteMs\":1.0,\"totalMs\":2.0,\"conversation\":0,\"request\":{\"length\":1,\"text\":\"{\\\"system\\\":\\\"You are.\\\",\\\"messages\\\":[]}\"},\"response\":{\"length\":1,\"text\":\"{}\"}}\n{\"kind\":\"call\",\"number\":2,\"at\":\"\",\"upstream\":\"anthropic\",\"path\":\"/v1/messages\",\"api\":\"anthropic-messages\",\"status\":200,\"firstByteMs\":1.0,\"totalMs\":2.0,\"conversation\":0,\"comparison\":{\"previous\":1,\"relation\":\"continues\",\"commonParts\":0,\"offset\":3,\"commonBytes\":3,\"reusableParts\":9,\"difference\":{\"cause\":\"clock\",\"region\":\"system\",\"place\":\"system\",\"line\":1,\"before\":\"a\",\"after\":\"b\"}},\"request\":{\"length\":1,\"text\":\"x\",\"shared\":{\"call\":1,\"start\":12,\"end\":20}},\"response\":{\"length\":1,\"text\":\"\"}}\n{\"kind\":\"other\",\"at\":\"\",\"method\":\"GET\",\"path\":\"/\",\"status\":1}\n{\"kind\":\"end\",\"at\":\"\",\"exitCode\":null}",
];

#[test]
fn any_text_as_a_request() {
    fuzz(anything(), checks::watched_request);
    fuzz(damaged(REQUESTS), checks::watched_request);
}

#[test]
fn any_text_in_a_request() {
    fuzz(anything(), checks::watched_text);
}

#[test]
fn any_text_as_a_capture() {
    let directory = tempfile::tempdir().unwrap();
    fuzz(anything(), |text| checks::capture_file(directory.path(), text));
    fuzz(damaged(CAPTURES), |text| checks::capture_file(directory.path(), text));
}
