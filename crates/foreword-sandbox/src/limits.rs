//! What an agent and everything it starts may use of the machine.
//!
//! Three mechanisms enforce it. Limits of the kernel on single processes ([`Rlimits`]) are set by the
//! launcher. File systems in memory have a size. The sum over all processes is watched by the
//! [`Monitor`](crate::Monitor), because a limit on address space breaks Node.js and the limit on
//! processes does not apply to root.

use std::ffi::{OsStr, OsString};

use foreword_workspace::SandboxLimits;

const MIB: u64 = 1 << 20;
/// The largest `/dev/shm`; what uses it needs less.
const MAX_SHARED_MEMORY: u64 = 256 * MIB;

/// The limits of one sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads together.
    pub processes: u64,
    /// Memory of all processes together. Never more than three quarters of the machine's.
    pub memory_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// The size of one file.
    pub file_bytes: u64,
    /// The size of the temporary directory, which is in memory.
    pub temporary_bytes: u64,
    /// What must stay free on the disk of the workspace.
    pub disk_reserve_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: 1024,
            memory_bytes: 8192 * MIB,
            open_files: 8192,
            file_bytes: 4096 * MIB,
            temporary_bytes: 1024 * MIB,
            disk_reserve_bytes: 256 * MIB,
        }
    }
}

impl Limits {
    /// With the values of the person's own settings, which may be higher or lower.
    #[must_use]
    pub fn set(self, settings: &SandboxLimits) -> Self {
        self.changed(settings, |_, new| new)
    }

    /// With the values of a workspace, which can only tighten a limit.
    #[must_use]
    pub fn tightened(self, settings: &SandboxLimits) -> Self {
        let reserve = self.disk_reserve_bytes;
        let lower = self.changed(settings, u64::min);
        Self { disk_reserve_bytes: lower.disk_reserve(settings).max(reserve), ..lower }
    }

    fn changed(self, settings: &SandboxLimits, pick: impl Fn(u64, u64) -> u64) -> Self {
        let mib = |value: Option<u64>| value.map(|value| value.saturating_mul(MIB));
        let pick = |old: u64, new: Option<u64>| new.map_or(old, |new| pick(old, new));
        Self {
            processes: pick(self.processes, settings.processes),
            memory_bytes: pick(self.memory_bytes, mib(settings.memory_mb)),
            open_files: pick(self.open_files, settings.open_files),
            file_bytes: pick(self.file_bytes, mib(settings.file_mb)),
            temporary_bytes: pick(self.temporary_bytes, mib(settings.temporary_mb)),
            disk_reserve_bytes: pick(self.disk_reserve_bytes, mib(settings.disk_reserve_mb)),
        }
    }

    fn disk_reserve(self, settings: &SandboxLimits) -> u64 {
        settings.disk_reserve_mb.map_or(self.disk_reserve_bytes, |mib| mib.saturating_mul(MIB))
    }

    /// The size of `/dev/shm`.
    pub(crate) fn shared_memory_bytes(self) -> u64 {
        self.temporary_bytes.min(MAX_SHARED_MEMORY)
    }

    /// For a sandbox with a user namespace, in which only its own processes are counted.
    pub(crate) fn in_user_namespace(self) -> Rlimits {
        Rlimits { processes: Some(self.processes), ..self.shared_user() }
    }

    /// For a sandbox that shares the person's user: all processes of the person count there, so the
    /// kernel's limit on processes says nothing about the agent.
    pub(crate) fn shared_user(self) -> Rlimits {
        Rlimits { processes: None, open_files: self.open_files, file_bytes: self.file_bytes }
    }
}

/// The limits that the kernel enforces on a process and those it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rlimits {
    pub(crate) processes: Option<u64>,
    pub(crate) open_files: u64,
    pub(crate) file_bytes: u64,
}

impl Rlimits {
    /// As one argument of the launcher; zero processes are none counted.
    pub(crate) fn to_arg(self) -> OsString {
        let processes = self.processes.unwrap_or_default();
        format!("{processes}:{}:{}", self.open_files, self.file_bytes).into()
    }

    pub(crate) fn parse(arg: &OsStr) -> Option<Self> {
        let mut numbers = arg.to_str()?.split(':').map(str::parse);
        let mut next = || numbers.next()?.ok();
        let (processes, open_files, file_bytes): (u64, u64, u64) = (next()?, next()?, next()?);
        let processes = (processes > 0).then_some(processes);
        numbers.next().is_none().then_some(Self { processes, open_files, file_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_can_only_tighten_and_a_person_can_do_both() {
        let settings = SandboxLimits {
            processes: Some(9000),
            memory_mb: Some(100),
            disk_reserve_mb: Some(1),
            ..SandboxLimits::default()
        };
        let default = Limits::default();
        let tightened = default.tightened(&settings);
        assert_eq!(tightened, Limits { memory_bytes: 100 * MIB, ..default });
        let reserve = SandboxLimits { disk_reserve_mb: Some(1000), ..SandboxLimits::default() };
        assert_eq!(default.tightened(&reserve).disk_reserve_bytes, 1000 * MIB);
        let set = default.set(&settings);
        assert_eq!((set.processes, set.memory_bytes), (9000, 100 * MIB));
        assert_eq!(set.disk_reserve_bytes, MIB);
    }

    #[test]
    fn limits_are_read_back_as_they_were_written() {
        let limits = Limits::default();
        for limits in [limits.in_user_namespace(), limits.shared_user()] {
            assert_eq!(Rlimits::parse(&limits.to_arg()), Some(limits));
        }
        for bad in ["", "1", "1:2", "1:2:3:4", "a:2:3", "1:-2:3", "1:2:"] {
            assert_eq!(Rlimits::parse(bad.as_ref()), None, "{bad}");
        }
    }
}
