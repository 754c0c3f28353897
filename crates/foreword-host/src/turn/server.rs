//! The session's socket, on which an agent calls the host's actions.
//!
//! One thread accepts connections, up to `MAX_CONNECTIONS`; each connection has a thread of its own.
//! A call takes these steps:
//!
//! 1. [`Frames`] reads one line, with limits on its size and on the time it takes. Until a connection
//!    has made a valid call, a line longer than `MAX_STRANGER_BYTES` is read only if the session's
//!    token is at its beginning. All connections of a host share `MAX_LINES_BYTES` for long lines.
//! 2. [`ActiveSession::admit`] counts it against the session's rate limit, valid or not.
//! 3. [`read`] parses it and checks its token, its id and its size.
//! 4. [`perform`] checks the action, carries it out and records it. A model's answer is sent in parts
//!    as it arrives.
//! 5. The reply goes back as one line with the id of the call.
//!
//! A rejected line gets a failure as its reply and an `ipc.rejected` audit entry. A wrong token, or
//! `MAX_FAULTS` rejected lines in a row, closes the connection. Dropping the [`Server`] closes the
//! socket and gives running calls `SHUTDOWN_TIMEOUT` to return.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use foreword_protocol::{
    Action, Call, ErrorCode, Failure, FrameError, Frames, MAX_CALL_BYTES, MAX_MODEL_CALL_BYTES,
    Reply, Waiting,
};
use foreword_store::Outcome;
use serde_json::json;

use crate::actions::perform;
use crate::error::HostError;
use crate::turn::active_session::ActiveSession;

/// Connections a session may have open at once.
const MAX_CONNECTIONS: usize = 32;
/// How much of a line is read before the session's token must have been seen.
const MAX_STRANGER_BYTES: usize = 4 << 10;
/// Time in which a new connection must make its first call.
const FIRST_CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// Memory for long lines of all connections together.
pub(crate) const MAX_LINES_BYTES: usize = 128 << 20;
/// Time for sending a whole line once it has begun, and for accepting a reply.
const LINE_TIMEOUT: Duration = Duration::from_secs(10);
/// Rejected lines in a row after which the connection is closed.
const MAX_FAULTS: u32 = 200;
/// Delay before the reply to a call that exceeds the rate limit.
const RATE_LIMIT_DELAY: Duration = Duration::from_millis(5);
/// Time that running calls have to return when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// The socket of a session, open until dropped.
pub(crate) struct Server {
    socket: PathBuf,
    listener: Arc<UnixListener>,
    open: Arc<Open>,
    thread: Option<JoinHandle<()>>,
}

/// The open connections of a session, shared by its threads.
#[derive(Default)]
struct Open {
    state: Mutex<Connections>,
    closed: Condvar,
}

#[derive(Default)]
struct Connections {
    stopped: bool,
    last: u64,
    streams: BTreeMap<u64, UnixStream>,
}

impl Open {
    fn state(&self) -> MutexGuard<'_, Connections> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes a connection in both directions.
    fn close(&self, number: u64) {
        if let Some(stream) = self.state().streams.remove(&number) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.closed.notify_all();
    }
}

impl Server {
    /// Opens the socket and starts answering calls.
    pub(crate) fn start(
        active: &Arc<ActiveSession>,
        socket: &Path,
        token: String,
    ) -> Result<Self, HostError> {
        let failed = |error| HostError::io(format!("open the socket {}", socket.display()), error);
        let listener = Arc::new(UnixListener::bind(socket).map_err(failed)?);
        let open = Arc::new(Open::default());
        let thread = {
            let (active, listener, open) =
                (Arc::clone(active), Arc::clone(&listener), Arc::clone(&open));
            let name = "foreword-ipc".to_owned();
            let token = Arc::from(token);
            let accept = move || accept(&active, &token, &listener, &open);
            thread::Builder::new().name(name).spawn(accept).map_err(failed)?
        };
        Ok(Self { socket: socket.to_owned(), listener, open, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.open.state().stopped = true;
        // Wakes the accepting thread. Shutting down the listener needs no new file handle.
        let woken = rustix::net::shutdown(&*self.listener, rustix::net::Shutdown::Both).is_ok()
            || UnixStream::connect(&self.socket).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
        let state = self.open.state();
        for stream in state.streams.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let still_open = |state: &mut Connections| !state.streams.is_empty();
        let _left = self.open.closed.wait_timeout_while(state, SHUTDOWN_TIMEOUT, still_open);
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn accept(
    active: &Arc<ActiveSession>,
    token: &Arc<str>,
    listener: &UnixListener,
    open: &Arc<Open>,
) {
    for stream in listener.incoming() {
        let mut state = open.state();
        if state.stopped {
            return;
        }
        let Ok(stream) = stream else {
            drop(state);
            // Most likely out of file handles, which closing connections free.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        if state.streams.len() >= MAX_CONNECTIONS {
            drop(state);
            refuse(&stream);
            continue;
        }
        let Ok(kept) = stream.try_clone() else { continue };
        state.last += 1;
        let number = state.last;
        state.streams.insert(number, kept);
        drop(state);
        let (active, token, served) = (Arc::clone(active), Arc::clone(token), Arc::clone(open));
        let spawned = thread::Builder::new().name("foreword-call".to_owned()).spawn(move || {
            if let Err(error) = serve(&active, &token, stream) {
                tracing::debug!("connection of session {} ended: {error}", active.identity.session);
            }
            drop(active);
            served.close(number);
        });
        if spawned.is_err() {
            open.close(number);
        }
    }
}

fn refuse(mut stream: &UnixStream) {
    let failure = Failure::new(
        ErrorCode::Limit,
        format!("too many connections; a session may have {MAX_CONNECTIONS} at once"),
    );
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let _ = stream.write_all(line(&Reply::failed(None, failure)).as_bytes());
}

/// Answers one connection until it ends.
fn serve(active: &ActiveSession, token: &str, stream: UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(FIRST_CALL_TIMEOUT))?;
    stream.set_write_timeout(Some(LINE_TIMEOUT))?;
    let mut out = stream.try_clone()?;
    let mut frames = Frames::new(stream, MAX_MODEL_CALL_BYTES)
        .within(FIRST_CALL_TIMEOUT)
        .sharing(Arc::clone(&active.host.line_budget));
    let is_admitted = |line: &[u8]| {
        Call::token_at_start(line).is_some_and(|given| is_equal(token.as_bytes(), given))
    };
    let connected = Instant::now();
    let mut is_stranger = true;
    let (mut last, mut faults) = (None::<u64>, 0_u32);
    loop {
        let next = if is_stranger {
            frames.next_line_of_stranger(MAX_STRANGER_BYTES, &is_admitted)
        } else {
            frames.next_line()
        };
        let bytes = match next {
            Ok(None) => return Ok(()),
            Ok(Some(bytes)) => bytes,
            Err(FrameError::Idle) if is_stranger && connected.elapsed() >= FIRST_CALL_TIMEOUT => {
                return Ok(());
            }
            Err(FrameError::Idle) => continue,
            Err(
                error @ (FrameError::TooLong { .. }
                | FrameError::NotAdmitted { .. }
                | FrameError::Busy
                | FrameError::Slow),
            ) => {
                let code = match error {
                    FrameError::Slow => ErrorCode::TimedOut,
                    FrameError::NotAdmitted { .. } => ErrorCode::BadToken,
                    FrameError::Busy => ErrorCode::Limit,
                    _ => ErrorCode::TooLarge,
                };
                let failure = Failure::new(code, error.to_string());
                if active.admit().is_ok() {
                    note(active, &failure);
                }
                return send(&mut out, &Reply::failed(None, failure));
            }
            Err(error @ FrameError::Truncated) => {
                if active.admit().is_ok() {
                    note(active, &Failure::new(ErrorCode::BadRequest, error.to_string()));
                }
                return Ok(());
            }
            Err(FrameError::Io(error)) => return Err(error),
        };
        let began = Instant::now();
        // Invalid lines count too; otherwise an agent could send them without limit.
        let admitted = active.admit();
        let call = match read(token, bytes, &mut last).and_then(|call| match &admitted {
            Ok(()) => Ok(call),
            Err(failure) => Err((Some(call.id), failure.clone())),
        }) {
            Ok(call) => call,
            Err((id, failure)) => {
                faults += 1;
                let ends = failure.code == ErrorCode::BadToken || faults >= MAX_FAULTS;
                match admitted {
                    Ok(()) => note(active, &failure),
                    Err(rate_limited) => {
                        if faults == 1 {
                            note(active, &rate_limited);
                        }
                        thread::sleep(RATE_LIMIT_DELAY);
                    }
                }
                send(&mut out, &Reply::failed(id, failure))?;
                if ends {
                    return Ok(());
                }
                continue;
            }
        };
        faults = 0;
        // The call has its own copy.
        frames.forget_line();
        if is_stranger {
            is_stranger = false;
            frames.set_patience(LINE_TIMEOUT);
            frames.get_ref().set_read_timeout(Some(LINE_TIMEOUT))?;
        }
        let (id, waiting) = (call.id, call.action.info().waiting);
        active.activity.begin_call();
        let result =
            perform(active, call.action, &mut |part| send(&mut out, &Reply::part(id, part)));
        active.activity.end_call();
        let reply = match result {
            Ok(result) => Reply::done(id, result),
            Err(failure) => Reply::failed(Some(id), failure),
        };
        send(&mut out, &reply)?;
        if waiting == Waiting::Never {
            active.activity.add_host_time(began.elapsed());
        }
    }
}

/// Parses a call and checks its token, id and size.
fn read(token: &str, bytes: &[u8], last: &mut Option<u64>) -> Result<Call, (Option<u64>, Failure)> {
    let call = match Call::parse_with_token(bytes) {
        Ok(call) => call,
        // A caller without the token learns nothing about the error.
        Err(rejected)
            if rejected
                .token
                .as_ref()
                .is_some_and(|given| !is_equal(token.as_bytes(), given.as_bytes())) =>
        {
            return Err((rejected.error.id, bad_token()));
        }
        Err(rejected) => {
            let error = rejected.error;
            return Err((error.id, Failure::new(error.code, error.message)));
        }
    };
    let id = Some(call.id);
    if !is_equal(token.as_bytes(), call.token.as_bytes()) {
        return Err((id, bad_token()));
    }
    if last.is_some_and(|last| call.id <= last) {
        let message = format!("call id {} was already used; ids must increase", call.id);
        return Err((id, Failure::new(ErrorCode::ReplayedId, message)));
    }
    *last = id;
    if bytes.len() > MAX_CALL_BYTES && !matches!(call.action, Action::ModelCall(_)) {
        let message = format!("call is {} bytes long; the limit is {MAX_CALL_BYTES}", bytes.len());
        return Err((id, Failure::new(ErrorCode::TooLarge, message)));
    }
    Ok(call)
}

fn bad_token() -> Failure {
    Failure::new(ErrorCode::BadToken, "the token does not belong to this session")
}

/// Compares in constant time, so that timing does not reveal a prefix of the token.
fn is_equal(known: &[u8], given: &[u8]) -> bool {
    known.len() == given.len()
        && known.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn note(active: &ActiveSession, failure: &Failure) {
    let reason: String = failure.message.chars().take(300).collect();
    let event =
        active.event_with_text("ipc.rejected", Outcome::Refused, json!({ "reason": reason }));
    active.host.record(event.with_detail(json!({ "code": failure.code.as_str() })));
}

fn send(out: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    out.write_all(line(reply).as_bytes())
}

fn line(reply: &Reply) -> String {
    let mut line = serde_json::to_string(reply).unwrap_or_default();
    line.push('\n');
    line
}
