use foreword::Usage;

use super::*;

fn parts(api: Option<Api>, body: &str) -> Vec<(String, Region, String, String)> {
    let request = read_request(api, "", body).unwrap();
    let part = |part: RequestPart| (part.place.clone(), part.region, part.label(), part.text);
    request.parts.into_iter().map(part).collect()
}

fn expected(rows: &[(&str, Region, &str, &str)]) -> Vec<(String, Region, String, String)> {
    let row = |row: &(&str, Region, &str, &str)| (row.0.into(), row.1, row.2.into(), row.3.into());
    rows.iter().map(row).collect()
}

use Region::{Messages, System, Tools};

#[test]
fn anthropic_requests_are_read_in_the_order_of_the_cache() {
    let body = r#"{"model":"claude-x","messages":[
        {"role":"user","content":"Hi"},
        {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"b":1,"a":2}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"}],"cache_control":{"type":"ephemeral"}}]}],
        "system":[{"type":"text","text":"x-anthropic-billing-header: cch=1"},{"type":"text","text":"You are","cache_control":{"type":"ephemeral"}}],
        "tools":[{"name":"Read","description":"d","input_schema":{"z":1,"a":2},"cache_control":{"type":"ephemeral"}}]}"#;
    let read = read_request(None, "", body).unwrap();
    assert_eq!((read.api, read.caching), (Api::AnthropicMessages, Caching::Marks));
    let marks: Vec<&str> =
        read.parts.iter().filter(|part| part.cache_mark).map(|part| part.place.as_str()).collect();
    assert_eq!(marks, ["tools[0]", "system[1]", "messages[2].content[0]"]);
    assert_eq!(
        parts(None, body),
        expected(&[
            (
                "tools[0]",
                Tools,
                "Read",
                r#"{"name":"Read","description":"d","input_schema":{"z":1,"a":2}}"#
            ),
            ("system[0]", System, "billing header", "x-anthropic-billing-header: cch=1"),
            ("system[1]", System, "system", "You are"),
            ("messages[0].content", Messages, "user", "Hi"),
            ("messages[1].content[0]", Messages, "call of Read", r#"{"b":1,"a":2}"#),
            ("messages[2].content[0]", Messages, "result of Read", "one"),
        ])
    );
}

#[test]
fn chat_requests_lead_with_their_system_messages() {
    let body = r#"{"model":"gpt-5","messages":[
        {"role":"developer","content":"Rules"},{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"data:"}}]},
        {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":"a.txt"},{"role":"system","content":"late"}],
        "tools":[{"type":"function","function":{"name":"ls"}}]}"#;
    let read = read_request(None, "", body).unwrap();
    assert_eq!((read.api, read.caching), (Api::OpenaiChat, Caching::Automatic));
    let labels: Vec<(Region, String)> =
        read.parts.iter().map(|part| (part.region, part.label())).collect();
    let named = |region, label: &str| (region, label.to_owned());
    assert_eq!(
        labels,
        [
            named(Tools, "ls"),
            named(System, "system"),
            named(Messages, "user"),
            named(Messages, "user"),
            named(Messages, "call of ls"),
            named(Messages, "result of ls"),
            named(Messages, "system"),
        ]
    );
    assert!(read.parts[3].is_media && read.parts[3].text.starts_with("[image_url, "));
}

#[test]
fn responses_requests_have_instructions_and_items() {
    let body = r#"{"model":"gpt-5","instructions":"Be brief","input":[
        {"type":"message","role":"developer","content":[{"type":"input_text","text":"Dev"}]},
        {"role":"user","content":"Hi"},
        {"type":"function_call","call_id":"c","name":"shell","arguments":"{\"cmd\":\"ls\"}"},
        {"type":"function_call_output","call_id":"c","output":"a"},
        {"type":"reasoning","summary":[]}],"previous_response_id":"r"}"#;
    assert_eq!(
        parts(None, body),
        expected(&[
            ("instructions", System, "system", "Be brief"),
            ("input[0].content[0]", System, "system", "Dev"),
            ("input[1]", Messages, "user", "Hi"),
            ("input[2]", Messages, "call of shell", r#"{"cmd":"ls"}"#),
            ("input[3]", Messages, "result of shell", "a"),
            ("input[4]", Messages, "assistant", r#"{"type":"reasoning","summary":[]}"#),
        ])
    );
    assert!(read_request(None, "", body).unwrap().elsewhere.is_some());
}

#[test]
fn gemini_requests_name_their_model_in_the_path() {
    let body = r#"{"system_instruction":{"parts":[{"text":"You"}]},"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}],
        "contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"x":1}}}]}]}"#;
    let path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    let read = read_request(api_of_path(path), path, body).unwrap();
    assert_eq!((read.api, read.model.as_str()), (Api::GeminiGenerate, "gemini-2.5-pro"));
    assert_eq!(
        parts(None, body),
        expected(&[
            ("tools[0].functionDeclarations[0]", Tools, "f", r#"{"name":"f"}"#),
            ("tools[1]", Tools, "unnamed tool", r#"{"googleSearch":{}}"#),
            ("systemInstruction.parts[0]", System, "system", "You"),
            ("contents[0].parts[0]", Messages, "user", "Hi"),
            ("contents[1].parts[0]", Messages, "call of f", r#"{"a":1}"#),
            ("contents[2].parts[0]", Messages, "result of f", r#"{"x":1}"#),
        ])
    );
}

#[test]
fn what_is_no_request_is_said_so() {
    for (body, reason) in [
        ("", "EOF"),
        ("[]", "object"),
        ("{}", "neither `messages` nor `input` nor `contents`"),
        (r#"{"messages":3,"system":""}"#, "neither"),
        (r#"{"input":3}"#, "`input` is neither"),
        (r#"{"contents":{}}"#, "`contents` is not a list"),
    ] {
        let error = read_request(None, "", body).unwrap_err().to_string();
        assert!(error.contains(reason), "{body}: {error}");
    }
    let deep = format!("{{\"messages\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let _ = read_request(None, "", &deep);
}

#[test]
fn bodies_that_are_cut_or_changed_anywhere_do_no_harm() {
    let bodies = [
        r#"{"model":"m","system":[{"type":"text","text":"é\u00e9","cache_control":{}}],"tools":[{"name":"t"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"image","source":{}}]}]}]}"#,
        r#"{"instructions":"i","input":[{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"role":"user","content":[{"type":"input_text","text":"x"}]}]}"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"x"},{"functionCall":{"name":"f","args":{}}}]}],"systemInstruction":{"parts":[{"text":"s"}]}}"#,
    ];
    let apis = [
        None,
        Some(Api::AnthropicMessages),
        Some(Api::OpenaiChat),
        Some(Api::OpenaiResponses),
        Some(Api::GeminiGenerate),
    ];
    for body in bodies {
        for at in (0..=body.len()).filter(|at| body.is_char_boundary(*at)) {
            for inserted in ["", "[", "\"", "null", "{}", "9e999", "\u{0}"] {
                let (start, end) = body.split_at(at);
                for text in [start.to_owned(), format!("{start}{inserted}{end}")] {
                    for api in apis {
                        let _ = read_request(api, "", &text);
                        let _ = read_answer(api.unwrap_or(Api::OpenaiChat), &text);
                    }
                }
            }
        }
    }
}

#[test]
fn usage_is_the_same_in_every_api() {
    let usage = |input, output, read, write| {
        Some(Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: write,
        })
    };
    let anthropic = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":9,\"output_tokens\":1}}}\n\n\
        data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"name\":\"Read\"}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":4}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    let facts = read_answer(Api::AnthropicMessages, anthropic);
    assert_eq!(facts.usage, usage(5, 4, 7, 9));
    assert_eq!((facts.called, facts.is_complete), (vec!["Read".to_owned()], true));
    let cut = anthropic.split("data: {\"type\":\"message_stop").next().unwrap();
    assert!(!read_answer(Api::AnthropicMessages, cut).is_complete);

    let chat = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"ls"}}]}}],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}"#;
    let facts = read_answer(Api::OpenaiChat, chat);
    assert_eq!((facts.usage, facts.called), (usage(2, 2, 8, 0), vec!["ls".to_owned()]));

    let responses = "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"shell\"}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"function_call\",\"name\":\"shell\"}],\"usage\":{\"input_tokens\":6,\"output_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":4}}}}\n\n";
    let facts = read_answer(Api::OpenaiResponses, responses);
    assert_eq!((facts.usage, facts.called), (usage(2, 1, 4, 0), vec!["shell".to_owned()]));

    let gemini = r#"[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]},{"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":5}}]"#;
    let facts = read_answer(Api::GeminiGenerate, gemini);
    assert_eq!((facts.usage, facts.called), (usage(6, 7, 3, 0), vec!["f".to_owned()]));

    let refused =
        read_answer(Api::AnthropicMessages, r#"{"type":"error","error":{"message":"no"}}"#);
    assert_eq!(refused.error.as_deref(), Some("no"));
}

#[test]
fn compressed_bodies_are_read_as_far_as_they_go() {
    let text = "hello ".repeat(2000);
    let raw = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6);
    let mut gzip = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
    gzip.extend_from_slice(b"name\0");
    gzip.extend_from_slice(&raw);
    gzip.extend_from_slice(&[0; 8]);
    assert_eq!(decode(&gzip, Some(b"gzip")), Decoded::Text(text.clone()));
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 6);
    assert_eq!(decode(&zlib, Some(b"deflate")), Decoded::Text(text.clone()));
    assert_eq!(decode(&raw, Some(b"deflate")), Decoded::Text(text.clone()));
    let Decoded::Text(half) = decode(&gzip[..gzip.len() / 2], Some(b"gzip")) else { panic!() };
    assert!(text.starts_with(&half));
    assert!(matches!(decode(b"x", Some(b"gzip")), Decoded::Unreadable(_)));
    assert!(
        matches!(decode(b"x", Some(b"br")), Decoded::Unreadable(reason) if reason.contains("`br`"))
    );
    assert_eq!(decode("aé".as_bytes().get(..2).unwrap(), None), Decoded::Text("a".to_owned()));
    assert!(matches!(decode(b"\xff\xfe", None), Decoded::Unreadable(_)));
}
