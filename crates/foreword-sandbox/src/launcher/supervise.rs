//! A process that stays between host and program, and leaves nothing behind.
//!
//! A program that is killed leaves its own children to somebody else. The supervisor is that somebody:
//! it adopts them, and kills them all as soon as the program or the host is gone.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setsid, waitpid,
};

use crate::error::SandboxError;
use crate::launcher::process_tree;
use crate::launcher::{LAUNCHER_FAILED, failed};

/// How often adopted processes that ended are cleared away.
const REAP_EVERY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// How long the end of everything may take.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Runs a command until it or the host ends; gives its exit status as a shell would.
pub(crate) fn supervise(parent: u32, command: &[OsString]) -> Result<u8, SandboxError> {
    let host = pid(parent)?;
    let host_fd = pidfd_open(host, PidfdFlags::empty())
        .map_err(|error| failed(&format!("the host is gone: {error}")))?;
    if getppid() != Some(host) {
        return Err(failed("the host is gone"));
    }
    // A separate session: Ctrl-C in the terminal is for the host, which then ends us.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))
        .map_err(|error| failed(&format!("cannot adopt processes: {error}")))?;
    let (program, args) = command.split_first().ok_or_else(|| failed("no program"))?;
    let child = Command::new(program)
        .args(args)
        .spawn()
        .map_err(|error| failed(&format!("{}: {error}", program.display())))?;
    let child_pid = pid(child.id())?;
    let child_fd = pidfd_open(child_pid, PidfdFlags::empty())
        .map_err(|error| failed(&format!("cannot watch the program: {error}")))?;

    let mut ended = None;
    while ended.is_none() {
        let mut fds = [PollFd::new(&host_fd, PollFlags::IN), PollFd::new(&child_fd, PollFlags::IN)];
        let _ = poll(&mut fds, Some(&REAP_EVERY));
        let [host_fd, _] = &fds;
        if host_fd.revents().contains(PollFlags::IN) {
            break;
        }
        ended = reap(child_pid);
    }
    if ended.is_none() {
        // The others are found in /proc; without it, the program at least ends.
        process_tree::kill(child.id());
    }
    let last = end_everything(child_pid);
    Ok(ended.or(last).map_or(LAUNCHER_FAILED, exit_status))
}

/// Reaps ended processes; returns the status of the program if it was among them.
fn reap(program: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = waitpid(None, WaitOptions::NOHANG) {
        if pid == program {
            found = Some(status);
        }
    }
    found
}

/// Kills every process below this one, repeatedly until none is left.
fn end_everything(program: Pid) -> Option<WaitStatus> {
    let deadline = Instant::now() + MAX_WAIT;
    let mut status = None;
    while Instant::now() < deadline {
        let below = process_tree::below(std::process::id());
        if below.is_empty() {
            break;
        }
        for pid in below {
            process_tree::kill(pid);
        }
        status = reap(program).or(status);
        std::thread::sleep(Duration::from_millis(2));
    }
    status
}

fn exit_status(status: WaitStatus) -> u8 {
    let code = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code).unwrap_or(LAUNCHER_FAILED)
}

/// Makes this process die with the one that started it.
pub(crate) fn die_with(parent: u32) -> Result<(), SandboxError> {
    die_with_whoever()?;
    if getppid() == Some(pid(parent)?) { Ok(()) } else { Err(failed("the parent is gone")) }
}

/// The same for any parent.
pub(crate) fn die_with_whoever() -> Result<(), SandboxError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| failed(&format!("cannot be made to die with the host: {error}")))
}

/// Becomes the program; comes back only if that fails.
pub(crate) fn become_program(command: &[OsString]) -> SandboxError {
    match command.split_first() {
        Some((program, args)) => {
            let error = Command::new(program).args(args).exec();
            failed(&format!("{}: {error}", program.display()))
        }
        None => failed("no program"),
    }
}

fn pid(raw: u32) -> Result<Pid, SandboxError> {
    let pid = i32::try_from(raw).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| failed(&format!("{raw} is no process")))
}
