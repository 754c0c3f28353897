//! The session's socket: lines in, lines out, within limits.

use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use foreword_ipc::{
    Call, ErrorCode, Failure, FrameError, Frames, MAX_CALL_BYTES, MAX_MODEL_CALL_BYTES, Reply,
};
use foreword_store::Outcome;
use serde_json::json;

use crate::actions::perform;
use crate::error::HostError;
use crate::live::Live;

/// So many connections may a session have at once.
const MOST_CONNECTIONS: usize = 32;
/// A line that was begun has to be finished in this time, and a reply taken.
const LINE_TIMEOUT: Duration = Duration::from_secs(10);
/// After so many lines that are no calls, or calls too many, in a row, the connection is closed.
const MOST_FAULTS: u32 = 1000;

/// The socket of a session, open until dropped.
pub(crate) struct Server {
    socket: PathBuf,
    stopped: Arc<AtomicBool>,
    connections: Connections,
    thread: Option<JoinHandle<()>>,
}

type Connections = Arc<Mutex<Vec<UnixStream>>>;

impl Server {
    /// Opens the socket and answers on it.
    pub(crate) fn start(live: &Arc<Live>, socket: &Path) -> Result<Self, HostError> {
        let failed = |error| HostError::io(format!("open the socket {}", socket.display()), error);
        let listener = UnixListener::bind(socket).map_err(failed)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let connections = Connections::default();
        let thread = {
            let (live, stopped, connections) =
                (Arc::clone(live), Arc::clone(&stopped), Arc::clone(&connections));
            let name = "foreword-ipc".to_owned();
            let accept = move || accept(&live, &listener, &stopped, &connections);
            thread::Builder::new().name(name).spawn(accept).map_err(failed)?
        };
        Ok(Self { socket: socket.to_owned(), stopped, connections, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = UnixStream::connect(&self.socket);
        for stream in self.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn accept(
    live: &Arc<Live>,
    listener: &UnixListener,
    stopped: &AtomicBool,
    connections: &Connections,
) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            // Out of file handles, most likely: they come back as others hang up.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        if open.load(Ordering::SeqCst) >= MOST_CONNECTIONS {
            refuse(&stream);
            continue;
        }
        let Ok(kept) = stream.try_clone() else { continue };
        let mut list = connections.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that hung up are forgotten.
        list.retain(|known| known.peer_addr().is_ok());
        list.push(kept);
        drop(list);
        open.fetch_add(1, Ordering::SeqCst);
        let (live, done) = (Arc::clone(live), Arc::clone(&open));
        let spawned = thread::Builder::new().name("foreword-call".to_owned()).spawn(move || {
            if let Err(error) = serve(&live, stream) {
                tracing::debug!("a connection of {} ended: {error}", live.session);
            }
            done.fetch_sub(1, Ordering::SeqCst);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
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
fn serve(live: &Live, stream: UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(LINE_TIMEOUT))?;
    stream.set_write_timeout(Some(LINE_TIMEOUT))?;
    let mut out = stream.try_clone()?;
    let mut frames = Frames::new(stream, MAX_MODEL_CALL_BYTES);
    let (mut last, mut faults) = (None::<u64>, 0_u32);
    loop {
        let read = match frames.next_line() {
            Ok(None) => return Ok(()),
            Ok(Some(bytes)) => read(live, bytes, &mut last),
            Err(FrameError::Idle) => continue,
            Err(error @ (FrameError::TooLong { .. } | FrameError::Slow)) => {
                let code = match error {
                    FrameError::Slow => ErrorCode::TimedOut,
                    _ => ErrorCode::TooLarge,
                };
                note(live, code, &error.to_string());
                let failure = Failure::new(code, error.to_string());
                return send(&mut out, &Reply::failed(None, failure));
            }
            Err(FrameError::Truncated) => {
                note(live, ErrorCode::BadRequest, "the connection ended in the middle of a line");
                return Ok(());
            }
            Err(FrameError::Io(error)) => return Err(error),
        };
        let call = match read {
            Ok(call) => call,
            Err((id, failure)) => {
                faults += 1;
                let ends = failure.code == ErrorCode::BadToken || faults >= MOST_FAULTS;
                if failure.code != ErrorCode::RateLimited || faults == 1 || ends {
                    note(live, failure.code, &failure.message);
                }
                send(&mut out, &Reply::failed(id, failure))?;
                if ends {
                    return Ok(());
                }
                continue;
            }
        };
        faults = 0;
        let id = call.id;
        live.begin_call();
        let result = perform(live, call.action, &mut |part| send(&mut out, &Reply::part(id, part)));
        live.end_call();
        let reply = match result {
            Ok(result) => Reply::done(id, result),
            Err(failure) => Reply::failed(Some(id), failure),
        };
        send(&mut out, &reply)?;
    }
}

/// A call that may be carried out, or why not.
fn read(live: &Live, bytes: &[u8], last: &mut Option<u64>) -> Result<Call, (Option<u64>, Failure)> {
    let call = match Call::parse_with_token(bytes) {
        Ok(call) => call,
        // Without the token nothing is said about what is wrong.
        Err(rejected) if rejected.token.as_ref().is_some_and(|token| !is_token(live, token)) => {
            return Err((rejected.error.id, bad_token()));
        }
        Err(rejected) => {
            let error = rejected.error;
            return Err((error.id, Failure::new(error.code, error.message)));
        }
    };
    let id = Some(call.id);
    if !is_token(live, &call.token) {
        return Err((id, bad_token()));
    }
    if last.is_some_and(|last| call.id <= last) {
        let message = format!("the id {} was used: ids grow from call to call", call.id);
        return Err((id, Failure::new(ErrorCode::ReplayedId, message)));
    }
    *last = id;
    if bytes.len() > MAX_CALL_BYTES && call.action.name() != "model_call" {
        let message = format!("a call may have {MAX_CALL_BYTES} bytes, this has {}", bytes.len());
        return Err((id, Failure::new(ErrorCode::TooLarge, message)));
    }
    live.admit().map_err(|failure| (id, failure))?;
    Ok(call)
}

fn bad_token() -> Failure {
    Failure::new(ErrorCode::BadToken, "the token is not that of this session")
}

/// Compares in a time that does not depend on where they differ.
fn is_token(live: &Live, token: &str) -> bool {
    let (known, given) = (live.token.as_bytes(), token.as_bytes());
    known.len() == given.len()
        && known.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn note(live: &Live, code: ErrorCode, reason: &str) {
    let reason: String = reason.chars().take(300).collect();
    let event = live.event("ipc.rejected", Outcome::Refused);
    live.host.record(event.with_detail(json!({ "code": code.as_str(), "reason": reason })));
}

fn send(out: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    out.write_all(line(reply).as_bytes())
}

fn line(reply: &Reply) -> String {
    let mut line = serde_json::to_string(reply).unwrap_or_default();
    line.push('\n');
    line
}
