//! Watches what agents use, and ends the ones that use too much.
//!
//! The kernel counts per process and per user, and never per agent unless control groups are delegated,
//! which they rarely are. So one thread looks at the process table a few times a second, sums up the tree
//! below each agent, and kills a tree that is past its limits. A tree that grows between two looks is
//! found at the next one.
//!
//! Memory that belongs to no process, such as a `memfd` that is not mapped, is not seen.

#[cfg(target_os = "linux")]
mod usage;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::limits::Limits;

/// How often the processes are looked at.
const TICK: Duration = Duration::from_millis(200);
/// How often while a tree is being killed, until it is gone.
#[cfg(target_os = "linux")]
const KILL_TICK: Duration = Duration::from_millis(5);

/// What an agent used too much of. The message names the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exceeded {
    /// Processes and threads.
    Processes { count: u64, limit: u64 },
    /// Memory of all processes.
    Memory { bytes: u64, limit: u64 },
    /// The disk of the workspace is nearly full.
    Disk { free: u64, limit: u64 },
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: &u64| bytes >> 20;
        match self {
            Self::Processes { count, limit } => write!(
                f,
                "{count} processes and threads, the limit is {limit} (host.limits.processes)"
            ),
            Self::Memory { bytes, limit } => write!(
                f,
                "{} MiB of memory, the limit is {} MiB (host.limits.memory_mb)",
                mib(bytes),
                mib(limit)
            ),
            Self::Disk { free, limit } => write!(
                f,
                "{} MiB left on the workspace's disk, the reserve is {} MiB (host.limits.disk_reserve_mb)",
                mib(free),
                mib(limit)
            ),
        }
    }
}

/// Watches agents from one thread, which runs while there is one to watch.
#[derive(Debug, Clone, Default)]
pub struct Monitor(Arc<Mutex<Watching>>);

#[derive(Debug, Default)]
struct Watching {
    agents: BTreeMap<u64, Agent>,
    next: u64,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing to look at"))]
    running: bool,
}

#[derive(Debug, Clone)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing to look at"))]
struct Agent {
    /// The process of the sandbox; what is below it is the agent.
    root: u32,
    limits: Limits,
    /// The workspace, whose disk is looked at unless it was nearly full before.
    disk: Option<PathBuf>,
    exceeded: Option<Exceeded>,
}

/// An agent that is watched until this is dropped.
#[derive(Debug)]
pub struct Watched {
    monitor: Monitor,
    id: u64,
}

impl Watched {
    /// The limit for which the agent was ended.
    #[must_use]
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.monitor.lock().agents.get(&self.id).and_then(|agent| agent.exceeded)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.monitor.lock().agents.remove(&self.id);
    }
}

impl Monitor {
    /// Watches everything below a process that was just started. `workspace` is where it can write.
    #[must_use]
    pub fn watch(&self, root: u32, limits: Limits, workspace: PathBuf) -> Watched {
        #[cfg(target_os = "linux")]
        let (limits, disk) = {
            let limit = limits.memory_bytes.min(usage::machine_memory() / 4 * 3);
            let free = usage::free_disk(&workspace).unwrap_or_default();
            let disk = (free > limits.disk_reserve_bytes).then_some(workspace);
            (Limits { memory_bytes: limit, ..limits }, disk)
        };
        #[cfg(not(target_os = "linux"))]
        let disk = Some(workspace);
        let mut watching = self.lock();
        let id = watching.next;
        watching.next += 1;
        watching.agents.insert(id, Agent { root, limits, disk, exceeded: None });
        #[cfg(target_os = "linux")]
        if !watching.running {
            let monitor = self.clone();
            let name = "foreword-limits".to_owned();
            let run = move || monitor.run();
            watching.running = std::thread::Builder::new().name(name).spawn(run).is_ok();
        }
        Watched { monitor: self.clone(), id }
    }

    fn lock(&self) -> MutexGuard<'_, Watching> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(target_os = "linux")]
    fn run(&self) {
        loop {
            std::thread::sleep(self.look());
            let mut watching = self.lock();
            if watching.agents.is_empty() {
                watching.running = false;
                return;
            }
        }
    }

    /// Looks at all agents once, and gives the time until the next look.
    #[cfg(target_os = "linux")]
    fn look(&self) -> Duration {
        let agents = self.lock().agents.clone();
        let processes = usage::Processes::read();
        let mut next = TICK;
        for (id, agent) in agents {
            let tree = processes.below(agent.root);
            let exceeded = agent.exceeded.or_else(|| agent.check(&tree));
            if exceeded.is_none() {
                continue;
            }
            if let Some(agent) = self.lock().agents.get_mut(&id) {
                agent.exceeded = exceeded;
                tree.kill();
                next = KILL_TICK;
            }
        }
        next
    }
}

#[cfg(target_os = "linux")]
impl Agent {
    fn check(&self, tree: &usage::Tree) -> Option<Exceeded> {
        let Limits { processes, memory_bytes, disk_reserve_bytes, .. } = self.limits;
        if tree.tasks() > processes {
            return Some(Exceeded::Processes { count: tree.tasks(), limit: processes });
        }
        if let Some(bytes) = tree.memory_above(memory_bytes) {
            return Some(Exceeded::Memory { bytes, limit: memory_bytes });
        }
        let free = self.disk.as_deref().and_then(usage::free_disk);
        free.filter(|free| *free < disk_reserve_bytes)
            .map(|free| Exceeded::Disk { free, limit: disk_reserve_bytes })
    }
}
