//! Which process a turn belongs to, so that a later one can tell whether it is still alive.
//!
//! With `/proc` a process is known by number, start time and boot, because numbers are reused. Without
//! it (macOS, a container that hides it) only the number is known: a process that has it counts as the
//! turn's, so a live turn is never taken for dead.

use std::fs;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

const PROC: &str = "/proc";

/// The identity of this process: number, start time and boot, or `?` where they are unknown.
pub(crate) fn this() -> String {
    this_by(Path::new(PROC))
}

/// Whether the process with this identity is still alive; true if that cannot be told.
pub(crate) fn is_alive(owner: &str) -> bool {
    is_alive_by(Path::new(PROC), owner)
}

/// Whether a process of this number exists; true if that cannot be told.
pub(crate) fn may_be_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

fn this_by(proc: &Path) -> String {
    let pid = std::process::id();
    identity(proc, pid).unwrap_or_else(|| format!("{pid}:?:?"))
}

fn is_alive_by(proc: &Path, owner: &str) -> bool {
    let Some((pid, rest)) = owner.split_once(':') else { return false };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    // What cannot be read about this process cannot be read about another one.
    if rest.starts_with('?') || identity(proc, std::process::id()).is_none() {
        return may_be_alive(pid);
    }
    identity(proc, pid).is_some_and(|now| now == owner)
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn identity(proc: &Path, pid: u32) -> Option<String> {
    let stat = fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
    // The name in parentheses may hold anything, parentheses too.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let start = fields.nth(18)?;
    let boot = fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
    Some(format!("{pid}:{start}:{}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_and_the_dead() {
        assert!(is_alive(&this()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = identity(Path::new(PROC), child.id()).unwrap();
        assert!(is_alive(&owner));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(&owner));
        assert!(!is_alive("1:0:another-boot") && !is_alive("") && !is_alive("x:y"));
    }

    #[test]
    fn without_proc_a_live_turn_is_not_taken_for_dead() {
        let absent = Path::new("/no-proc-here");
        assert_eq!(this_by(absent), format!("{}:?:?", std::process::id()));
        assert!(is_alive_by(absent, &this_by(absent)));
        assert!(is_alive_by(absent, &this()), "written where there was /proc");
        assert!(is_alive(&this_by(absent)), "written where there was none");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = format!("{}:?:?", child.id());
        assert!(is_alive_by(absent, &owner));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive_by(absent, &owner));
    }
}
