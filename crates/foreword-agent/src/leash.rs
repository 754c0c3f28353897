//! Processes that do not outlive the agent, however it ends.
//!
//! Each command gets a process group. Its leader is a small shell that waits for the end of a pipe
//! which only the agent holds open: when the agent is gone, also when it was killed, the pipe ends
//! and the shell ends its group with all descendants, itself included. A process whose parent is gone
//! already and that has left the group is not found; only a sandbox with a process namespace ends it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often to look whether a process has ended, at most.
const MAX_NAP: Duration = Duration::from_millis(20);

const KEEPER: &str = include_str!("keeper.sh");
/// How long that may take.
const TIME_TO_KEEP: Duration = Duration::from_secs(5);

/// A command in its group. Dropping it ends the group.
#[derive(Debug)]
pub(crate) struct Leashed {
    child: Child,
    keeper: Child,
}

impl Leashed {
    /// Starts a command.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut keeper = Command::new("/bin/sh")
            .args(["-c", KEEPER])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let group = i32::try_from(keeper.id()).unwrap_or_default();
        match command.process_group(group).spawn() {
            Ok(child) => Ok(Self { child, keeper }),
            Err(error) => {
                let _ = keeper.kill();
                let _ = keeper.wait();
                Err(error)
            }
        }
    }

    /// The command itself, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the command until the deadline; nothing if it still runs then.
    pub(crate) fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut nap = Duration::from_micros(500);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(nap.min(left));
            nap = (nap * 2).min(MAX_NAP);
        }
    }

    /// Asks the command to end, and gives it a moment for its own children.
    pub(crate) fn ask_to_end(&mut self, moment: Duration) {
        if let Ok(Some(pid)) = i32::try_from(self.child.id()).map(Pid::from_raw)
            && self.child.try_wait().is_ok_and(|ended| ended.is_none())
        {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
            let _ = self.wait_until(Instant::now() + moment);
        }
    }

    /// Ends whatever is left of the group, and descendants outside it if the command still runs.
    pub(crate) fn end(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            drop(self.keeper.stdin.take());
            let deadline = Instant::now() + TIME_TO_KEEP;
            while self.keeper.try_wait().is_ok_and(|ended| ended.is_none())
                && Instant::now() < deadline
            {
                thread::sleep(Duration::from_millis(1));
            }
        }
        // While the keeper has not been waited for, its number is the group's and nobody else's.
        if let Ok(Some(group)) = i32::try_from(self.keeper.id()).map(Pid::from_raw)
            && self.keeper.try_wait().is_ok_and(|ended| ended.is_none())
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.keeper.wait();
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_group_ends_with_its_leash() {
        let mut leashed = Leashed::start(
            Command::new("bash").args(["-c", "sleep 100 & echo $!; wait"]).stdout(Stdio::piped()),
        )
        .unwrap();
        let mut out = leashed.child().stdout.take().unwrap();
        let mut line = [0; 16];
        let read = out.read(&mut line).unwrap();
        let pid: i32 = std::str::from_utf8(&line[..read]).unwrap().trim().parse().unwrap();
        let pid = Pid::from_raw(pid).unwrap();
        assert!(rustix::process::test_kill_process(pid).is_ok());
        drop(leashed);
        // The pipe ends when nobody holds it open any more.
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
    }

    #[test]
    fn descendants_in_groups_of_their_own_end_too() {
        let mut leashed = Leashed::start(
            Command::new("bash")
                .args(["-mc", "(sleep 100 & wait) & echo started; wait"])
                .stdout(Stdio::piped()),
        )
        .unwrap();
        let mut out = leashed.child().stdout.take().unwrap();
        assert_eq!(out.read(&mut [0; 8]).unwrap(), 8);
        let start = Instant::now();
        drop(leashed);
        out.read_to_string(&mut String::new()).unwrap();
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }

    #[test]
    fn a_command_that_does_not_exist_leaves_nothing() {
        assert!(Leashed::start(&mut Command::new("/no/such/program")).is_err());
    }
}
