//! `bash`: a command in the sandbox.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::{Place, ToolError};
use crate::leash::Leashed;
use crate::output::HeadAndTail;

/// How long to wait for output of processes that left their group.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    command: String,
    #[serde(default)]
    timeout: Option<u64>,
}

pub(super) fn run(args: &Args, place: Place<'_>) -> Result<String, ToolError> {
    let most = place.limits.command_seconds;
    let seconds = args.timeout.unwrap_or(most).clamp(1, most.max(1));
    let failed = |error: std::io::Error| ToolError::Command(format!("bash cannot run: {error}"));

    // One pipe for both, so that errors stand where they came.
    let (mut reader, writer) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(&args.command)
        .current_dir(place.cwd)
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(failed)?)
        .stderr(writer);
    let started = Leashed::start(&mut command);
    // The command holds ends of the pipe of its own.
    drop(command);
    let mut leashed = started.map_err(failed)?;

    let output = Arc::new(Mutex::new(HeadAndTail::new(place.limits.max_tool_output_bytes)));
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

    let status =
        leashed.wait_until(Instant::now() + Duration::from_secs(seconds)).map_err(failed)?;
    // Nothing that was started in the background stays.
    leashed.end();
    let cut_off = matches!(end.recv_timeout(LAST_OUTPUT), Err(RecvTimeoutError::Timeout));
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
        None => Err(ToolError::Command(format!("{text}[Stopped after {seconds} seconds.]"))),
    }
}
