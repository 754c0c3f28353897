//! What is asked on a connection, and what is answered.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use foreword_protocol::Provider;
use foreword_protocol::{Action, Client, ClientError, ErrorCode, Failure, ModelCall, StreamPart};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Settings;
use super::answers::{
    begin_chunks, chunk, empty, end_chunks, error, error_event, status_of, whole,
};
use super::caller::Caller;
use super::http::{HttpError, Request, Requests};
use super::results::Results;

/// How long a program may take to read a piece of an answer.
const WRITE_TIME: Duration = Duration::from_secs(60);
/// Headers that tell the model's server how to read a body.
const PASSED_ON: [&str; 2] = ["anthropic-beta", "anthropic-version"];

/// A connection too many.
pub(super) fn refuse_connection(mut stream: TcpStream) {
    let _ = stream.set_write_timeout(Some(Duration::from_secs(1)));
    let message = "too many connections at once";
    let _ = whole(&mut stream, 503, &error(Provider::Anthropic, 503, message), false);
    let _ = stream.shutdown(Shutdown::Write);
}

/// Serves one connection until it ends. It has one connection to the host, made when it is needed.
pub(super) fn connection(
    stream: TcpStream,
    settings: &Settings,
    caller: &Caller,
    results: &Results,
) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(WRITE_TIME));
    let Ok(mut out) = stream.try_clone() else { return };
    let mut requests = Requests::new(stream);
    let mut peer = Peer { settings, caller, results, is_program: None, client: None };
    loop {
        let mut request = match requests.next() {
            Ok(request) => request,
            Err(fault) => {
                if let Some(status) = fault.status() {
                    refuse(&mut out, status, &fault);
                }
                break;
            }
        };
        if answer(&mut request, &mut peer, &mut out).is_err() || !request.keep_alive {
            break;
        }
    }
    let _ = out.shutdown(Shutdown::Both);
}

/// The other end of a connection.
struct Peer<'s> {
    settings: &'s Settings,
    caller: &'s Caller,
    results: &'s Results,
    /// Whether it is the program that the agent started, once it has shown a key.
    is_program: Option<bool>,
    client: Option<Client>,
}

impl Peer<'_> {
    /// Whether it may call the model: it shows the key and is the program.
    fn may_call_model(&mut self, request: &Request, stream: &TcpStream) -> bool {
        shows_key(request, &self.settings.key) && self.is_program(stream)
    }

    /// Whether it may call tools of the host: it shows the extension's token and is the program.
    fn may_call_tools(&mut self, request: &Request, stream: &TcpStream) -> bool {
        let shown = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let token = self.settings.call_token.as_deref().zip(shown);
        token.is_some_and(|(token, shown)| same(token, shown)) && self.is_program(stream)
    }

    fn is_program(&mut self, stream: &TcpStream) -> bool {
        *self.is_program.get_or_insert_with(|| self.caller.is_program(stream))
    }
}

/// Says what is wrong, and reads on for a moment: a program that is still sending would lose the
/// answer otherwise.
fn refuse(out: &mut TcpStream, status: u16, fault: &HttpError) {
    let body = error(Provider::Anthropic, status, &fault.to_string());
    if whole(out, status, &body, false).is_ok() && out.shutdown(Shutdown::Write).is_ok() {
        let _ = out.set_read_timeout(Some(Duration::from_millis(200)));
        let mut rest = [0; 16 << 10];
        for _ in 0..64 {
            if !matches!(io::Read::read(out, &mut rest), Ok(1..)) {
                break;
            }
        }
    }
}

fn answer(request: &mut Request, peer: &mut Peer<'_>, out: &mut TcpStream) -> io::Result<()> {
    let settings = peer.settings;
    let provider = match request.path.as_str() {
        "/v1/chat/completions" | "/chat/completions" => Provider::OpenAi,
        _ => Provider::Anthropic,
    };
    let no = |status: u16, message: &str| (status, error(provider, status, message));
    let path = request.path.as_str();
    let (status, body) = match (request.method.as_str(), path) {
        ("HEAD", "/") => return empty(out, 200),
        ("HEAD", _) => return empty(out, 404),
        ("GET", "/v1/models" | "/models") => {
            let model = json!({"id": settings.model, "type": "model", "object": "model", "display_name": settings.model});
            (200, json!({"object": "list", "data": [model], "has_more": false}))
        }
        ("POST", "/foreword/call") => {
            let allowed = peer.may_call_tools(request, out);
            call_tool(request, settings, allowed, &mut peer.client)
        }
        ("POST", "/foreword/permit") => {
            let allowed = peer.may_call_tools(request, out);
            permit_tool(request, settings, allowed, &mut peer.client)
        }
        ("POST", _) if !peer.may_call_model(request, out) => {
            no(401, "only the program that the agent started may call the model")
        }
        ("POST", "/v1/messages/count_tokens" | "/messages/count_tokens") => {
            match std::str::from_utf8(&request.body) {
                Ok(body) => (200, json!({"input_tokens": foreword::estimate(body)})),
                Err(_) => no(400, "the body is not UTF-8"),
            }
        }
        ("POST", "/v1/messages" | "/messages" | "/v1/chat/completions" | "/chat/completions") => {
            return call_model(request, provider, peer, out);
        }
        _ => no(404, "unknown path"),
    };
    whole(out, status, &body, request.keep_alive)
}

/// Keys are compared in a time that does not depend on where they differ.
fn shows_key(request: &Request, key: &str) -> bool {
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    [request.header("x-api-key"), bearer].into_iter().flatten().any(|shown| same(shown, key))
}

fn same(one: &str, other: &str) -> bool {
    let differences =
        one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

/// Calls the model through the host, and passes on the answer as it comes.
fn call_model(
    request: &mut Request,
    provider: Provider,
    peer: &mut Peer<'_>,
    out: &mut TcpStream,
) -> io::Result<()> {
    let Peer { settings, results, client, .. } = peer;
    // The only thing that a program adds to the address.
    let query = if request.query == "beta=true" { "?beta=true" } else { "" };
    let path = format!("{}{query}", provider.path());
    // Taken, not copied: a conversation can be large.
    let Ok(body) = String::from_utf8(std::mem::take(&mut request.body)) else {
        let message = "the body cannot be read: it is not UTF-8";
        return whole(out, 400, &error(provider, 400, message), request.keep_alive);
    };
    let body = match results.fenced(&body, &settings.host, client) {
        Ok(fenced) => fenced.unwrap_or(body),
        Err(fault) => {
            let failure = fault.into_failure();
            let status = status_of(&failure);
            return whole(
                out,
                status,
                &error(provider, status, &failure.message),
                request.keep_alive,
            );
        }
    };
    let call = match ModelCall::new(path, body) {
        Ok(mut call) => {
            let headers = PASSED_ON.iter().filter_map(|name| Some((*name, request.header(name)?)));
            call.headers =
                headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            call
        }
        Err(fault) => {
            let message = format!("the body cannot be read: {fault}");
            return whole(out, 400, &error(provider, 400, &message), request.keep_alive);
        }
    };
    let mut passed = Passed { out, begun: false, is_stream: false };
    let called = match client.take().map_or_else(|| settings.host.connect(), Ok) {
        Ok(mut connected) => {
            let called =
                connected.call_streaming(Action::ModelCall(call), &mut |part| passed.part(part));
            if matches!(called, Ok(_) | Err(ClientError::Failed(_))) {
                *client = Some(connected);
            }
            called
        }
        Err(fault) => Err(fault),
    };
    let Passed { out, begun, is_stream } = passed;
    match called {
        Ok(_) if begun => end_chunks(out),
        Ok(_) => {
            let message = "the host returned no answer from the model";
            whole(out, 400, &error(provider, 400, message), request.keep_alive)
        }
        Err(fault) if begun => {
            if is_stream {
                let message = fault.into_failure().message;
                chunk(out, &error_event(provider, &message))?;
                return end_chunks(out);
            }
            // Without its last chunk the program sees that the answer is not whole.
            Err(io::Error::other(fault.to_string()))
        }
        Err(fault) => {
            let failure = fault.into_failure();
            let status = status_of(&failure);
            whole(out, status, &error(provider, status, &failure.message), request.keep_alive)
        }
    }
}

/// An answer of the model on its way to the program.
struct Passed<'a> {
    out: &'a mut TcpStream,
    begun: bool,
    is_stream: bool,
}

impl Passed<'_> {
    fn part(&mut self, part: StreamPart) -> io::Result<()> {
        match part {
            StreamPart::Head { status, content_type } if !self.begun => {
                self.begun = true;
                self.is_stream = content_type.starts_with("text/event-stream");
                begin_chunks(self.out, status, &content_type)
            }
            StreamPart::Head { .. } => Ok(()),
            StreamPart::Data(data) => {
                if !self.begun {
                    self.part(StreamPart::Head {
                        status: 200,
                        content_type: "application/json".to_owned(),
                    })?;
                }
                chunk(self.out, &data)
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    name: String,
    input: Value,
}

/// Calls a tool of the host, for the extension of `pi`.
fn call_tool(
    request: &Request,
    settings: &Settings,
    allowed: bool,
    client: &mut Option<Client>,
) -> (u16, Value) {
    let called = read_call(request, allowed)
        .and_then(|call| settings.host.call(client, &call.name, &call.input));
    match called {
        Ok(content) => (200, json!({"content": content})),
        Err(failure) => failed(&failure),
    }
}

/// Asks the host about a call of one of `pi`'s own tools.
fn permit_tool(
    request: &Request,
    settings: &Settings,
    allowed: bool,
    client: &mut Option<Client>,
) -> (u16, Value) {
    let permitted = read_call(request, allowed)
        .and_then(|call| settings.host.permit(client, &call.name, &call.input));
    match permitted {
        Ok(()) => (200, json!({})),
        Err(failure) => failed(&failure),
    }
}

fn read_call(request: &Request, allowed: bool) -> Result<ToolCall, Failure> {
    if !allowed {
        let message = "only the extension of the program that the agent started may call tools";
        return Err(Failure::new(ErrorCode::BadToken, message));
    }
    serde_json::from_slice(&request.body).map_err(|fault| {
        let message = format!("the body is not a call of a tool: {fault}");
        Failure::new(ErrorCode::BadRequest, message)
    })
}

fn failed(failure: &Failure) -> (u16, Value) {
    let status = match failure.code {
        ErrorCode::BadToken => 401,
        _ => status_of(failure),
    };
    (status, json!({"error": {"code": failure.code.as_str(), "message": failure.message}}))
}
