//! Sending model calls: the credential is added here, and momentary failures are retried. Calls have
//! passed the `call_policy` by then.

use std::io::{self, Read};
use std::thread;
use std::time::{Duration, Instant};

use foreword_guard::redact_with;
use foreword_protocol::{
    ErrorCode, Failure, ModelCall, Provider, ProviderError, StreamPart, Usage,
};
use ureq::Agent;
use ureq::http::Response;

use crate::model::call_policy::CallSize;
use crate::model::stream::forward;
use crate::model::upstream::Upstream;
use crate::turn::agent_tree::AgentTree;

/// Ends the thread that reads an answer which the agent no longer waits for.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(3600);
/// Bytes of each of a connection's two buffers, which a call keeps while it waits; the head of an answer must fit.
const BUFFER_BYTES: usize = 16 << 10;
/// How much of an error page is read.
const MAX_ERROR_BYTES: u64 = 64 << 10;
/// Beta features of Anthropic that are sent on, without their dates. They change how a body is read or
/// an answer is written. Features that fetch, run or cost more are left out.
const FORWARDED_BETAS: [&str; 11] = [
    "claude-code",
    "context-management",
    "effort",
    "extended-cache-ttl",
    "fine-grained-tool-streaming",
    "interleaved-thinking",
    "output-128k",
    "prompt-caching",
    "prompt-caching-scope",
    "structured-outputs",
    "token-efficient-tools",
];
/// The beta feature that a login of Claude Code needs.
const LOGIN_BETA: &str = "oauth-2025-04-20";
/// The wait before the first retry; it doubles each time.
const BACKOFF: Duration = Duration::from_millis(500);
/// The longest wait before a retry, even if the server asks for more.
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// How often cancellation is checked.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Receives the parts of an answer as they arrive.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(StreamPart) -> io::Result<()>;

/// How a model call ended, and what it used, however it ended.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    /// The HTTP status of the answer, unless there was none or it broke off.
    pub(crate) status: Result<u16, Failure>,
    pub(crate) used: AnswerUsage,
    /// Whether the server says that it does not have the model.
    pub(crate) unknown_model: bool,
}

/// What is known of a call while it goes on.
#[derive(Debug, Default)]
struct Progress {
    used: AnswerUsage,
    unknown_model: bool,
}

/// What is known about the cost of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerUsage {
    /// What the server reported so far.
    pub(crate) reported: Usage,
    /// Whether the model began to answer.
    pub(crate) answered: bool,
    pub(crate) bytes: usize,
}

/// Bytes of a stream that make one token, at least: each token comes as an event of its own.
const MIN_BYTES_PER_TOKEN: usize = 32;

impl CallOutcome {
    /// The tokens to count. An agent can hang up before the server reports them, and some servers
    /// never do; then they are estimated.
    pub(crate) fn tokens(&self, size: CallSize) -> Usage {
        let AnswerUsage { reported, answered, bytes } = self.used;
        let has_input = reported.input_tokens + reported.cache_read_tokens > 0
            || reported.cache_write_tokens > 0;
        let is_complete = self.status.is_ok() && has_input && reported.output_tokens > 0;
        // A server that did not answer in time may have read the prompt.
        let was_read = answered
            || self.status.as_ref().is_err_and(|failure| failure.code == ErrorCode::TimedOut);
        if is_complete || !was_read {
            return reported;
        }
        let written = u64::try_from(bytes / MIN_BYTES_PER_TOKEN).unwrap_or(u64::MAX);
        Usage {
            input_tokens: if has_input { reported.input_tokens } else { size.prompt_tokens },
            output_tokens: reported.output_tokens.max(written.min(size.output_tokens)),
            ..reported
        }
    }
}

/// Calls the model, retries momentary failures, and streams the answer to `sink`. `on_retry` learns why
/// a call is repeated, and after which wait.
pub(crate) fn call(
    agent: &Agent,
    upstream: &Upstream,
    call: &ModelCall,
    tree: &AgentTree,
    on_retry: &dyn Fn(&str, Duration),
    sink: Sink<'_>,
) -> CallOutcome {
    let mut progress = Progress::default();
    let status = call_with_retries(agent, upstream, call, tree, on_retry, sink, &mut progress);
    let Progress { used, unknown_model } = progress;
    CallOutcome { status, used, unknown_model }
}

fn call_with_retries(
    agent: &Agent,
    upstream: &Upstream,
    call: &ModelCall,
    tree: &AgentTree,
    on_retry: &dyn Fn(&str, Duration),
    sink: Sink<'_>,
    progress: &mut Progress,
) -> Result<u16, Failure> {
    let mut attempt = 0;
    loop {
        tree.check().map_err(|_| cancelled())?;
        let (failure, retry_after) = match send(agent, upstream, call) {
            Ok(response) if response.status().is_success() => {
                return forward(upstream, response, tree, sink, &mut progress.used);
            }
            Ok(response) => match refused(response, upstream) {
                (error, body, kind) if attempt >= upstream.retries || !error.retryable() => {
                    progress.unknown_model = error.is_unknown_model();
                    // The agent's own client knows how to read the server's error.
                    let status = error.status().unwrap_or(502);
                    let part = StreamPart::Head { status, content_type: kind };
                    sink(part).and_then(|()| sink(StreamPart::Data(body))).map_err(gone)?;
                    return Ok(status);
                }
                (error, ..) => (error.to_string(), error.retry_after()),
            },
            Err(error) if attempt >= upstream.retries || !is_momentary(&error) => {
                return Err(unreachable(upstream, &error));
            }
            Err(error) => (error.to_string(), None),
        };
        tracing::info!("retrying the model call: {failure}");
        let time = backoff(attempt, retry_after);
        on_retry(&failure, time);
        wait(time, tree)?;
        attempt += 1;
    }
}

/// The HTTP client for model servers, which keeps connections open between calls.
pub(crate) fn agent(timeout: Duration) -> Agent {
    Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(timeout))
        .timeout_recv_body(Some(MAX_ANSWER_TIME))
        .http_status_as_error(false)
        .input_buffer_size(BUFFER_BYTES)
        .output_buffer_size(BUFFER_BYTES)
        .max_response_header_size(BUFFER_BYTES)
        // A redirect could send the credential to another server.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into()
}

pub(super) type Answer = Response<ureq::Body>;

pub(super) fn send(
    agent: &Agent,
    upstream: &Upstream,
    call: &ModelCall,
) -> Result<Answer, ureq::Error> {
    // The agent's query is not sent on, except for the one value that is known.
    let query = if call.path.ends_with("?beta=true") { "?beta=true" } else { "" };
    let url = upstream.url(&format!("{}{query}", upstream.provider.path()));
    let mut request = agent.post(url).header("content-type", "application/json");
    if upstream.provider == Provider::Anthropic {
        let version = header(call, "anthropic-version").unwrap_or("2023-06-01");
        request = request.header("anthropic-version", version);
        let mut betas = header(call, "anthropic-beta").map(forwarded_betas).unwrap_or_default();
        if upstream.is_login {
            betas =
                if betas.is_empty() { LOGIN_BETA.into() } else { format!("{LOGIN_BETA},{betas}") };
        }
        if !betas.is_empty() {
            request = request.header("anthropic-beta", betas);
        }
    }
    if let Some(credential) = &upstream.credential {
        request = match upstream.provider {
            Provider::Anthropic if !upstream.is_login => {
                request.header("x-api-key", credential.expose())
            }
            Provider::Anthropic | Provider::OpenAi => {
                request.header("authorization", format!("Bearer {}", credential.expose()))
            }
        };
    }
    request.send(call.body.get())
}

/// A header of the agent's call.
fn header<'c>(call: &'c ModelCall, name: &str) -> Option<&'c str> {
    let (_, value) = call.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name))?;
    Some(value.as_str()).filter(|value| is_plain(value))
}

/// Those of the named beta features that are sent on.
fn forwarded_betas(named: &str) -> String {
    let is_known = |beta: &&str| {
        let name = beta.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit());
        FORWARDED_BETAS.contains(beta) || FORWARDED_BETAS.contains(&name)
    };
    named.split(',').map(str::trim).filter(is_known).collect::<Vec<_>>().join(",")
}

/// Whether a value cannot end its header.
fn is_plain(value: &str) -> bool {
    value.len() <= 1000 && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

pub(super) fn content_type(response: &Answer) -> String {
    let value = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    value.filter(|value| is_plain(value)).unwrap_or("application/json").to_owned()
}

/// A refusal, its body and the type of its body.
pub(super) fn refused(response: Answer, upstream: &Upstream) -> (ProviderError, String, String) {
    let status = response.status().as_u16();
    let kind = content_type(&response);
    let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let after = after.map(str::to_owned);
    let mut body = Vec::new();
    let _ = response.into_body().into_reader().take(MAX_ERROR_BYTES).read_to_end(&mut body);
    let mut body = String::from_utf8_lossy(&body).into_owned();
    // Some servers repeat the API key they refuse.
    if let Some(credential) = &upstream.credential {
        body = redact_with(&body, &[credential.expose()]).text;
    }
    (ProviderError::from_response(status, after.as_deref(), &body), body, kind)
}

/// Whether a retry may succeed: the request did not reach the model.
fn is_momentary(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => !matches!(error.kind(), io::ErrorKind::InvalidInput),
        ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(timeout) => matches!(timeout, ureq::Timeout::Connect),
        _ => false,
    }
}

fn backoff(attempt: u32, retry_after: Option<Duration>) -> Duration {
    let own = BACKOFF.saturating_mul(2_u32.saturating_pow(attempt));
    own.max(retry_after.unwrap_or_default()).min(MAX_BACKOFF)
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
    let server = format!("the model server at {}", upstream.base_url);
    match error {
        ureq::Error::Timeout(ureq::Timeout::RecvResponse) => Failure::new(
            ErrorCode::TimedOut,
            format!(
                "{server} did not answer within {} s (model.timeout_seconds)",
                upstream.timeout.as_secs()
            ),
        ),
        ureq::Error::Timeout(_) => {
            Failure::new(ErrorCode::TimedOut, format!("cannot reach {server}: {error}"))
        }
        // ureq's errors name neither headers nor bodies.
        _ => Failure::new(ErrorCode::Unavailable, format!("cannot reach {server}: {error}")),
    }
}

pub(super) fn cancelled() -> Failure {
    Failure::new(ErrorCode::Refused, "the turn was cancelled")
}

/// The agent closed its connection.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn gone(error: io::Error) -> Failure {
    Failure::new(ErrorCode::Unavailable, format!("the agent closed its connection: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_betas_are_sent_on() {
        let named = "claude-code-20250219, mcp-client-2025-04-04,interleaved-thinking-2025-05-14,\
                     code-execution-2025-08-25,context-1m-2025-08-07,output-128k-2025-02-19";
        assert_eq!(
            forwarded_betas(named),
            "claude-code-20250219,interleaved-thinking-2025-05-14,output-128k-2025-02-19"
        );
        assert_eq!(forwarded_betas("files-api-2025-04-14"), "");
    }

    #[test]
    fn an_answer_that_broke_off_still_counts() {
        let size = CallSize { prompt_tokens: 1000, output_tokens: 100 };
        let usage = |input, output| Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        };
        let gone = || Err(Failure::new(ErrorCode::Unavailable, "gone"));
        let tokens = |status, reported, answered, bytes| {
            let used = AnswerUsage { reported, answered, bytes };
            CallOutcome { status, used, unknown_model: false }.tokens(size)
        };
        assert_eq!(tokens(Ok(200), usage(7, 5), true, 9000), usage(7, 5), "as reported");
        assert_eq!(tokens(Ok(529), usage(0, 0), false, 0), usage(0, 0), "no answer");
        assert_eq!(tokens(gone(), usage(0, 0), false, 0), usage(0, 0), "not sent");
        assert_eq!(tokens(gone(), usage(7, 1), true, 640), usage(7, 20), "the agent hung up");
        assert_eq!(tokens(Ok(200), usage(0, 0), true, 640), usage(1000, 20), "not reported");
        assert_eq!(
            tokens(Ok(200), usage(0, 0), true, 1 << 20),
            usage(1000, 100),
            "at most so many"
        );
        let late = Err(Failure::new(ErrorCode::TimedOut, "late"));
        assert_eq!(tokens(late, usage(0, 0), false, 0), usage(1000, 0));
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
