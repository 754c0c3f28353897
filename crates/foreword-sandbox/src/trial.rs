//! Probes whether a sandbox works, with a time limit.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::SandboxError;
use foreword::SandboxKind;

/// The time limit of a probe; an engine that hangs counts as failed.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// How much of a complaint is passed on.
const MAX_COMPLAINT_BYTES: u64 = 400;

/// Runs a command that has to succeed.
pub(crate) fn run(
    mut command: Command,
    sandbox: SandboxKind,
    remedy: &'static str,
) -> Result<(), SandboxError> {
    let failed = |reason: String| SandboxError::Unavailable { sandbox, reason, remedy };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let program = command.get_program().display().to_string();
    let mut child = command.spawn().map_err(|error| failed(format!("{program}: {error}")))?;
    let deadline = Instant::now() + MAX_WAIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) => {
                let _ = (child.kill(), child.wait());
                return Err(failed(format!("{program} does not answer")));
            }
            Err(error) => return Err(failed(format!("{program}: {error}"))),
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut complaint = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MAX_COMPLAINT_BYTES).read_to_end(&mut complaint);
    }
    let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
    Err(failed(if complaint.is_empty() { format!("{program}: {status}") } else { complaint }))
}
