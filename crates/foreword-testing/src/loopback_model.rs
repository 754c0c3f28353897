//! A model's server on loopback, which records what it is asked and answers from a script.
//!
//! [`ModelServer`] is for tests. [`serve`] keeps nothing of what it is asked, for measurements.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests only: a request that cannot be read fails the test"
)]

mod streams;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use streams::{anthropic_stream, openai_stream, whole_answer};

/// The events of an answer that says one sentence.
pub const ONE_SENTENCE: &str = concat!(
    r#"data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"t","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Nothing is on today."}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":0}"#,
    "\n\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}"#,
    "\n\n",
    r#"data: {"type":"message_stop"}"#,
    "\n\n",
);

/// What somebody asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub raw: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The texts of the system blocks (Anthropic), or of the system message (OpenAI).
    pub fn system(&self) -> Vec<String> {
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
    pub fn last_message(&self) -> String {
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
pub enum Answer {
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

pub fn text(text: &str) -> Answer {
    Answer::Text(text.to_owned())
}

pub fn tool(name: &str, input: Value) -> Answer {
    Answer::Tools(String::new(), vec![(name.to_owned(), input)])
}

pub struct ModelServer {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    stopped: Arc<AtomicBool>,
}

impl ModelServer {
    /// Starts a server; the script gets the number of the call, from 0, and the call.
    pub fn start(script: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let stopped = Arc::new(AtomicBool::new(false));
        let record = Arc::clone(&asked);
        let url = listen(Arc::clone(&stopped), move |request, out| {
            answer_one(request, out, &record, &script)
        })
        .unwrap();
        Self { url, asked, stopped }
    }

    /// Answers in turn, the last one for ever.
    pub fn saying(answers: Vec<Answer>) -> Self {
        Self::start(move |number, _| answers[number.min(answers.len() - 1)].clone())
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

/// Serves until the process ends, on threads of its own, and keeps nothing. `answer` gets the body of a request and
/// gives the events. Returns the address.
pub fn serve(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> std::io::Result<String> {
    listen(Arc::default(), move |request, out| {
        let body = answer(&request.body);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length";
        write!(out, "{head}: {}\r\n\r\n{body}", body.len())?;
        Ok(Connection::Stays)
    })
}

/// A request over HTTP.
struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// What becomes of a connection after an answer.
#[derive(PartialEq, Eq)]
enum Connection {
    Stays,
    Ends,
}

/// Answers every request on a free port, each connection on a thread of its own. Returns the address.
fn listen(
    stopped: Arc<AtomicBool>,
    answer: impl Fn(Request, &mut TcpStream) -> std::io::Result<Connection> + Send + Sync + 'static,
) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            if stopped.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let _ = converse(stream, &*answer);
            });
        }
    });
    Ok(url)
}

/// Answers the requests of one connection.
fn converse(
    stream: TcpStream,
    answer: &dyn Fn(Request, &mut TcpStream) -> std::io::Result<Connection>,
) -> std::io::Result<()> {
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
        let body = String::from_utf8_lossy(&body).into_owned();
        if answer(Request { method, path, headers, body }, &mut out)? == Connection::Ends {
            return Ok(());
        }
        out.flush()?;
    }
}

/// Records a request and answers it as the script says.
fn answer_one(
    request: Request,
    out: &mut TcpStream,
    record: &Mutex<Vec<Asked>>,
    script: &dyn Fn(usize, &Asked) -> Answer,
) -> std::io::Result<Connection> {
    if request.method != "POST" {
        out.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
        return Ok(Connection::Stays);
    }
    let Request { path, headers, body: raw, .. } = request;
    let asked = Asked { path, headers, body: serde_json::from_str(&raw).unwrap_or_default(), raw };
    let number = {
        let mut all = record.lock().unwrap();
        all.push(asked.clone());
        all.len() - 1
    };
    let openai = asked.path.ends_with("/chat/completions");
    let stream = |text: &str, tools: &[(String, Value)]| match openai {
        true => openai_stream(number, text, tools),
        false => anthropic_stream(number, text, tools),
    };
    let (text, tools) = match script(number, &asked) {
        Answer::Text(text) => (text, Vec::new()),
        Answer::Tools(text, tools) => (text, tools),
        Answer::Raw(status, headers, body) => {
            write!(out, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len())?;
            for (name, value) in headers {
                write!(out, "{name}: {value}\r\n")?;
            }
            write!(out, "\r\n{body}")?;
            return Ok(Connection::Stays);
        }
        Answer::Silence(time) => {
            thread::sleep(time);
            return Ok(Connection::Ends);
        }
        Answer::HalfAStream(text) => {
            let whole = stream(&text, &[]);
            let half = &whole[..whole.len() / 2];
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
            write!(out, "{head}\r\n\r\n{half}")?;
            out.flush()?;
            return Ok(Connection::Ends);
        }
    };
    if asked.body["stream"] != true {
        // Agents' loops always stream; a question of the host's own does not.
        assert!(tools.is_empty(), "a question without a stream offers no tools");
        let body = whole_answer(openai, &text).to_string();
        write!(out, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
        return Ok(Connection::Stays);
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
    write!(out, "{head}\r\n\r\n")?;
    for piece in stream(&text, &tools).as_bytes().chunks(97) {
        write!(out, "{:x}\r\n", piece.len())?;
        out.write_all(piece)?;
        out.write_all(b"\r\n")?;
    }
    out.write_all(b"0\r\n\r\n")?;
    Ok(Connection::Stays)
}
