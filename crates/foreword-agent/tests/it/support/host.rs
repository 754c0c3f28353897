//! A host for tests: it speaks the protocol over a real socket, passes calls of the model on to a
//! server if they carry the prompt, and answers all else from a function.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use foreword_protocol::{
    Action, Call, ErrorCode, Failure, Frames, MAX_MODEL_CALL_BYTES, ModelCall, Reply, StreamPart,
};
use foreword_protocol::{Provider, RequestFacts, Utf8Pieces};
use serde_json::Value;

type Answer = dyn Fn(&Action) -> Result<Value, Failure> + Send + Sync;

struct Shared {
    model_port: u16,
    prompt: String,
    answer: Box<Answer>,
    actions: Mutex<Vec<Action>>,
    refused: Mutex<Vec<ModelCall>>,
    stopped: AtomicBool,
}

/// Ends when it is dropped.
pub(crate) struct TestHost {
    dir: tempfile::TempDir,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl TestHost {
    /// A host for agents with this system prompt.
    pub(crate) fn start(
        model_port: u16,
        prompt: &str,
        answer: impl Fn(&Action) -> Result<Value, Failure> + Send + Sync + 'static,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("host.sock")).unwrap();
        let shared = Arc::new(Shared {
            model_port,
            prompt: prompt.to_owned(),
            answer: Box::new(answer),
            actions: Mutex::new(Vec::new()),
            refused: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
        });
        let host = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if host.stopped.load(Ordering::Acquire) {
                    return;
                }
                let host = Arc::clone(&host);
                thread::spawn(move || serve(&stream.unwrap(), &host));
            }
        });
        Self { dir, shared, thread: Some(thread) }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("host.sock")
    }

    pub(crate) fn token(&self) -> &'static str {
        "a-session-token"
    }

    /// What was asked for, calls of the model left out.
    pub(crate) fn actions(&self) -> Vec<Action> {
        self.shared.actions.lock().unwrap().clone()
    }

    /// Calls of the model that lacked the prompt.
    pub(crate) fn refused(&self) -> Vec<ModelCall> {
        self.shared.refused.lock().unwrap().clone()
    }
}

impl Drop for TestHost {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        let _ = UnixStream::connect(self.socket());
        let _ = self.thread.take().unwrap().join();
    }
}

fn serve(stream: &UnixStream, host: &Shared) {
    let mut frames = Frames::new(stream.try_clone().unwrap(), MAX_MODEL_CALL_BYTES);
    let mut last = 0;
    while let Ok(Some(line)) = frames.next_line() {
        let mut out = stream;
        let mut send = |reply: Reply| {
            let mut line = serde_json::to_string(&reply).unwrap();
            line.push('\n');
            out.write_all(line.as_bytes())
        };
        let call = match Call::parse(line) {
            Ok(call) => call,
            Err(error) => {
                let _ = send(Reply::failed(error.id, Failure::new(error.code, error.message)));
                continue;
            }
        };
        assert!(call.id > last, "an id was used twice");
        last = call.id;
        let result = if call.token != "a-session-token" {
            Err(Failure::new(ErrorCode::BadToken, "that is not this session's token"))
        } else if let Action::ModelCall(model) = &call.action {
            call_model(model, host, &mut |part| send(Reply::part(call.id, part)))
        } else if matches!(call.action, Action::ToolPermit(_)) {
            // This host has no permission rules.
            Ok(Value::Null)
        } else if let Action::ToolResult(result) = &call.action
            && let Some(fault) = result.fault
        {
            // The words are the host's.
            Ok(serde_json::json!({ "content": format!("[{fault:?}]") }))
        } else if let Action::ToolResult(result) = &call.action {
            // What this host takes for external.
            let fenced = result.content.contains("EVIL");
            let fenced = fenced.then(|| format!("[{} fenced] {}", result.name, result.content));
            Ok(serde_json::json!({ "content": fenced }))
        } else {
            host.actions.lock().unwrap().push(call.action.clone());
            (host.answer)(&call.action)
        };
        let sent = match result {
            Ok(value) => send(Reply::done(call.id, value)),
            Err(failure) => send(Reply::failed(Some(call.id), failure)),
        };
        if sent.is_err() {
            return;
        }
    }
}

fn call_model(
    call: &ModelCall,
    host: &Shared,
    send: &mut dyn FnMut(StreamPart) -> std::io::Result<()>,
) -> Result<Value, Failure> {
    let provider = match call.path.split('?').next().unwrap() {
        "/v1/messages" => Provider::Anthropic,
        "/v1/chat/completions" => Provider::OpenAi,
        path => return Err(Failure::new(ErrorCode::BadRequest, format!("no such path: {path}"))),
    };
    let facts = RequestFacts::read(provider, call.body.get())
        .map_err(|error| Failure::new(ErrorCode::BadRequest, error.to_string()))?;
    if !facts.system_contains(&host.prompt) {
        host.refused.lock().unwrap().push(call.clone());
        return Err(Failure::new(ErrorCode::Refused, "the call lacks the session's prompt"));
    }
    let gone = |_| Failure::new(ErrorCode::Unavailable, "the model is gone");
    let mut stream = TcpStream::connect(("127.0.0.1", host.model_port)).map_err(gone)?;
    let body = call.body.get();
    let mut head =
        format!("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n", call.path, body.len());
    for (name, value) in &call.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .map_err(gone)?;
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line).map_err(gone)?;
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut content_type = String::new();
    loop {
        let mut line = String::new();
        answer.read_line(&mut line).map_err(gone)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Type: ") {
            content_type = value.trim().to_owned();
        }
    }
    let _ = send(StreamPart::Head { status, content_type });
    let mut pieces = Utf8Pieces::default();
    let mut buffer = [0; 61];
    while let Ok(read @ 1..) = answer.read(&mut buffer) {
        let _ = send(StreamPart::Data(pieces.push(&buffer[..read])));
    }
    let _ = send(StreamPart::Data(pieces.finish()));
    Ok(Value::Null)
}

/// A host that is asked for nothing but the model.
pub(crate) fn only_model(model_port: u16, prompt: &str) -> TestHost {
    TestHost::start(model_port, prompt, |action| {
        Err(Failure::new(ErrorCode::NotFound, format!("nobody expected {}", action.name())))
    })
}
