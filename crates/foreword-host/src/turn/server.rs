//! The session's socket: lines in, lines out, within limits.

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

/// So many connections may a session have at once.
const MOST_CONNECTIONS: usize = 32;
/// A line that was begun has to be finished in this time, and a reply taken.
const LINE_TIMEOUT: Duration = Duration::from_secs(10);
/// After so many lines that are no calls, or calls too many, in a row, the connection is closed.
const MOST_FAULTS: u32 = 200;
/// Whoever calls too often waits so long for being told.
const TOO_OFTEN: Duration = Duration::from_millis(5);
/// At the end calls that are under way have so long to come back.
const LAST_CALLS: Duration = Duration::from_millis(500);

/// The socket of a session, open until dropped.
pub(crate) struct Server {
    socket: PathBuf,
    listener: Arc<UnixListener>,
    open: Arc<Open>,
    thread: Option<JoinHandle<()>>,
}

/// The connections of a session.
#[derive(Default)]
struct Open {
    state: Mutex<Connections>,
    fewer: Condvar,
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

    /// Hangs up, for whoever still listens at the other end too.
    fn close(&self, number: u64) {
        if let Some(stream) = self.state().streams.remove(&number) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.fewer.notify_all();
    }
}

impl Server {
    /// Opens the socket and answers on it.
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
        // Wakes the thread that waits for connections, also where there is no handle left for one.
        let woken = rustix::net::shutdown(&*self.listener, rustix::net::Shutdown::Both).is_ok()
            || UnixStream::connect(&self.socket).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
        let state = self.open.state();
        for stream in state.streams.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let ended = |state: &mut Connections| !state.streams.is_empty();
        let _left = self.open.fewer.wait_timeout_while(state, LAST_CALLS, ended);
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
            // Out of file handles, most likely: they come back as others hang up.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        if state.streams.len() >= MOST_CONNECTIONS {
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
                tracing::debug!("a connection of {} ended: {error}", active.identity.session);
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
        format!("a session may have {MOST_CONNECTIONS} connections at once"),
    );
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let _ = stream.write_all(line(&Reply::failed(None, failure)).as_bytes());
}

/// Answers one connection until it ends.
fn serve(active: &ActiveSession, token: &str, stream: UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(LINE_TIMEOUT))?;
    stream.set_write_timeout(Some(LINE_TIMEOUT))?;
    let mut out = stream.try_clone()?;
    let mut frames = Frames::new(stream, MAX_MODEL_CALL_BYTES).within(LINE_TIMEOUT);
    let (mut last, mut faults) = (None::<u64>, 0_u32);
    loop {
        let bytes = match frames.next_line() {
            Ok(None) => return Ok(()),
            Ok(Some(bytes)) => bytes,
            Err(FrameError::Idle) => continue,
            Err(error @ (FrameError::TooLong { .. } | FrameError::Slow)) => {
                let code = match error {
                    FrameError::Slow => ErrorCode::TimedOut,
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
        // Lines that are no calls count as well, or they would be free.
        let admitted = active.admit();
        let call = match read(token, bytes, &mut last).and_then(|call| match &admitted {
            Ok(()) => Ok(call),
            Err(failure) => Err((Some(call.id), failure.clone())),
        }) {
            Ok(call) => call,
            Err((id, failure)) => {
                faults += 1;
                let ends = failure.code == ErrorCode::BadToken || faults >= MOST_FAULTS;
                match admitted {
                    Ok(()) => note(active, &failure),
                    Err(too_often) => {
                        if faults == 1 {
                            note(active, &too_often);
                        }
                        thread::sleep(TOO_OFTEN);
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

/// A call that may be carried out, or why not.
fn read(token: &str, bytes: &[u8], last: &mut Option<u64>) -> Result<Call, (Option<u64>, Failure)> {
    let call = match Call::parse_with_token(bytes) {
        Ok(call) => call,
        // Without the token nothing is said about what is wrong.
        Err(rejected) if rejected.token.as_ref().is_some_and(|given| !is_equal(token, given)) => {
            return Err((rejected.error.id, bad_token()));
        }
        Err(rejected) => {
            let error = rejected.error;
            return Err((error.id, Failure::new(error.code, error.message)));
        }
    };
    let id = Some(call.id);
    if !is_equal(token, &call.token) {
        return Err((id, bad_token()));
    }
    if last.is_some_and(|last| call.id <= last) {
        let message = format!("the id {} was used: ids grow from call to call", call.id);
        return Err((id, Failure::new(ErrorCode::ReplayedId, message)));
    }
    *last = id;
    if bytes.len() > MAX_CALL_BYTES && !matches!(call.action, Action::ModelCall(_)) {
        let message = format!("a call may have {MAX_CALL_BYTES} bytes, this has {}", bytes.len());
        return Err((id, Failure::new(ErrorCode::TooLarge, message)));
    }
    Ok(call)
}

fn bad_token() -> Failure {
    Failure::new(ErrorCode::BadToken, "the token is not that of this session")
}

/// Compares in a time that does not depend on where they differ.
fn is_equal(token: &str, given: &str) -> bool {
    let (known, given) = (token.as_bytes(), given.as_bytes());
    known.len() == given.len()
        && known.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn note(active: &ActiveSession, failure: &Failure) {
    let reason: String = failure.message.chars().take(300).collect();
    let detail = json!({ "code": failure.code.as_str(), "reason": reason });
    active.host.record(active.event("ipc.rejected", Outcome::Refused).with_detail(detail));
}

fn send(out: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    out.write_all(line(reply).as_bytes())
}

fn line(reply: &Reply) -> String {
    let mut line = serde_json::to_string(reply).unwrap_or_default();
    line.push('\n');
    line
}
