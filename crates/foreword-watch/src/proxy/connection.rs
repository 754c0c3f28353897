//! One connection of a client: its requests, one after another, and the answers to them.

use std::borrow::Cow;
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime};

use super::client::{Client, NoRequest};
use super::framing::Framing;
use super::head::{self, HeadError, MAX_HEAD_BYTES, RequestHead, ResponseHead};
use super::route::{self, Route};
use super::upstream::{Event, Upstream};
use super::{Exchange, RecordedBody, Shared, refusal};

/// Serves a connection until it ends.
pub(super) fn serve(stream: TcpStream, shared: &Shared) {
    let is_admitted = shared.callers.admit(&stream);
    let Ok(mut client) = Client::new(stream) else { return };
    let mut kept = None;
    while !shared.is_stopped() {
        let head = match client.next() {
            Ok(head) => head,
            Err(NoRequest::Ended) => return,
            Err(NoRequest::Bad(error)) => {
                let status = if error == HeadError::TooLarge { 431 } else { 400 };
                return refuse(&mut client, status, &error.to_string());
            }
        };
        if !is_admitted {
            return refuse(
                &mut client,
                403,
                "this proxy serves only programs of the user who runs it",
            );
        }
        let (route, target) = match admit(&head, shared) {
            Ok(found) => found,
            Err((status, message)) => return refuse(&mut client, status, message),
        };
        let _underway = shared.begin_exchange();
        match exchange(&mut client, &head, route, &target, &mut kept, shared) {
            After::KeepAlive => {}
            After::Close => return client.close(),
            After::Abort => return client.abort(),
        }
    }
}

fn refuse(client: &mut Client, status: u16, message: &str) {
    if client.write(&refusal::answer(status, message)).is_ok() {
        client.close();
    }
}

/// The upstream of a request, or why it is refused. Browsers send `Origin` with what a page asks for, and
/// a page can make its own name resolve to this machine but cannot change `Host`.
fn admit<'s, 'h>(
    head: &'h RequestHead,
    shared: &'s Shared,
) -> Result<(&'s Route, Cow<'h, str>), (u16, &'static str)> {
    if head.method == "CONNECT" {
        return Err((405, "CONNECT is not supported; set the base URL instead of a proxy"));
    }
    if !head.target.starts_with('/') {
        return Err((400, "absolute URIs are not supported; set the base URL instead of a proxy"));
    }
    if head.header("origin").is_some() {
        return Err((403, "requests from web pages are not served"));
    }
    let host = head.header("host");
    let is_own = host.is_some_and(|host| {
        [format!("127.0.0.1:{}", shared.port), format!("localhost:{}", shared.port)]
            .iter()
            .any(|own| own.as_bytes().eq_ignore_ascii_case(host))
    });
    if head.count("host") > 1 || !(is_own || (host.is_none() && head.is_old)) {
        return Err((403, "the Host header must name this proxy"));
    }
    let target = shared.callers.strip(&head.target);
    let target = target.ok_or((403, "the path lacks the token of this proxy"))?;
    route::find(&shared.routes, target)
        .ok_or((404, "no upstream for this path; use one of the printed base URLs"))
}

/// What happens to the client's connection after an exchange.
enum After {
    KeepAlive,
    Close,
    /// The answer is incomplete, and the client must notice.
    Abort,
}

/// An exchange in progress.
struct Record {
    exchange: Exchange,
    began: Instant,
}

impl Record {
    fn finish(mut self, shared: &Shared, problem: Option<String>) {
        self.exchange.total = self.began.elapsed();
        self.exchange.problem = problem;
        shared.sink.record(self.exchange);
    }
}

fn exchange(
    client: &mut Client,
    head: &RequestHead,
    route: &Route,
    target: &str,
    kept: &mut Option<Upstream>,
    shared: &Shared,
) -> After {
    let framing = match head.framing() {
        Ok(framing) => framing,
        Err(error) => {
            let _ = client.write(&refusal::answer(400, &error.to_string()));
            return After::Close;
        }
    };
    let mut record = Record {
        began: Instant::now(),
        exchange: Exchange {
            at: SystemTime::now(),
            route: route.name().to_owned(),
            method: head.method.clone(),
            target: target.to_owned(),
            request_headers: head.headers.clone(),
            request: RecordedBody::in_shared(&shared.held),
            status: 0,
            response_headers: Vec::new(),
            response: RecordedBody::in_shared(&shared.held),
            first_byte: Duration::ZERO,
            total: Duration::ZERO,
            problem: None,
        },
    };
    let out = head.for_upstream(target, &route.authority());
    let reused = kept.take().filter(|kept| kept.is_for(route) && kept.is_idle());
    let sent = match reused {
        Some(upstream) => Ok(upstream),
        None => Upstream::connect(route, &shared.tls),
    };
    let mut upstream = match sent {
        Ok(upstream) => upstream,
        Err(error) => {
            let message = format!("cannot reach {}: {error}", route.origin());
            let answer = refusal::answer(502, &message);
            record.exchange.status = 502;
            record.finish(shared, Some(message));
            let _ = client.write(&answer);
            return After::Close;
        }
    };
    if head.expects_continue() && client.write(b"HTTP/1.1 100 Continue\r\n\r\n").is_err() {
        record.finish(shared, Some("the client disconnected".to_owned()));
        return After::Abort;
    }
    let upload = send(client, &mut upstream, &out, framing, &mut record.exchange.request);
    if upload == Upload::ClientFailed {
        record.finish(shared, Some("the client disconnected while it sent the request".to_owned()));
        return After::Abort;
    }
    let mut upload_cut = upload == Upload::UpstreamFailed;
    let mut answer = receive_head(client, &mut upstream, shared, &mut record, head.is_old);
    if matches!(answer, Err(NoAnswer::Closed))
        && upstream.is_used
        && !record.exchange.request.is_cut()
    {
        // The upstream closed a kept connection just when it was used again. It has read nothing, so
        // the request is sent once more, with the copy of its body.
        if let Ok(mut fresh) = Upstream::connect(route, &shared.tls) {
            upload_cut = resend(&mut fresh, &out, head, &record.exchange.request.bytes).is_err();
            answer = receive_head(client, &mut fresh, shared, &mut record, head.is_old);
            upstream = fresh;
        }
    }
    let answer_head = match answer {
        Ok(answer_head) => answer_head,
        Err(failure) => return failed(client, failure, route, record, shared),
    };
    record.exchange.status = answer_head.status;
    record.exchange.response_headers.clone_from(&answer_head.headers);
    let client_stays = head.keeps_alive() && !upload_cut;
    pass_answer(client, upstream, &answer_head, head, client_stays, kept, record, shared)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Upload {
    Sent,
    ClientFailed,
    /// The upstream takes no more; it may have answered already.
    UpstreamFailed,
}

/// Sends a request as it arrives.
fn send(
    client: &mut Client,
    upstream: &mut Upstream,
    head: &[u8],
    mut framing: Framing,
    copy: &mut RecordedBody,
) -> Upload {
    let mut buffer = Vec::new();
    // The head and what is here of the body go out together.
    let mut out = head.to_vec();
    let mut upstream_failed = false;
    loop {
        if framing.is_done() {
            if !out.is_empty() && upstream.write(&out).is_err() {
                upstream_failed = true;
            }
            return if upstream_failed { Upload::UpstreamFailed } else { Upload::Sent };
        }
        if !client.has_more() && !out.is_empty() {
            if upstream.write(&out).is_err() {
                return Upload::UpstreamFailed;
            }
            out.clear();
        }
        if client.read(&mut buffer).is_err() || buffer.is_empty() {
            return Upload::ClientFailed;
        }
        let Ok(count) = framing.take(&buffer, &mut |piece| copy.push(piece)) else {
            return Upload::ClientFailed;
        };
        let (own, next) = buffer.split_at_checked(count).unwrap_or((&buffer, &[]));
        client.unread(next);
        out.extend_from_slice(own);
        if out.len() > 256 << 10 || framing.is_done() {
            upstream_failed = upstream.write(&out).is_err();
            out.clear();
            if upstream_failed && !framing.is_done() {
                return Upload::UpstreamFailed;
            }
        }
    }
}

/// Sends a request whose body is known, with the framing it came in.
fn resend(
    upstream: &mut Upstream,
    out: &[u8],
    head: &RequestHead,
    body: &[u8],
) -> std::io::Result<()> {
    let mut all = out.to_vec();
    if matches!(head.framing(), Ok(Framing::Chunked(_))) {
        if !body.is_empty() {
            all.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
            all.extend_from_slice(body);
            all.extend_from_slice(b"\r\n");
        }
        all.extend_from_slice(b"0\r\n\r\n");
    } else {
        all.extend_from_slice(body);
    }
    upstream.write(&all)
}

/// Why an upstream gave no answer.
#[derive(Debug)]
enum NoAnswer {
    ClientGone,
    TimedOut,
    /// It closed the connection without a byte.
    Closed,
    Failed(String),
}

/// Reads the head of the answer. Interim answers are passed on.
fn receive_head(
    client: &mut Client,
    upstream: &mut Upstream,
    shared: &Shared,
    record: &mut Record,
    client_is_old: bool,
) -> Result<ResponseHead, NoAnswer> {
    let mut raw: Vec<u8> = Vec::new();
    let mut buffer = Vec::new();
    let deadline = Instant::now() + shared.silence;
    loop {
        if let Some(end) = head::end(&raw) {
            let next = raw.split_off(end);
            upstream.unread(&next);
            let answer = ResponseHead::parse(std::mem::take(&mut raw))
                .map_err(|error| NoAnswer::Failed(error.to_string()))?;
            if matches!(answer.status, 100 | 102..=199) {
                if !client_is_old && client.write(&answer.raw).is_err() {
                    return Err(NoAnswer::ClientGone);
                }
                continue;
            }
            return Ok(answer);
        }
        if raw.len() > MAX_HEAD_BYTES {
            return Err(NoAnswer::Failed(HeadError::TooLarge.to_string()));
        }
        let watched = (!client.has_more()).then_some(&client.stream);
        match upstream.wait(watched, deadline) {
            Event::Readable => {}
            Event::ClientGone => return Err(NoAnswer::ClientGone),
            Event::TimedOut => return Err(NoAnswer::TimedOut),
        }
        match upstream.read(&mut buffer) {
            Ok([]) if raw.is_empty() => return Err(NoAnswer::Closed),
            Ok([]) => return Err(NoAnswer::Failed("the connection closed".to_owned())),
            Ok(bytes) => {
                if record.exchange.first_byte.is_zero() {
                    record.exchange.first_byte = record.began.elapsed();
                }
                raw.extend_from_slice(bytes);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) if raw.is_empty() && upstream.is_used => return Err(NoAnswer::Closed),
            Err(error) => return Err(NoAnswer::Failed(error.to_string())),
        }
    }
}

fn failed(
    client: &mut Client,
    failure: NoAnswer,
    route: &Route,
    mut record: Record,
    shared: &Shared,
) -> After {
    let (status, message) = match failure {
        NoAnswer::ClientGone => {
            record.finish(shared, Some("the client disconnected before the answer".to_owned()));
            return After::Abort;
        }
        NoAnswer::TimedOut => {
            (504, format!("{} did not answer in {} s", route.origin(), shared.silence.as_secs()))
        }
        NoAnswer::Closed => {
            (502, format!("{} closed the connection without an answer", route.origin()))
        }
        NoAnswer::Failed(reason) => {
            (502, format!("no valid answer from {}: {reason}", route.origin()))
        }
    };
    record.exchange.status = status;
    let answer = refusal::answer(status, &message);
    record.finish(shared, Some(message));
    let _ = client.write(&answer);
    After::Close
}

/// Passes the answer on, byte for byte, as it arrives.
#[expect(clippy::too_many_arguments, reason = "the two sides, their heads and the record")]
fn pass_answer(
    client: &mut Client,
    mut upstream: Upstream,
    answer: &ResponseHead,
    head: &RequestHead,
    client_stays: bool,
    kept: &mut Option<Upstream>,
    record: Record,
    shared: &Shared,
) -> After {
    let mut framing = match answer.framing(&head.method) {
        Ok(framing) => framing,
        Err(error) => {
            return failed_framing(client, &error, record, shared);
        }
    };
    // Clients of HTTP/1.0 do not know chunks.
    let unchunk = head.is_old && matches!(framing, Framing::Chunked(_));
    let until_close = matches!(framing, Framing::UntilClose);
    let client_stays = client_stays
        && !unchunk
        && !until_close
        && answer.keeps_alive()
        && answer.status != 101
        && !shared.is_stopped();
    let first =
        if client_stays && !head.is_old { answer.raw.clone() } else { answer.closing(unchunk) };
    let mut problem = client.write(&first).is_err().then(|| CLIENT_LEFT.to_owned());
    let (mut buffer, mut content) = (Vec::new(), Vec::new());
    let mut is_whole = framing.is_done();
    let mut record = Some(record);
    while problem.is_none() && !is_whole {
        let watched = (!client.has_more()).then_some(&client.stream);
        match upstream.wait(watched, Instant::now() + shared.silence) {
            Event::Readable => {}
            Event::ClientGone => {
                problem = Some(CLIENT_LEFT.to_owned());
                break;
            }
            Event::TimedOut => {
                problem =
                    Some(format!("the upstream was silent for {} s", shared.silence.as_secs()));
                break;
            }
        }
        let bytes = match upstream.read(&mut buffer) {
            Ok([]) if until_close => {
                is_whole = true;
                break;
            }
            Ok([]) => {
                problem =
                    Some("the upstream closed the connection in the middle of its answer".into());
                break;
            }
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // Many servers end an answer without the goodbye of TLS.
            Err(error) if until_close && error.kind() == std::io::ErrorKind::UnexpectedEof => {
                is_whole = true;
                break;
            }
            Err(error) => {
                problem = Some(format!("the answer broke off: {error}"));
                break;
            }
        };
        content.clear();
        let taken = framing.take(bytes, &mut |piece| content.extend_from_slice(piece));
        let Ok(count) = taken else {
            // Whatever the client makes of it, it is what the upstream sent.
            let _ = client.write(bytes);
            problem = Some("the upstream sent a malformed chunk".to_owned());
            break;
        };
        let (own, next) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
        if let Some(record) = &mut record {
            record.exchange.response.push(&content);
        }
        is_whole = framing.is_done();
        // With the last byte the client may send its next request, on another connection. Calls are recorded in
        // their order only if this one is recorded before.
        if let Some(record) = record.take_if(|_| is_whole) {
            record.finish(shared, None);
        }
        if client.write(if unchunk { &content } else { own }).is_err() {
            problem = Some(CLIENT_LEFT.to_owned());
        }
        if is_whole && !next.is_empty() {
            let next = next.to_vec();
            upstream.unread(&next);
        }
    }
    let complete = is_whole && problem.is_none();
    if let Some(record) = record {
        record.finish(shared, problem);
    }
    match (complete, client_stays) {
        (false, _) => After::Abort,
        (true, false) => After::Close,
        (true, true) => {
            upstream.is_used = true;
            *kept = Some(upstream);
            After::KeepAlive
        }
    }
}

const CLIENT_LEFT: &str = "the client disconnected in the middle of the answer";

fn failed_framing(
    client: &mut Client,
    error: &HeadError,
    mut record: Record,
    shared: &Shared,
) -> After {
    record.exchange.status = 502;
    let message = format!("no valid answer from the upstream: {error}");
    let answer = refusal::answer(502, &message);
    record.finish(shared, Some(message));
    let _ = client.write(&answer);
    After::Close
}
