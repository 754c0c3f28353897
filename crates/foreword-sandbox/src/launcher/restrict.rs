//! Limits that a process sets on itself before it becomes the program.
//!
//! Resource limits of the kernel, and a filter of system calls: no user namespaces, because a program
//! in one has capabilities again, and with them most of the kernel to attack; no key rings, because
//! they belong to the person's login.

use std::collections::BTreeMap;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::error::SandboxError;
use crate::launcher::failed;
use crate::limits::Rlimits;

const CLONE_NEWUSER: u64 = 0x1000_0000;
const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// The numbers of system calls on one architecture.
struct Calls {
    arch: TargetArch,
    clone: i64,
    unshare: i64,
    clone3: i64,
    key_rings: [i64; 3],
}

/// The same call has a second number under the x32 ABI.
const X32: i64 = 0x4000_0000;

fn calls() -> Option<Calls> {
    if cfg!(target_arch = "x86_64") {
        let key_rings = [248, 249, 250];
        Some(Calls { arch: TargetArch::x86_64, clone: 56, unshare: 272, clone3: 435, key_rings })
    } else if cfg!(target_arch = "aarch64") {
        let key_rings = [217, 218, 219];
        Some(Calls { arch: TargetArch::aarch64, clone: 220, unshare: 97, clone3: 435, key_rings })
    } else {
        None
    }
}

/// Sets the limits on this process and everything it starts.
pub(crate) fn restrict(limits: Rlimits) -> Result<(), SandboxError> {
    lower(Resource::Core, 0)?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    if let Some(processes) = limits.processes {
        lower(Resource::Nproc, processes)?;
    }
    calls().map_or(Ok(()), |calls| filter(&calls))
}

/// Lowers a limit for good; one that is lower already stays.
fn lower(resource: Resource, to: u64) -> Result<(), SandboxError> {
    let known = getrlimit(resource);
    let least = |value: Option<u64>| Some(value.map_or(to, |value| value.min(to)));
    let limit = Rlimit { current: least(known.current), maximum: least(known.maximum) };
    setrlimit(resource, limit)
        .map_err(|error| failed(&format!("cannot set the limit {resource:?}: {error}")))
}

fn filter(calls: &Calls) -> Result<(), SandboxError> {
    let bad = |error: seccompiler::BackendError| failed(&format!("cannot filter calls: {error}"));
    let new_user = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(CLONE_NEWUSER),
        CLONE_NEWUSER,
    )
    .map_err(bad)?;
    let rule = SeccompRule::new(vec![new_user]).map_err(bad)?;
    let namespaces = both([calls.clone, calls.unshare]).map(|call| (call, vec![rule.clone()]));
    // The flags of clone3 are in memory, where a filter cannot look; its callers fall back to clone.
    let absent = both([calls.clone3].into_iter().chain(calls.key_rings)).map(|call| (call, vec![]));
    install(namespaces.collect(), EPERM, calls.arch)?;
    install(absent.collect(), ENOSYS, calls.arch)
}

fn both(calls: impl IntoIterator<Item = i64>) -> impl Iterator<Item = i64> {
    calls.into_iter().flat_map(|call| [call, call | X32])
}

fn install(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    error: u32,
    arch: TargetArch,
) -> Result<(), SandboxError> {
    let refused = SeccompAction::Errno(error);
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)
        .and_then(TryInto::try_into)
        .map_err(|error| failed(&format!("cannot filter calls: {error}")))?;
    seccompiler::apply_filter(&program)
        .map_err(|error| failed(&format!("cannot filter calls: {error}")))
}
