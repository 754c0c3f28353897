//! A program inside the sandbox: started on a leash, its output collected, ended in time.

use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::ToolError;
use crate::leash::Leashed;
use crate::output::HeadAndTail;

/// How long to wait for output of processes that left their group.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
/// How often to look whether a program has ended that closed its output, or gave it away.
const NAP: Duration = Duration::from_millis(20);

/// What bounds a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) seconds: u64,
    pub(super) max_output_bytes: usize,
}

/// Runs a program and gives its output. A status other than 0 is an error with the output in it.
pub(super) fn run(
    name: &str,
    command: &mut Command,
    input: Option<Vec<u8>>,
    bounds: Bounds,
) -> Result<String, ToolError> {
    let failed = |error: io::Error| ToolError::Command(format!("{name} cannot run: {error}"));
    // One pipe for both, so that errors stand where they came.
    let (mut reader, writer) = io::pipe().map_err(failed)?;
    command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(writer.try_clone().map_err(failed)?)
        .stderr(writer);
    let started = Leashed::start(command);
    // The command holds ends of the pipe of its own.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut leashed = started.map_err(|error| {
        let program = command.get_program().to_string_lossy();
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no program `{program}` in the sandbox"),
            io::ErrorKind::PermissionDenied => format!(
                "`{program}` is not executable; run `chmod +x` on it, or name its interpreter first"
            ),
            _ => format!("`{program}`: {error}"),
        };
        ToolError::Command(format!("{name} cannot run: {why}"))
    })?;
    if let Some((mut stdin, input)) = leashed.child().stdin.take().zip(input) {
        // A program that does not want it all has closed the pipe.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }

    let output = Arc::new(Mutex::new(HeadAndTail::new(bounds.max_output_bytes)));
    let (ended, end) = mpsc::channel();
    let sink = Arc::clone(&output);
    thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            let piece = buffer.get(..read).unwrap_or_default();
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
        }
        let _ = ended.send(());
    });

    let deadline = Instant::now() + Duration::from_secs(bounds.seconds);
    // The end of its output is the first sign that a program has ended, and costs no waiting.
    let mut closed = false;
    let status = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if closed {
            break leashed.wait_until(deadline).map_err(failed)?;
        }
        match end.recv_timeout(NAP.min(left)) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => closed = true,
            Err(RecvTimeoutError::Timeout) => {
                let status = leashed.child().try_wait().map_err(failed)?;
                if status.is_some() || left.is_zero() {
                    break status;
                }
            }
        }
    };
    // Nothing that was started in the background stays.
    leashed.end();
    let cut_off =
        !closed && matches!(end.recv_timeout(LAST_OUTPUT), Err(RecvTimeoutError::Timeout));
    let mut text = output.lock().unwrap_or_else(PoisonError::into_inner).text();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if cut_off {
        text.push_str("[A process left its process group and may still be running.]\n");
    }
    match status {
        Some(status) if status.success() => {
            if text.is_empty() {
                text.push_str("[No output.]\n");
            }
            Ok(text)
        }
        Some(status) => Err(ToolError::Command(format!("{text}[{status}]"))),
        None => {
            Err(ToolError::Command(format!("{text}[Stopped after {} seconds.]", bounds.seconds)))
        }
    }
}
