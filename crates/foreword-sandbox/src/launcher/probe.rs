//! Tries from inside what a sandbox should prevent, for [`check`](crate::check).
//!
//! It runs as the program of a sandbox, reads a [`ProbePlan`] and writes what it achieved. It only touches
//! what the plan names: files made for it, and places that it must not be able to read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::error::SandboxError;
use crate::launcher::failed;

/// How long the parts that use too much wait to be ended.
const WAIT: Duration = Duration::from_secs(5);
/// The plan is short.
const MAX_PLAN_BYTES: u64 = 1 << 20;

/// What to try.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ProbePlan {
    /// Ports of this machine on which the host listens.
    pub(crate) tcp: u16,
    pub(crate) udp: u16,
    /// Sockets of the host that are not the session's.
    pub(crate) socket: PathBuf,
    pub(crate) abstract_socket: String,
    pub(crate) host: u32,
    pub(crate) home: Option<PathBuf>,
    pub(crate) keys: Vec<PathBuf>,
    /// The variables that it has.
    pub(crate) variables: Vec<String>,
    pub(crate) governed: Vec<PathBuf>,
    pub(crate) private: Vec<PathBuf>,
    /// A file to create.
    pub(crate) new_file: PathBuf,
    pub(crate) open_files: u64,
    pub(crate) file_bytes: u64,
    pub(crate) temporary_bytes: u64,
    pub(crate) shared_memory_bytes: u64,
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The workspace can be worked in.
    Workspace,
    /// Connections to anything outside.
    Network,
    /// The person's home.
    Home,
    /// Keys of the person: the audit key, variables, the host's memory.
    Keys,
    /// Writing governed files.
    Governed,
    /// Reading `.foreword`.
    Private,
    /// Processes, memory, files.
    Limits,
    /// User namespaces and key rings.
    KernelCalls,
}

/// What was achieved that should not be, by topic; an empty list is a topic that held.
pub(crate) type Achieved = BTreeMap<Topic, Vec<String>>;

/// Runs one part and writes what it achieved.
pub(crate) fn probe(command: &[OsString]) -> Result<u8, SandboxError> {
    let part = command.first().and_then(|part| part.to_str()).unwrap_or_default();
    let io = |error: std::io::Error| failed(&format!("probe: {error}"));
    let mut text = String::new();
    std::io::stdin().take(MAX_PLAN_BYTES).read_to_string(&mut text).map_err(io)?;
    let plan: ProbePlan =
        serde_json::from_str(&text).map_err(|error| failed(&format!("probe: {error}")))?;
    let achieved = match part {
        "look" => look(&plan),
        "processes" => processes(),
        "memory" => memory(),
        other => return Err(failed(&format!("unknown probe `{other}`"))),
    };
    let text =
        serde_json::to_string(&achieved).map_err(|error| failed(&format!("probe: {error}")))?;
    std::io::stdout().write_all(text.as_bytes()).map_err(io)?;
    Ok(0)
}

fn look(plan: &ProbePlan) -> Achieved {
    let mut achieved = BTreeMap::from([
        (Topic::Workspace, workspace(plan)),
        (Topic::Network, network(plan)),
        (Topic::Home, plan.home.iter().flat_map(|home| home_of(home)).collect()),
        (Topic::Keys, keys(plan)),
        (Topic::Governed, plan.governed.iter().flat_map(|path| written(path)).collect()),
        (Topic::Private, readable(&plan.private)),
        (Topic::Limits, limits(plan)),
    ]);
    // The last, because it may change this process.
    achieved.insert(Topic::KernelCalls, kernel_calls());
    achieved
}

fn workspace(plan: &ProbePlan) -> Vec<String> {
    let made = fs::write(&plan.new_file, "made inside\n");
    made.err()
        .map(|error| format!("{} cannot be created: {error}", plan.new_file.display()))
        .into_iter()
        .collect()
}

fn network(plan: &ProbePlan) -> Vec<String> {
    let mut reached = Vec::new();
    let tcp = SocketAddr::from((Ipv4Addr::LOCALHOST, plan.tcp));
    if TcpStream::connect_timeout(&tcp, Duration::from_secs(1)).is_ok() {
        reached.push("TCP to this machine".into());
    }
    // Whether it arrives is for the host to see.
    let _ = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|socket| socket.send_to(b"probe", (Ipv4Addr::LOCALHOST, plan.udp)));
    if UnixStream::connect(&plan.socket).is_ok() {
        reached.push("Unix sockets with a path".into());
    }
    let name = std::os::unix::net::SocketAddr::from_abstract_name(&plan.abstract_socket);
    if name.and_then(|name| UnixStream::connect_addr(&name)).is_ok() {
        reached.push("abstract Unix sockets".into());
    }
    reached
}

fn home_of(home: &Path) -> Vec<String> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let seen = entries.map(|entry| entry.path()).next();
    seen.map(|path| format!("{} can be listed", path.display())).into_iter().collect()
}

fn keys(plan: &ProbePlan) -> Vec<String> {
    let mut found = readable(&plan.keys);
    let environment = PathBuf::from(format!("/proc/{}/environ", plan.host));
    if fs::read(environment).is_ok_and(|text| !text.is_empty()) {
        found.push("the environment of the host can be read".into());
    }
    let own = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    found.extend(
        own.filter(|name| !plan.variables.contains(name))
            .map(|name| format!("the variable {name} is inherited")),
    );
    found
}

fn readable(paths: &[PathBuf]) -> Vec<String> {
    let read = |path: &&PathBuf| {
        let mut byte = [0];
        File::open(path).and_then(|mut file| file.read(&mut byte)).is_ok_and(|read| read > 0)
    };
    paths.iter().filter(read).map(|path| format!("{} can be read", path.display())).collect()
}

/// The ways in which a governed file could be changed.
fn written(path: &Path) -> Vec<String> {
    let away = path.with_extension("away");
    let mut done = Vec::new();
    if OpenOptions::new().append(true).open(path).is_ok() {
        done.push("written");
    }
    if fs::rename(path, &away).is_ok() {
        done.push("moved");
        let _ = fs::rename(&away, path);
    }
    if fs::remove_file(path).is_ok() {
        done.push("removed");
        // The next parts start in the same workspace.
        let _ = fs::write(path, "test\n");
    }
    done.into_iter().map(|how| format!("{} can be {how}", path.display())).collect()
}

fn limits(plan: &ProbePlan) -> Vec<String> {
    let mut missing = Vec::new();
    let mut files = Vec::new();
    let most = usize::try_from(plan.open_files).unwrap_or(usize::MAX);
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
        if files.len() > most {
            missing.push(format!("more than {most} files can be open"));
            break;
        }
    }
    drop(files);
    let within = |resource, most: u64| getrlimit(resource).maximum.is_some_and(|is| is <= most);
    if !within(Resource::Fsize, plan.file_bytes) {
        missing.push("the size of a file has no limit".into());
    }
    if !within(Resource::Core, 0) {
        missing.push("core dumps are written".into());
    }
    for (path, most) in [
        ("/tmp", plan.temporary_bytes),
        ("/dev/shm", plan.shared_memory_bytes),
        // An engine of containers mounts a small one there, which counts as memory of the container.
        ("/dev", plan.shared_memory_bytes),
        ("/", 0),
    ] {
        if in_memory_without_limit(Path::new(path), most) {
            missing.push(format!("{path} can take more than {most} bytes of memory"));
        }
    }
    missing
}

/// Whether files can be created in a directory that is in memory and larger than it should be.
fn in_memory_without_limit(path: &Path, most: u64) -> bool {
    let name = path.join(format!("foreword-probe-{}", std::process::id()));
    if File::create_new(&name).is_err() {
        return false;
    }
    let _ = fs::remove_file(&name);
    const TMPFS: u64 = 0x0102_1994;
    let in_memory =
        rustix::fs::statfs(path).is_ok_and(|about| u64::try_from(about.f_type) == Ok(TMPFS));
    let size = rustix::fs::statvfs(path).map(|about| about.f_blocks.saturating_mul(about.f_frsize));
    in_memory && size.is_ok_and(|size| size == 0 || size > most)
}

#[expect(deprecated, reason = "sound here: no file descriptors are unshared")]
fn kernel_calls() -> Vec<String> {
    let mut allowed = Vec::new();
    if rustix::thread::unshare(rustix::thread::UnshareFlags::NEWUSER).is_ok() {
        allowed.push("user namespaces can be created".into());
    }
    allowed
}

/// Starts more threads than the probe's limit allows, and waits to be ended.
fn processes() -> Achieved {
    let mut started = 0;
    for _ in 0..2 * PROBE_PROCESSES {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        if thread.spawn(|| std::thread::sleep(WAIT)).is_err() {
            return BTreeMap::from([(Topic::Limits, Vec::new())]);
        }
        started += 1;
    }
    std::thread::sleep(WAIT);
    BTreeMap::from([(Topic::Limits, vec![format!("{started} threads could run")])])
}

/// Uses more memory than the probe's limit allows, and waits to be ended.
fn memory() -> Achieved {
    let size = usize::try_from(2 * PROBE_MEMORY_BYTES).unwrap_or_default();
    let used = vec![1_u8; size];
    std::thread::sleep(WAIT);
    let sum: usize = used.iter().step_by(4096).map(|b| usize::from(*b)).sum();
    BTreeMap::from([(Topic::Limits, vec![format!("{} MiB of memory could be used", sum >> 8)])])
}

/// The limits under which these two parts run.
pub(crate) const PROBE_PROCESSES: u64 = 64;
pub(crate) const PROBE_MEMORY_BYTES: u64 = 64 << 20;
