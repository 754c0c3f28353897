//! The way to the model: the credential is added here, and a call that does not carry the session's
//! prompt goes nowhere.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use foreword_guard::redact_with;
use foreword_protocol::{ErrorCode, Failure, ModelCall, StreamPart};
use foreword_protocol::{Provider, ProviderError, RequestFacts, Usage, UsageReader, Utf8Pieces};
use ureq::Agent;
use ureq::http::Response;

use crate::model::upstream::Upstream;
use crate::turn::agent_tree::AgentTree;

/// No answer is longer.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// No answer takes longer.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(3600);
/// So much of an error page is read.
const MAX_ERROR_BYTES: u64 = 64 << 10;
/// Headers that say how to read a body, and nothing else.
const PASSED_ON: [&str; 3] = ["anthropic-beta", "anthropic-version", "openai-beta"];
/// The first wait before a call is made again; it doubles each time.
const BACKOFF: Duration = Duration::from_millis(500);
/// The longest such wait, also where the server asks for a longer one.
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// How often to look whether the turn was cancelled.
const TICK: Duration = Duration::from_millis(100);

/// Takes the parts of an answer as they come.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(StreamPart) -> io::Result<()>;

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) status: u16,
    pub(crate) usage: Usage,
}

/// Checks that a call is one this session may make: a path of the provider's, and the session's prompt
/// in the system text, byte for byte.
pub(crate) fn check(
    call: &ModelCall,
    provider: Provider,
    prompt: &str,
) -> Result<RequestFacts, Failure> {
    let path = call.path.split('?').next().unwrap_or_default();
    if path != provider.path() {
        return Err(Failure::new(
            ErrorCode::Refused,
            format!(
                "`{}` is not passed on: the model of this session is called at `{}`",
                path.chars().take(100).collect::<String>(),
                provider.path()
            ),
        ));
    }
    let facts = RequestFacts::read(provider, call.body.get())
        .map_err(|error| Failure::new(ErrorCode::BadRequest, error.to_string()))?;
    if !facts.system_contains(prompt) {
        return Err(Failure::new(
            ErrorCode::Refused,
            "the call was not passed on: its system text does not contain the prompt of this session",
        ));
    }
    Ok(facts)
}

/// Calls the model, again where that helps, and hands over what it says.
pub(crate) fn call(
    agent: &Agent,
    upstream: &Upstream,
    call: &ModelCall,
    tree: &AgentTree,
    sink: Sink<'_>,
) -> Result<Called, Failure> {
    let mut attempt = 0;
    loop {
        tree.check().map_err(|_| cancelled())?;
        let (failure, wish) = match send(agent, upstream, call) {
            Ok(response) if response.status().is_success() => {
                return pass_on(upstream, response, tree, sink);
            }
            Ok(response) => match refused(response, upstream) {
                (error, body, kind) if attempt >= upstream.retries || !error.retryable() => {
                    // The agent's own reader knows what to make of the server's words.
                    let status = error.status().unwrap_or(502);
                    let part = StreamPart::Head { status, content_type: kind };
                    sink(part).and_then(|()| sink(StreamPart::Data(body))).map_err(gone)?;
                    return Ok(Called { status, usage: Usage::default() });
                }
                (error, ..) => (error.to_string(), error.retry_after()),
            },
            Err(error) if attempt >= upstream.retries || !is_momentary(&error) => {
                return Err(unreachable(upstream, &error));
            }
            Err(error) => (error.to_string(), None),
        };
        tracing::info!("the model's server: {failure}; trying again");
        wait(backoff(attempt, wish), tree)?;
        attempt += 1;
    }
}

/// What keeps connections to model servers from one call to the next.
pub(crate) fn agent(timeout: Duration) -> Agent {
    Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(timeout))
        // Nobody waits so long; it ends the thread that reads an answer nobody listens to.
        .timeout_recv_body(Some(MAX_ANSWER_TIME))
        .http_status_as_error(false)
        // A redirect could carry the credential elsewhere.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into()
}

type Answer = Response<ureq::Body>;

fn send(agent: &Agent, upstream: &Upstream, call: &ModelCall) -> Result<Answer, ureq::Error> {
    // What the agent may add to the address is not known here, so only what is known goes out.
    let query = if call.path.ends_with("?beta=true") { "?beta=true" } else { "" };
    let url = upstream.url(&format!("{}{query}", upstream.provider.path()));
    let mut request = agent.post(url).header("content-type", "application/json");
    let mut headers: BTreeMap<&str, &str> = BTreeMap::new();
    if upstream.provider == Provider::Anthropic {
        headers.insert("anthropic-version", "2023-06-01");
    }
    for name in PASSED_ON {
        let given = call.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        if let Some((_, value)) = given.filter(|(_, value)| is_plain(value)) {
            headers.insert(name, value);
        }
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if let Some(credential) = &upstream.credential {
        request = match upstream.provider {
            Provider::Anthropic => request.header("x-api-key", credential.expose()),
            Provider::OpenAi => {
                request.header("authorization", format!("Bearer {}", credential.expose()))
            }
        };
    }
    request.send(call.body.get())
}

/// Nothing that could end a header.
fn is_plain(value: &str) -> bool {
    value.len() <= 1000 && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Hands over an answer piece by piece. Reading happens on a thread of its own, so that a server that
/// falls silent in the middle is noticed.
fn pass_on(
    upstream: &Upstream,
    response: Answer,
    tree: &AgentTree,
    sink: Sink<'_>,
) -> Result<Called, Failure> {
    let status = response.status().as_u16();
    sink(StreamPart::Head { status, content_type: content_type(&response) }).map_err(gone)?;
    let (sender, pieces) = mpsc::sync_channel::<io::Result<Vec<u8>>>(16);
    let mut reader = response.into_body().into_reader();
    let spawned = thread::Builder::new().name("foreword-model".to_owned()).spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        loop {
            let piece = match reader.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => Ok(buffer.get(..read).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = piece.is_err();
            // Whoever no longer listens needs no more.
            if sender.send(piece).is_err() || failed {
                return;
            }
        }
    });
    spawned.map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?;
    let mut usage = UsageReader::new(upstream.provider);
    let mut text = Utf8Pieces::default();
    let mut total = 0_usize;
    let mut heard = Instant::now();
    loop {
        match pieces.recv_timeout(TICK) {
            Ok(Ok(piece)) => {
                heard = Instant::now();
                total = total.saturating_add(piece.len());
                if total > MAX_ANSWER_BYTES {
                    return Err(broken(&format!("it is longer than {MAX_ANSWER_BYTES} bytes")));
                }
                usage.push(&piece);
                let piece = text.push(&piece);
                if !piece.is_empty() {
                    sink(StreamPart::Data(piece)).map_err(gone)?;
                }
            }
            Ok(Err(error)) => return Err(broken(&error.to_string())),
            Err(RecvTimeoutError::Timeout) => {
                tree.check().map_err(|_| cancelled())?;
                if heard.elapsed() > upstream.timeout {
                    let seconds = upstream.timeout.as_secs();
                    return Err(Failure::new(
                        ErrorCode::TimedOut,
                        format!(
                            "the model's server fell silent for {seconds} seconds in the middle of its answer"
                        ),
                    ));
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let rest = text.finish();
    if !rest.is_empty() {
        sink(StreamPart::Data(rest)).map_err(gone)?;
    }
    Ok(Called { status, usage: usage.finish() })
}

fn content_type(response: &Answer) -> String {
    let value = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    value.filter(|value| is_plain(value)).unwrap_or("application/json").to_owned()
}

/// A refusal: what it means, its body, and the type of that.
fn refused(response: Answer, upstream: &Upstream) -> (ProviderError, String, String) {
    let status = response.status().as_u16();
    let kind = content_type(&response);
    let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let after = after.map(str::to_owned);
    let mut body = Vec::new();
    let _ = response.into_body().into_reader().take(MAX_ERROR_BYTES).read_to_end(&mut body);
    let mut body = String::from_utf8_lossy(&body).into_owned();
    // Some servers repeat the key they do not like; nobody else is to see it.
    if let Some(credential) = &upstream.credential {
        body = redact_with(&body, &[credential.expose()]).text;
    }
    (ProviderError::from_response(status, after.as_deref(), &body), body, kind)
}

/// Might the same call succeed in a moment? The request did not reach the model then.
fn is_momentary(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => !matches!(error.kind(), io::ErrorKind::InvalidInput),
        ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(timeout) => matches!(timeout, ureq::Timeout::Connect),
        _ => false,
    }
}

fn backoff(attempt: u32, wish: Option<Duration>) -> Duration {
    let own = BACKOFF.saturating_mul(2_u32.saturating_pow(attempt));
    own.max(wish.unwrap_or_default()).min(MAX_BACKOFF)
}

fn wait(time: Duration, tree: &AgentTree) -> Result<(), Failure> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        tree.check().map_err(|_| cancelled())?;
        thread::sleep(TICK.min(end.saturating_duration_since(Instant::now())));
    }
    Ok(())
}

fn unreachable(upstream: &Upstream, error: &ureq::Error) -> Failure {
    let server = format!("the model's server at {}", upstream.base_url);
    match error {
        ureq::Error::Timeout(ureq::Timeout::RecvResponse) => Failure::new(
            ErrorCode::TimedOut,
            format!(
                "{server} did not answer within {} seconds (model.timeout_seconds)",
                upstream.timeout.as_secs()
            ),
        ),
        ureq::Error::Timeout(_) => {
            Failure::new(ErrorCode::TimedOut, format!("{server} cannot be reached: {error}"))
        }
        // ureq's errors name neither headers nor bodies.
        _ => Failure::new(ErrorCode::Unavailable, format!("{server} cannot be reached: {error}")),
    }
}

fn broken(reason: &str) -> Failure {
    Failure::new(ErrorCode::Unavailable, format!("the model's answer broke off: {reason}"))
}

fn cancelled() -> Failure {
    Failure::new(ErrorCode::Refused, "the turn was cancelled")
}

/// The agent hung up.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn gone(error: io::Error) -> Failure {
    Failure::new(ErrorCode::Unavailable, format!("the agent no longer listens: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_call(path: &str, body: &str) -> ModelCall {
        let body = serde_json::value::RawValue::from_string(body.to_owned()).unwrap();
        ModelCall { path: path.to_owned(), headers: BTreeMap::new(), body }
    }

    #[test]
    fn only_a_call_with_the_prompt_passes() {
        let prompt = "Be good.\n\nNever lie.";
        let check = |path: &str, body: serde_json::Value| {
            check(&model_call(path, &body.to_string()), Provider::Anthropic, prompt)
                .map_err(|failure| failure.code)
                .map(drop)
        };
        let messages = serde_json::json!([]);
        let system =
            |system: serde_json::Value| serde_json::json!({"system": system, "messages": messages});
        assert_eq!(check("/v1/messages?beta=true", system(prompt.into())), Ok(()));
        let blocks = serde_json::json!([{"type": "text", "text": "Be good.\n\n"}, {"type": "text", "text": "Never lie."}]);
        assert_eq!(check("/v1/messages", system(blocks)), Ok(()));
        let refused = Err(ErrorCode::Refused);
        assert_eq!(check("/v1/messages", system("Be good.\n\nNever  lie.".into())), refused);
        assert_eq!(check("/v1/messages", serde_json::json!({"messages": []})), refused);
        assert_eq!(check("/v1/files", system(prompt.into())), refused);
        assert_eq!(check("/v1/messages/../files", system(prompt.into())), refused);
        let twice = format!(
            r#"{{"system":"{0}","system":"evil","messages":[]}}"#,
            "Be good.\\n\\nNever lie."
        );
        let call = model_call("/v1/messages", &twice);
        let error = super::check(&call, Provider::Anthropic, prompt).unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest);
    }

    #[test]
    fn waits_grow_and_end() {
        let waits: Vec<u64> = (0..10).map(|n| backoff(n, None).as_millis() as u64).collect();
        assert_eq!(waits.get(..4), Some(&[500, 1000, 2000, 4000][..]));
        assert_eq!(waits.last(), Some(&30_000));
        assert_eq!(backoff(0, Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(backoff(0, Some(Duration::from_secs(7000))), MAX_BACKOFF);
    }
}
