//! A model's server on 127.0.0.1 that answers from a script, as Anthropic and as Chat Completions,
//! and keeps what it was asked.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

/// One answer of the script.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Says something, in pieces of a few bytes.
    Says(String),
    /// Says something and calls tools.
    Calls(String, Vec<(String, Value)>),
    /// Writes a call whose input is this text, JSON or not.
    RawCall(String, String),
    /// Answers with these bytes.
    Raw { status: u16, content_type: String, body: String },
    /// Says something and breaks off.
    Half(String),
    /// Says nothing until the server ends.
    Silent,
}

impl Reply {
    pub(crate) fn says(text: &str) -> Self {
        Self::Says(text.into())
    }

    pub(crate) fn calls(calls: &[(&str, Value)]) -> Self {
        let calls = calls.iter().map(|(name, input)| ((*name).to_owned(), input.clone()));
        Self::Calls(String::new(), calls.collect())
    }

    pub(crate) fn raw(status: u16, content_type: &str, body: &str) -> Self {
        Self::Raw { status, content_type: content_type.into(), body: body.into() }
    }
}

/// What the server was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

struct Shared {
    script: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
    stopped: AtomicBool,
}

/// Ends when it is dropped.
pub(crate) struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    pub(crate) fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
        });
        let server = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if server.stopped.load(Ordering::Acquire) {
                    return;
                }
                let server = Arc::clone(&server);
                thread::spawn(move || serve(stream.unwrap(), &server));
            }
        });
        Self { port, shared, thread: Some(thread) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Adds an answer to the script.
    pub(crate) fn then(&self, reply: Reply) {
        self.shared.script.lock().unwrap().push_back(reply);
    }

    /// All it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        let _ = self.thread.take().unwrap().join();
    }
}

/// One request a connection.
fn serve(mut stream: TcpStream, shared: &Shared) {
    let mut input = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if input.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    input.read_exact(&mut body).unwrap();
    let asked = Asked { method, path, headers, body: String::from_utf8(body).unwrap() };
    let chat = asked.path.contains("chat/completions");
    let stream_asked =
        serde_json::from_str::<Value>(&asked.body).is_ok_and(|body| body["stream"] == true);
    let number = {
        let mut all = shared.asked.lock().unwrap();
        all.push(asked);
        all.len()
    };
    let reply = shared.script.lock().unwrap().pop_front();
    let reply = reply.unwrap_or_else(|| Reply::says("The script is over."));
    if matches!(reply, Reply::Silent) {
        while !shared.stopped.load(Ordering::Acquire) {
            thread::sleep(std::time::Duration::from_millis(20));
        }
        return;
    }
    let (status, content_type, body) = match reply {
        Reply::Raw { status, content_type, body } => (status, content_type, body),
        reply => {
            let (content_type, body) = match (chat, stream_asked) {
                (false, true) => ("text/event-stream", anthropic_stream(&reply, number)),
                (true, true) => ("text/event-stream", openai_stream(&reply, number)),
                (false, false) => ("application/json", anthropic_whole(&reply, number)),
                (true, false) => ("application/json", openai_whole(&reply, number)),
            };
            (200, content_type.to_owned(), body)
        }
    };
    let head = format!(
        "HTTP/1.1 {status} x\r\nContent-Type: {content_type}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    for piece in body.as_bytes().chunks(97) {
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}

/// Text, and calls with their inputs as text.
fn parts(reply: &Reply) -> (String, Vec<(String, String)>) {
    match reply {
        Reply::Says(text) | Reply::Half(text) => (text.clone(), Vec::new()),
        Reply::Calls(text, calls) => {
            let calls = calls.iter().map(|(name, input)| (name.clone(), input.to_string()));
            (text.clone(), calls.collect())
        }
        Reply::RawCall(name, input) => (String::new(), vec![(name.clone(), input.clone())]),
        Reply::Raw { .. } | Reply::Silent => unreachable!(),
    }
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(5).map(|piece| piece.iter().collect()).collect()
}

fn anthropic_stream(reply: &Reply, number: usize) -> String {
    let (text, calls) = parts(reply);
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "test-model",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 1},
    }})];
    let mut index = 0;
    if !text.is_empty() {
        events.push(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        for piece in pieces(&text) {
            events.push(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}));
        }
        if !matches!(reply, Reply::Half(_)) {
            events.push(json!({"type": "content_block_stop", "index": 0}));
        }
        index = 1;
    }
    for (name, input) in &calls {
        let id = format!("toolu_{number}_{index}");
        events.push(json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}));
        for piece in pieces(input) {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    if !matches!(reply, Reply::Half(_)) {
        let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 5}}));
        events.push(json!({"type": "message_stop"}));
    }
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn openai_stream(reply: &Reply, number: usize) -> String {
    let (text, calls) = parts(reply);
    let delta = |delta: Value, reason: Value| {
        json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 0, "model": "test-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}), Value::Null)];
    for piece in pieces(&text) {
        events.push(delta(json!({ "content": piece }), Value::Null));
    }
    for (index, (name, input)) in calls.iter().enumerate() {
        let id = format!("call_{number}_{index}");
        events.push(delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]}), Value::Null));
        for piece in pieces(input) {
            events.push(delta(
                json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                Value::Null,
            ));
        }
    }
    let mut all: String;
    if matches!(reply, Reply::Half(_)) {
        return events.iter().map(|event| format!("data: {event}\n\n")).collect();
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(delta(json!({}), reason.into()));
    events.push(json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 0, "model": "test-model", "choices": [],
        "usage": {"prompt_tokens": 15, "completion_tokens": 5, "total_tokens": 20, "prompt_tokens_details": {"cached_tokens": 3}}}));
    all = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    all.push_str("data: [DONE]\n\n");
    all
}

fn anthropic_whole(reply: &Reply, number: usize) -> String {
    let (text, calls) = parts(reply);
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    for (index, (name, input)) in calls.iter().enumerate() {
        let input: Value = serde_json::from_str(input).unwrap_or(Value::Null);
        content.push(json!({"type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": name, "input": input}));
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "test-model", "content": content,
        "stop_reason": reason, "usage": {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 5}})
    .to_string()
}

fn openai_whole(reply: &Reply, number: usize) -> String {
    let (text, calls) = parts(reply);
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, input))| json!({"id": format!("call_{number}_{index}"), "type": "function", "function": {"name": name, "arguments": input}}))
        .collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion", "model": "test-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "tool_calls": calls}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 15, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}})
    .to_string()
}
