//! `[host.limits]`: what an agent may use of the machine.

use serde::{Deserialize, Serialize};

/// Limits on an agent and everything it starts. In `foreword.toml` they can only be tightened; a
/// person's own settings can also widen them. What is not named keeps its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxLimits {
    /// Processes and threads together. Default 1024.
    pub processes: Option<u64>,
    /// Memory of all processes, in MiB. Default 8192.
    pub memory_mb: Option<u64>,
    /// Open files of one process. Default 8192.
    pub open_files: Option<u64>,
    /// The size of one file, in MiB. Default 4096.
    pub file_mb: Option<u64>,
    /// The size of the temporary directory, in MiB. Default 1024.
    pub temporary_mb: Option<u64>,
    /// What must stay free on the disk of the workspace, in MiB. Default 256.
    pub disk_reserve_mb: Option<u64>,
}

impl SandboxLimits {
    /// Each key with its value and the least and the most it may be.
    pub(crate) fn ranges(&self) -> [(&'static str, Option<u64>, u64, u64); 6] {
        const MAX_MIB: u64 = 1 << 24;
        [
            ("processes", self.processes, 16, 1_000_000),
            ("memory_mb", self.memory_mb, 64, MAX_MIB),
            ("open_files", self.open_files, 64, 1_000_000),
            ("file_mb", self.file_mb, 1, MAX_MIB),
            ("temporary_mb", self.temporary_mb, 1, MAX_MIB),
            ("disk_reserve_mb", self.disk_reserve_mb, 0, MAX_MIB),
        ]
    }
}
