//! A model server on loopback that records what it is asked and answers from a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What somebody asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    pub(crate) raw: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The texts of the system blocks (Anthropic), or of the system message (OpenAI).
    pub(crate) fn system(&self) -> Vec<String> {
        match &self.body["system"] {
            Value::String(text) => vec![text.clone()],
            Value::Array(blocks) => {
                blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
            }
            _ => self.body["messages"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|message| matches!(message["role"].as_str(), Some("system" | "developer")))
                .map(|message| match &message["content"] {
                    Value::String(text) => text.clone(),
                    parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
                })
                .collect(),
        }
    }

    /// All text of the last message.
    pub(crate) fn last_message(&self) -> String {
        let message = self.body["messages"].as_array().and_then(|all| all.last()).unwrap();
        texts(&message["content"])
    }
}

fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| match block["type"].as_str() {
                Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
                Some("tool_result") => texts(&block["content"]),
                _ => String::new(),
            })
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// What the server answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Text(String),
    /// A text, then calls of tools: names and inputs.
    Tools(String, Vec<(String, Value)>),
    /// Whatever it is: status, headers and body.
    Raw(u16, Vec<(String, String)>, String),
    /// The first half of a stream, then the connection ends.
    HalfAStream(String),
    /// Nothing, for so long.
    Silence(Duration),
}

pub(crate) fn text(text: &str) -> Answer {
    Answer::Text(text.to_owned())
}

pub(crate) fn tool(name: &str, input: Value) -> Answer {
    Answer::Tools(String::new(), vec![(name.to_owned(), input)])
}

type Script = dyn Fn(usize, &Asked) -> Answer + Send + Sync;

pub(crate) struct ModelServer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    stopped: Arc<AtomicBool>,
}

impl ModelServer {
    /// Starts a server; the script gets the number of the call, from 0, and the call.
    pub(crate) fn start(script: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let stopped = Arc::new(AtomicBool::new(false));
        let script: Arc<Script> = Arc::new(script);
        let (record, ends) = (Arc::clone(&asked), Arc::clone(&stopped));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (record, script) = (Arc::clone(&record), Arc::clone(&script));
                thread::spawn(move || {
                    let _ = serve(stream, &record, script.as_ref());
                });
            }
        });
        Self { url, asked, stopped }
    }

    /// Answers in turn, the last one for ever.
    pub(crate) fn saying(answers: Vec<Answer>) -> Self {
        Self::start(move |number, _| answers[number.min(answers.len() - 1)].clone())
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn serve(stream: TcpStream, record: &Mutex<Vec<Asked>>, script: &Script) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let path = words.next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let raw = String::from_utf8_lossy(&body).into_owned();
        let asked =
            Asked { path, headers, body: serde_json::from_str(&raw).unwrap_or_default(), raw };
        if method != "POST" {
            out.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        let number = {
            let mut all = record.lock().unwrap();
            all.push(asked.clone());
            all.len() - 1
        };
        let openai = asked.path.ends_with("/chat/completions");
        let stream = asked.body["stream"] == true;
        match script(number, &asked) {
            Answer::Raw(status, headers, body) => {
                write!(out, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len())?;
                for (name, value) in headers {
                    write!(out, "{name}: {value}\r\n")?;
                }
                write!(out, "\r\n{body}")?;
            }
            Answer::Silence(time) => {
                thread::sleep(time);
                return Ok(());
            }
            Answer::HalfAStream(text) => {
                let whole = if openai {
                    openai_stream(number, &text, &[])
                } else {
                    anthropic_stream(number, &text, &[])
                };
                let half = &whole[..whole.len() / 2];
                write!(
                    out,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{half}"
                )?;
                out.flush()?;
                return Ok(());
            }
            answer => {
                let (text, tools) = match answer {
                    Answer::Text(text) => (text, Vec::new()),
                    Answer::Tools(text, tools) => (text, tools),
                    _ => unreachable!(),
                };
                if !stream {
                    // Agents' loops always stream; a question of the host's own does not.
                    assert!(tools.is_empty(), "a question without a stream offers no tools");
                    let body = whole_answer(openai, &text).to_string();
                    let length = body.len();
                    write!(out, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}")?;
                    continue;
                }
                let body = if openai {
                    openai_stream(number, &text, &tools)
                } else {
                    anthropic_stream(number, &text, &tools)
                };
                write!(
                    out,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )?;
                for piece in body.as_bytes().chunks(97) {
                    write!(out, "{:x}\r\n", piece.len())?;
                    out.write_all(piece)?;
                    out.write_all(b"\r\n")?;
                }
                out.write_all(b"0\r\n\r\n")?;
            }
        }
        out.flush()?;
    }
}

fn whole_answer(openai: bool, text: &str) -> Value {
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

fn anthropic_stream(call: usize, text: &str, tools: &[(String, Value)]) -> String {
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

fn openai_stream(call: usize, text: &str, tools: &[(String, Value)]) -> String {
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
