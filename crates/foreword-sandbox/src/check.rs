//! Tests a sandbox from inside: what does it guarantee on this machine?
//!
//! A workspace made for the purpose is run in the sandbox with a program that tries what it should not be
//! able to do (`launcher/probe.rs`). What a sandbox promises and what was found are both reported, so a
//! promise that does not hold is seen.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::backends::subprocess::Launcher;
use crate::error::SandboxError;
use crate::launcher::probe::{Achieved, PROBE_MEMORY_BYTES, PROBE_PROCESSES, ProbePlan, Topic};
use crate::limits::Limits;
use crate::monitor::Monitor;
use crate::sandbox::{DEFAULT_PATH, Sandbox};
use crate::spec::SandboxSpec;

/// The governed files of the test workspace.
const GOVERNED: [&str; 4] = ["foreword.toml", "AGENTS.md", "skills/notes/SKILL.md", ".git/config"];

/// The exit code of a container whose program got SIGKILL.
const KILLED: i32 = 128 + 9;

/// What to test with.
pub struct Check<'a> {
    pub sandbox: &'a dyn Sandbox,
    /// The launcher, which is also the program that tries things.
    pub launcher: &'a Launcher,
    /// An empty directory of the person, for the test workspace.
    pub scratch: &'a Path,
    /// The person's home, which must not be readable.
    pub home: Option<&'a Path>,
    /// Files that must not be readable, such as the audit key.
    pub keys: Vec<PathBuf>,
    /// The limits that agents have.
    pub limits: Limits,
}

/// One guarantee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub topic: Topic,
    /// Whether the sandbox promises it.
    pub promised: bool,
    /// What could be done all the same; nothing if it holds.
    pub found: Vec<String>,
}

impl Point {
    #[must_use]
    pub fn holds(&self) -> bool {
        self.found.is_empty()
    }
}

impl Check<'_> {
    /// Runs all tests; one point per topic, in a fixed order.
    pub fn run(&self) -> Result<Vec<Point>, SandboxError> {
        let scene = Scene::create(self.scratch)?;
        let mut found = self.probe(&scene, "look", self.limits)?;
        if scene.heard_udp() {
            found.entry(Topic::Network).or_default().push("UDP to this machine".into());
        }
        let few = Limits { processes: PROBE_PROCESSES, ..self.limits };
        let little = Limits { memory_bytes: PROBE_MEMORY_BYTES, ..self.limits };
        for (part, limits) in [("processes", few), ("memory", little)] {
            for (topic, more) in self.probe(&scene, part, limits)? {
                found.entry(topic).or_default().extend(more);
            }
        }
        let guarantees = self.sandbox.guarantees();
        let promised = |topic| match topic {
            Topic::Workspace => true,
            Topic::Network => guarantees.network,
            Topic::Home | Topic::Keys => guarantees.home_hidden,
            Topic::Governed => guarantees.governed_read_only,
            Topic::Private => guarantees.private_hidden,
            Topic::Limits => guarantees.limits,
            Topic::KernelCalls => guarantees.kernel_calls,
        };
        let point = |(topic, found)| Point { topic, promised: promised(topic), found };
        Ok(found.into_iter().map(point).collect())
    }

    /// Runs one part inside. One that was ended for what it used achieved nothing.
    fn probe(&self, scene: &Scene, part: &str, limits: Limits) -> Result<Achieved, SandboxError> {
        let spec = self.spec(scene, part, limits)?;
        let plan = self.plan(scene, &spec);
        let plan = serde_json::to_vec(&plan).map_err(|error| failed(part, error))?;
        let mut command = self.sandbox.command(&spec)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(part, error))?;
        let watched = Monitor::default().watch(child.id(), limits, scene.workspace.clone());
        if let Some(mut stdin) = child.stdin.take() {
            // One that ended before it read this is seen below.
            let _ = stdin.write_all(&plan);
        }
        let output = child.wait_with_output().map_err(|error| failed(part, error))?;
        // With control groups the kernel ends a container for its memory before we look.
        let by_kernel = part == "memory" && output.status.code() == Some(KILLED);
        if watched.exceeded().is_some() || by_kernel {
            return Ok(BTreeMap::new());
        }
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(failed(part, format!("{} {complaint}", output.status)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| failed(part, error))
    }

    fn spec(&self, scene: &Scene, part: &str, limits: Limits) -> Result<SandboxSpec, SandboxError> {
        let mut args = Vec::new();
        for arg in &self.launcher.command {
            let arg = arg.to_str().ok_or_else(|| failed(part, "the launcher's name is no text"))?;
            args.push(arg.to_owned());
        }
        args.extend(["--probe", "--", part].map(String::from));
        let program = fs::canonicalize(&self.launcher.program)
            .map_err(|source| SandboxError::Io { path: self.launcher.program.clone(), source })?;
        Ok(SandboxSpec {
            workspace: scene.workspace.clone(),
            cwd: scene.workspace.clone(),
            writable: true,
            governed: GOVERNED.iter().map(|file| scene.workspace.join(file)).collect(),
            private: vec![scene.workspace.join(".foreword")],
            home: self.home.map(Path::to_path_buf),
            program,
            args,
            read_only: self.launcher.library.iter().cloned().collect(),
            run_dir: scene.run_dir.clone(),
            bridge_ports: None,
            limits,
            env: BTreeMap::from([("PATH".into(), DEFAULT_PATH.into())]),
        })
    }

    fn plan(&self, scene: &Scene, spec: &SandboxSpec) -> ProbePlan {
        // HOME and PATH are always set, and the other two by bubblewrap and the subprocess.
        let mut variables: Vec<String> = spec.env.keys().cloned().collect();
        variables.extend(["HOME", "PWD", "TMPDIR", "container", "HOSTNAME"].map(String::from));
        ProbePlan {
            tcp: scene.tcp.local_addr().map_or(0, |addr| addr.port()),
            udp: scene.udp.local_addr().map_or(0, |addr| addr.port()),
            socket: scene.socket.clone(),
            abstract_socket: scene.abstract_socket.clone(),
            host: std::process::id(),
            home: self.home.map(Path::to_path_buf),
            keys: self.keys.clone(),
            variables,
            governed: spec.governed.clone(),
            private: vec![scene.workspace.join(".foreword/foreword.db")],
            new_file: scene.workspace.join("src/made-inside.txt"),
            open_files: spec.limits.open_files,
            file_bytes: spec.limits.file_bytes,
            temporary_bytes: spec.limits.temporary_bytes,
            shared_memory_bytes: spec.limits.shared_memory_bytes(),
        }
    }
}

/// A workspace with something of every kind, and sockets that must not be reached.
struct Scene {
    workspace: PathBuf,
    run_dir: PathBuf,
    tcp: TcpListener,
    udp: UdpSocket,
    socket: PathBuf,
    abstract_socket: String,
    _listeners: [UnixListener; 2],
}

impl Scene {
    fn create(scratch: &Path) -> Result<Self, SandboxError> {
        let io = |source| SandboxError::Io { path: scratch.to_path_buf(), source };
        let scratch = fs::canonicalize(scratch).map_err(io)?;
        let (workspace, run_dir) = (scratch.join("workspace"), scratch.join("run"));
        for file in GOVERNED.into_iter().chain([".foreword/foreword.db", "src/main.txt"]) {
            let path = workspace.join(file);
            fs::create_dir_all(path.parent().unwrap_or(&workspace)).map_err(io)?;
            fs::write(&path, "test\n").map_err(io)?;
        }
        fs::create_dir_all(&run_dir).map_err(io)?;
        Self::listen(&scratch, workspace, run_dir).map_err(io)
    }

    fn listen(scratch: &Path, workspace: PathBuf, run_dir: PathBuf) -> io::Result<Self> {
        let socket = scratch.join("outside.sock");
        let abstract_socket = format!("foreword-check-{}", std::process::id());
        let name = SocketAddr::from_abstract_name(&abstract_socket)?;
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        udp.set_nonblocking(true)?;
        Ok(Self {
            workspace,
            run_dir,
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            udp,
            _listeners: [UnixListener::bind(&socket)?, UnixListener::bind_addr(&name)?],
            socket,
            abstract_socket,
        })
    }

    fn heard_udp(&self) -> bool {
        self.udp.recv(&mut [0; 8]).is_ok()
    }
}

fn failed(part: &str, error: impl std::fmt::Display) -> SandboxError {
    SandboxError::Launcher { message: format!("the test `{part}` could not run: {error}") }
}
