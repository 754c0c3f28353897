//! The sandbox trait and its guarantees.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};

use foreword::SandboxKind;

use crate::error::SandboxError;
use crate::spec::SandboxSpec;

/// The session's directory inside a sandbox with its own file system.
pub const RUN_DIR_INSIDE: &str = "/run/foreword";
/// The agent's home inside a sandbox with its own file system: empty and temporary.
pub const HOME_INSIDE: &str = "/tmp/home";
/// Where programs are looked for, unless the spec says otherwise.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// A way to run a program so that it cannot reach past its workspace.
pub trait Sandbox: Send + Sync + fmt::Debug {
    /// Which one it is.
    fn kind(&self) -> SandboxKind;

    /// The name as written in settings and prompts.
    fn name(&self) -> &'static str {
        self.kind().as_str()
    }

    /// What it guarantees on this machine.
    fn guarantees(&self) -> Guarantees;

    /// The command that runs the program of the spec inside.
    ///
    /// The caller sets up the three streams and spawns it. Where the sandbox dies with its host, it
    /// dies with the *thread* that spawned it: that is how Linux counts. So spawn from a thread that
    /// lives as long as the session.
    fn command(&self, spec: &SandboxSpec) -> Result<Command, SandboxError>;

    /// Where [`SandboxSpec::run_dir`] is for the program inside.
    fn run_dir_inside(&self, _spec: &SandboxSpec) -> PathBuf {
        PathBuf::from(RUN_DIR_INSIDE)
    }

    /// Ends everything that runs in it, and waits for the command itself.
    fn end(&self, child: &mut Child) -> io::Result<()> {
        child.kill()?;
        child.wait().map(|_| ())
    }
}

/// The guarantees of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Guarantees {
    /// No address can be reached but what listens inside, such as the model bridge.
    pub network: bool,
    /// Governed files that exist cannot be written, replaced or removed.
    pub governed_read_only: bool,
    /// Nothing in the private directories can be read or written.
    pub private_hidden: bool,
    /// The person's home cannot be read, except the workspace and the paths in the spec.
    pub home_hidden: bool,
    /// Killing the host ends every process inside.
    pub dies_with_host: bool,
    /// Processes, memory and files are limited.
    pub limits: bool,
    /// No user namespaces can be made inside, and no key rings read.
    pub kernel_calls: bool,
}

impl Guarantees {
    /// Whether governance is only asked for and not enforced: prompt and log have to say so.
    #[must_use]
    pub fn advisory(self) -> bool {
        !(self.governed_read_only && self.private_hidden)
    }

    /// The missing guarantees, as sentences for prompts and logs.
    #[must_use]
    pub fn gaps(self) -> Vec<&'static str> {
        let gaps = [
            (self.network, "the network can be reached"),
            (self.governed_read_only, "governed files can be written"),
            (self.private_hidden, "private files can be read"),
            (self.home_hidden, "the person's home can be read"),
            (self.dies_with_host, "processes may outlive a host that is killed"),
            (self.limits, "processes, memory and files are not limited"),
            (self.kernel_calls, "user namespaces can be created"),
        ];
        gaps.into_iter().filter(|(promised, _)| !promised).map(|(_, gap)| gap).collect()
    }
}
