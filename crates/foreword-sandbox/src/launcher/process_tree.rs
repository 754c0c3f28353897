//! The descendants of a process, read from `/proc`.
//!
//! Only the launcher uses this, on Linux. Without `/proc` no descendants are found: the supervisor then
//! ends the program itself, and what the program started may outlive it.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Every living process below a process, nearest first.
pub(crate) fn below(root: u32) -> Vec<u32> {
    ProcessTable::read().below(root)
}

/// All processes at one moment.
#[derive(Default)]
pub(crate) struct ProcessTable {
    children: BTreeMap<u32, Vec<u32>>,
    threads: BTreeMap<u32, u64>,
    /// Children that ended and were not waited for, by their parent.
    dead: BTreeMap<u32, u64>,
}

impl ProcessTable {
    pub(crate) fn read() -> Self {
        let mut table = Self::default();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            let Some(Stat { state, parent, threads }) = Stat::parse(&stat) else { continue };
            if state == 'Z' {
                *table.dead.entry(parent).or_default() += 1;
            } else {
                table.children.entry(parent).or_default().push(pid);
                table.threads.insert(pid, threads);
            }
        }
        table
    }

    /// The living processes below one, nearest first.
    pub(crate) fn below(&self, root: u32) -> Vec<u32> {
        let of = |pid: u32| self.children.get(&pid).into_iter().flatten().copied();
        let mut found: Vec<u32> = of(root).collect();
        let mut at = 0;
        // Parents do not form a circle, but a number may be used again while the table is read.
        while let Some(pid) = found.get(at).copied()
            && found.len() <= self.threads.len()
        {
            found.extend(of(pid));
            at += 1;
        }
        found
    }

    /// The threads of a process, and its dead children: each of them takes a number of the kernel.
    pub(crate) fn tasks(&self, pid: u32) -> u64 {
        let of = |table: &BTreeMap<u32, u64>| table.get(&pid).copied().unwrap_or_default();
        of(&self.threads) + of(&self.dead)
    }
}

/// A line of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    parent: u32,
    threads: u64,
}

impl Stat {
    /// The program name is in parentheses and may contain any character, including parentheses.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let threads = fields.nth(15).and_then(|count| count.parse().ok()).unwrap_or(1);
        Some(Self { state, parent, threads })
    }
}

/// Kills a process, if it is still there.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lie_about_its_parent() {
        let parsed = |line| Stat::parse(line).map(|stat| (stat.state, stat.parent));
        assert_eq!(parsed("7 (sh) S 3 7 7 0"), Some(('S', 3)));
        assert_eq!(parsed("7 (a) S 9 (b)) R 3 7"), Some(('R', 3)));
        assert_eq!(parsed("7 (sh)"), None);
        assert_eq!(parsed(""), None);
    }

    #[test]
    fn this_process_has_the_threads_it_started() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(ProcessTable::read().tasks(std::process::id()) >= 2);
        let line = fs::read_to_string("/proc/self/stat").unwrap();
        assert!(Stat::parse(&line).unwrap().threads >= 2, "{line}");
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }
}
