//! Which process calls the bridge.
//!
//! The key of the bridge is in the environment of the program that the agent started, and every command
//! this program runs inherits it. So the key alone does not tell the program from its commands. The
//! first process that shows the key is the program itself: no command runs before the model has
//! answered once. From then on the bridge serves this process only.
//!
//! The kernel says which process has the other end of a connection: `/proc/net/tcp` has the number of
//! the socket and `/proc/PID/fd` the sockets of a process. Where these files do not exist (macOS), the
//! key is all that is checked. A command that takes over the program, for example with a debugger,
//! passes; what its calls may ask for is up to the host in any case.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use foreword_protocol::{PeerSocket, peer_socket};

/// The deepest process below the agent that may be the program.
const MAX_DEPTH: usize = 64;

/// The process that the bridge serves, once it is known.
#[derive(Debug, Default)]
pub(super) struct Caller {
    program: Mutex<Option<Process>>,
}

/// A process; its start time tells it from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    started: u64,
}

impl Caller {
    /// Whether a connection comes from the program. The first one to ask is the program if it is the
    /// agent itself or descends from it.
    pub(super) fn is_program(&self, stream: &TcpStream) -> bool {
        let inode = match peer_socket(stream) {
            Ok(Some(PeerSocket { inode, .. })) => inode,
            Ok(None) => return false,
            // This system does not say.
            Err(error) => return error.kind() == io::ErrorKind::NotFound,
        };
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        match *program {
            Some(known) => Process::of(known.pid) == Some(known) && has_socket(known.pid, inode),
            None => {
                *program = owner_below(std::process::id(), inode);
                program.is_some()
            }
        }
    }
}

impl Process {
    fn of(pid: u32) -> Option<Self> {
        Some(Self { pid, started: stat(pid)?.1 })
    }
}

/// The process with this socket that is closest below `root`, or is `root` itself.
fn owner_below(root: u32, inode: u64) -> Option<Process> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: BTreeMap<u32, u32> =
        pids.filter_map(|pid| stat(pid).map(|(parent, _)| (pid, parent))).collect();
    let depth = |pid: u32| {
        let up = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
        up.take(MAX_DEPTH).position(|above| above == root)
    };
    let mut below: Vec<(usize, u32)> =
        parents.keys().filter_map(|pid| Some((depth(*pid)?, *pid))).collect();
    below.sort_unstable();
    let (_, pid) = below.into_iter().find(|(_, pid)| has_socket(*pid, inode))?;
    Process::of(pid)
}

/// The parent and the start time of a process.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some((parent, started))
}

fn has_socket(pid: u32, inode: u64) -> bool {
    let wanted = format!("socket:[{inode}]");
    let wanted = Path::new(&wanted);
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|target| target == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_parent_and_a_start() {
        if Path::new("/proc/self/stat").exists() {
            let (parent, started) = stat(std::process::id()).unwrap();
            assert_eq!(parent, std::os::unix::process::parent_id());
            assert!(started > 0);
            assert_eq!(stat(0), None);
        }
    }
}
