//! Streams as servers send them, whole, cut anywhere, and broken.

use foreword_protocol::{
    Answer, Block, Delta, MAX_ANSWER_BYTES, Provider, ProviderError, StopReason, StreamReader,
    Usage, UsageReader,
};
use proptest::prelude::*;
use serde_json::json;

const ANTHROPIC: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":7,\"cache_read_input_tokens\":100,\"cache_creation_input_tokens\":20,\"output_tokens\":1}}}\n\n",
    "event: ping\r\ndata: {\"type\":\"ping\"}\r\n\r\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"I lo\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"ök 😀.\"}}\n\n",
    "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"read\",\"input\":{}}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"path\\\":\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"a.txt\\\"}\"}}\n\n",
    "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":42}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

const OPENAI: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
    ": keep alive\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"I lö\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"ok.\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c0\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c1\",\"function\":{\"name\":\"list\",\"arguments\":\"{\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":30}}}\n\n",
    "data: [DONE]\n\n",
);

/// The text and the calls that were announced, and what came of it.
fn read<'a>(
    provider: Provider,
    pieces: impl IntoIterator<Item = &'a str>,
) -> (String, Vec<String>, Result<Answer, ProviderError>) {
    let mut reader = StreamReader::new(provider);
    let (mut text, mut calls) = (String::new(), Vec::new());
    for piece in pieces {
        for delta in reader.push(piece).unwrap_or_default() {
            match delta {
                Delta::Text(piece) => text.push_str(&piece),
                Delta::ToolCall { id, name } => calls.push(format!("{id} {name}")),
            }
        }
    }
    (text, calls, reader.finish())
}

fn expected(provider: Provider) -> Answer {
    let call =
        |id: &str, name: &str, input| Block::ToolUse { id: id.into(), name: name.into(), input };
    match provider {
        Provider::Anthropic => Answer {
            blocks: vec![
                Block::Text { text: "I loök 😀.".into() },
                call("t1", "read", json!({"path": "a.txt"})),
            ],
            stop_reason: StopReason::ToolUse,
            usage: Usage {
                input_tokens: 7,
                output_tokens: 42,
                cache_read_tokens: 100,
                cache_write_tokens: 20,
            },
        },
        Provider::OpenAi => Answer {
            blocks: vec![
                Block::Text { text: "I löok.".into() },
                call("c0", "read", json!({"path": "a"})),
                call("c1", "list", json!({})),
            ],
            stop_reason: StopReason::ToolUse,
            usage: Usage {
                input_tokens: 20,
                output_tokens: 9,
                cache_read_tokens: 30,
                cache_write_tokens: 0,
            },
        },
    }
}

const STREAMS: [(Provider, &str); 2] =
    [(Provider::Anthropic, ANTHROPIC), (Provider::OpenAi, OPENAI)];

#[test]
fn a_stream_becomes_an_answer() {
    for (provider, stream) in STREAMS {
        let (text, calls, answer) = read(provider, [stream]);
        let answer = answer.unwrap();
        assert_eq!(answer, expected(provider));
        assert_eq!(text, answer.text());
        assert_eq!(calls.len(), answer.blocks.len() - 1);
    }
}

#[test]
fn a_whole_body_is_understood_though_a_stream_was_asked_for() {
    let body = r#"{"id":"m","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"list","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let (text, _, answer) = read(Provider::Anthropic, [" \n", body]);
    let answer = answer.unwrap();
    assert_eq!((text.as_str(), answer.text().as_str(), answer.usage.output_tokens), ("", "Hi", 2));

    let body = r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let answer = Answer::from_body(Provider::OpenAi, body).unwrap();
    assert_eq!(
        answer.blocks,
        [Block::ToolUse { id: "c".into(), name: "list".into(), input: json!({}) }]
    );
    assert_eq!(answer.usage.input_tokens, 3);
}

#[test]
fn half_a_stream_is_an_error_that_says_so() {
    for (provider, stream) in STREAMS {
        let end = match provider {
            Provider::Anthropic => stream.find("data: {\"type\":\"message_delta\"").unwrap(),
            Provider::OpenAi => stream.find("data: {\"choices\":[{\"delta\":{},").unwrap(),
        };
        let first = stream.find("\n\n").unwrap() + 2;
        for cut in (first..=end).filter(|cut| stream.is_char_boundary(*cut)) {
            let (_, _, answer) = read(provider, [&stream[..cut]]);
            assert_eq!(answer.unwrap_err(), ProviderError::Truncated, "at {cut}");
        }
        let (_, _, cut) = read(provider, [&stream[..end]]);
        assert_eq!(cut.unwrap_err(), ProviderError::Truncated);
        let (_, _, nothing) = read(provider, [" \n"]);
        assert!(nothing.unwrap_err().to_string().contains("the stream ended early"));
    }
}

#[test]
fn errors_pages_and_garbage_are_told_apart() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let start = &ANTHROPIC[..ANTHROPIC.find("\n\n").unwrap() + 2];
    let (_, _, answer) = read(Provider::Anthropic, [start, overloaded]);
    let error = answer.unwrap_err();
    assert_eq!(error.to_string(), "the model's server refused the call: Overloaded");
    assert!(error.retryable());

    let (_, _, answer) = read(Provider::OpenAi, ["<html><title>Sign", " in</title>"]);
    assert!(answer.unwrap_err().to_string().contains("Sign in"));
    for garbage in ["hello", "data: nonsense\n\n", "data: {}\n\n", "[]", "{\"a\":1}", "\u{0}\u{1}"]
    {
        for provider in [Provider::Anthropic, Provider::OpenAi] {
            let (text, _, answer) = read(provider, [garbage]);
            let error = answer.unwrap_err();
            assert_eq!(text, "");
            assert!(matches!(error, ProviderError::Garbage(_)), "{garbage:?}: {error}");
            assert!(!error.retryable());
        }
    }
    let broken = r#"{"content":[{"type":"te"#;
    assert_eq!(Answer::from_body(Provider::Anthropic, broken), Err(ProviderError::Truncated));
}

#[test]
fn a_call_that_is_no_json_keeps_what_the_model_wrote() {
    let stream = ANTHROPIC.replace("\\\"a.txt\\\"}", "\\\"a.t");
    let (_, _, answer) = read(Provider::Anthropic, [stream.as_str()]);
    let Block::ToolUse { input, .. } = &answer.unwrap().blocks[1] else { panic!("no call") };
    assert_eq!(input, &json!("{\"path\":\"a.t"));
}

/// Found by the fuzz harness: a part that began again took back text that was told.
#[test]
fn a_part_that_begins_twice_is_refused() {
    let again = ANTHROPIC.replace("\"index\":2", "\"index\":1");
    let (text, _, answer) = read(Provider::Anthropic, [again.as_str()]);
    assert_eq!(text, "I loök 😀.");
    let error = answer.unwrap_err().to_string();
    assert_eq!(error, "cannot read the model's answer: its parts are out of order");
}

#[test]
fn an_endless_stream_ends() {
    let event = format!(
        "data: {{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{}\"}}}}\n\n",
        "x".repeat(1 << 20)
    );
    let mut reader = StreamReader::new(Provider::Anthropic);
    reader
        .push(&ANTHROPIC[..ANTHROPIC.find("data: {\"type\":\"content_block_stop\"").unwrap()])
        .unwrap();
    let error = (0..100).find_map(|_| reader.push(&event).err()).unwrap();
    assert_eq!(error, ProviderError::TooLarge { limit: MAX_ANSWER_BYTES });
    assert_eq!(reader.finish(), Err(error));
}

fn cut_at<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut cuts: Vec<usize> =
        cuts.iter().map(|cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_cut_of_a_stream_gives_the_same_answer(cuts in prop::collection::vec(any::<usize>(), 0..40)) {
        for (provider, stream) in STREAMS {
            let (text, _, answer) = read(provider, cut_at(stream, &cuts));
            prop_assert_eq!(answer, Ok(expected(provider)));
            prop_assert_eq!(text, expected(provider).text());

            let mut usage = UsageReader::new(provider);
            let mut bytes = stream.as_bytes();
            for cut in &cuts {
                let (piece, rest) = bytes.split_at(cut % (bytes.len() + 1));
                usage.push(piece);
                bytes = rest;
            }
            usage.push(bytes);
            prop_assert_eq!(usage.finish(), expected(provider).usage);
        }
    }

    /// A stream damaged anywhere gives an answer or an error, and the same one however it is cut.
    #[test]
    fn a_damaged_stream_is_read_the_same_way_in_any_cut(
        at in any::<usize>(), length in 0usize..200, with in ".{0,8}",
        cuts in prop::collection::vec(any::<usize>(), 0..10),
    ) {
        for (provider, stream) in STREAMS {
            let start = stream.floor_char_boundary(at % stream.len());
            let end = stream.ceil_char_boundary((start + length).min(stream.len()));
            let damaged = format!("{}{with}{}", &stream[..start], &stream[end..]);
            let whole = read(provider, [damaged.as_str()]);
            prop_assert_eq!(read(provider, cut_at(&damaged, &cuts)), whole);
        }
    }
}

#[test]
fn usage_is_found_in_whole_answers() {
    let body = r#" {"content":[],"usage":{"input_tokens":5,"output_tokens":6}}"#;
    let mut usage = UsageReader::new(Provider::Anthropic);
    for byte in body.as_bytes() {
        usage.push(&[*byte]);
    }
    assert_eq!(usage.finish(), Usage { input_tokens: 5, output_tokens: 6, ..Usage::default() });
    let mut usage = UsageReader::new(Provider::OpenAi);
    usage.push(b"<html>\"usage\"\xff");
    usage.push(&vec![b'x'; 10 << 20]);
    assert_eq!(usage.finish(), Usage::default());
}
