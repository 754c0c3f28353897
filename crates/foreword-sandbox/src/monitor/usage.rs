//! What processes use, read from `/proc`.

use std::fs;
use std::path::Path;

use crate::launcher::process_tree::{self, ProcessTable};

/// Memory of the machine, in bytes; more than any limit if it cannot be read.
pub(super) fn machine_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    kib(&text, "MemTotal:").unwrap_or(u64::MAX)
}

/// What ordinary users can still write on the file system of a path, in bytes.
pub(super) fn free_disk(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    about.f_bavail.checked_mul(about.f_frsize)
}

/// All processes of the machine at one moment.
pub(super) struct Processes(ProcessTable);

impl Processes {
    pub(super) fn read() -> Self {
        Self(ProcessTable::read())
    }

    /// The tree below a process, without the process itself.
    pub(super) fn below(&self, root: u32) -> Tree {
        let pids = self.0.below(root);
        let tasks = pids.iter().map(|pid| self.0.tasks(*pid)).sum();
        Tree { pids, tasks }
    }
}

/// The processes of one agent.
pub(super) struct Tree {
    pids: Vec<u32>,
    tasks: u64,
}

impl Tree {
    /// Processes and threads.
    pub(super) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// The memory of all processes if it is above a limit.
    ///
    /// Memory that is not mapped from files is quickly added up. Pages that several processes share
    /// are counted in each, so the exact sum decides in the end.
    pub(super) fn memory_above(&self, limit: u64) -> Option<u64> {
        let over = |bytes: u64| (bytes > limit).then_some(bytes);
        let quick: u64 = self.pids.iter().filter_map(|pid| unshared(*pid)).sum();
        over(quick)?;
        let exact = |pid: &u32| proportional(*pid).or_else(|| unshared(*pid));
        over(self.pids.iter().filter_map(exact).sum())
    }

    pub(super) fn kill(&self) {
        self.pids.iter().copied().for_each(process_tree::kill);
    }
}

/// Resident memory without files, with shared memory.
fn unshared(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(kib(&status, "RssAnon:")? + kib(&status, "RssShmem:").unwrap_or_default())
}

/// The same, with shared pages divided by the number of processes that share them.
fn proportional(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(kib(&text, "Pss_Anon:")? + kib(&text, "Pss_Shmem:").unwrap_or_default())
}

/// The value of a line such as `RssAnon:   12 kB`, in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_some_memory_of_the_machine() {
        let own = unshared(std::process::id()).unwrap();
        assert!(own > 0 && own < machine_memory(), "{own}");
        assert!(proportional(std::process::id()).unwrap() <= own + (1 << 24));
        assert!(free_disk(Path::new("/")).is_some());
        assert_eq!(kib("A: 3 kB\nB: x kB\n", "A:"), Some(3072));
        assert_eq!(kib("A: 3 kB\nB: x kB\n", "B:"), None);
    }
}
