//! The process of a server: started by a thread of its own, with which its sandbox lives and ends.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use foreword_gather::written_key_fault;
use foreword_guard::{HostKind, HttpUrl};
use foreword_mcp::{ClientLimits, McpClient, McpClientError};
use foreword_sandbox::{DEFAULT_PATH, Limits, Sandbox, SandboxSpec, Watched};
use foreword_workspace::{McpServer, PersonalServer, SETTINGS_FILE, expand_variables};

use super::ServerFault;
use super::outside;
use super::program::{Download, LocatedProgram, download, locate, locate_inside};
use crate::error::HostError;
use crate::host::Host;
use crate::kept_output::KeptOutput;
use crate::random::random_hex;
use crate::turn::run_dir::RunDir;

/// How much of a server's standard error is kept, from its end.
const MAX_STDERR_BYTES: usize = 2 << 10;
/// How long to wait for what a server wrote before it failed; it may still run.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Variables of the person that every program outside the sandbox gets.
const OUTSIDE_VARIABLES: [&str; 9] =
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR", "XDG_CACHE_HOME"];

/// What tells package runners that there is no network, so that they fail at once instead of trying until the
/// time is up.
const OFFLINE: [(&str, &str); 5] = [
    ("npm_config_offline", "true"),
    ("npm_config_fetch_retries", "0"),
    ("YARN_ENABLE_NETWORK", "0"),
    ("UV_OFFLINE", "1"),
    ("PIP_NO_INDEX", "1"),
];

/// Where servers of a turn run.
#[derive(Clone, Debug)]
pub(crate) struct ServerPlace {
    pub(crate) sandbox: Arc<dyn Sandbox>,
    /// Whether they may write in the workspace.
    pub(crate) writable: bool,
    /// What they may read and not write.
    pub(crate) governed: Vec<PathBuf>,
    pub(crate) private: Vec<PathBuf>,
    pub(crate) limits: Limits,
}

impl ServerPlace {
    /// Beside the agent of a turn.
    pub(crate) fn of(sandbox: &Arc<dyn Sandbox>, spec: &SandboxSpec) -> Self {
        Self {
            sandbox: Arc::clone(sandbox),
            writable: spec.writable,
            governed: spec.governed.clone(),
            private: spec.private.clone(),
            limits: spec.limits,
        }
    }
}

/// A server that runs, or is reached.
#[derive(Debug)]
pub(super) struct RunningServer {
    pub(super) client: McpClient,
    process: Option<ServerProcess>,
}

impl RunningServer {
    /// An error with what the server wrote about it.
    pub(super) fn fault(&self, error: McpClientError) -> ServerFault {
        let said = self.process.as_ref().map(ServerProcess::said).unwrap_or_default();
        ServerFault::Client { error, said }
    }
}

/// A process and the thread that holds it. Dropping it ends both.
#[derive(Debug)]
struct ServerProcess {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    stderr: KeptOutput,
    _watched: Option<Watched>,
}

impl ServerProcess {
    fn said(&self) -> String {
        let text = self.stderr.text(LAST_WORDS);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() { line } else { format!(" ({})", foreword::visible_line(&line)) }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Host {
    /// Starts a server or reaches it, and introduces us.
    pub(super) fn start_server(
        &self,
        server: &McpServer,
        personal: Option<&PersonalServer>,
        place: &ServerPlace,
    ) -> Result<RunningServer, ServerFault> {
        // A key must be the person's, not the workspace's.
        if let Some(fault) = written_key_fault(server) {
            return Err(ServerFault::Key(fault));
        }
        let limits = ClientLimits {
            start: Duration::from_secs(server.start_seconds),
            call: Duration::from_secs(server.call_seconds),
            max_message_bytes: usize::try_from(server.max_answer_bytes).unwrap_or(usize::MAX),
        };
        let lookup = |name: &str| {
            let own = personal.and_then(|personal| personal.env.get(name).cloned());
            own.or_else(|| (self.options.environment)(name))
        };
        let expanded = |values: &BTreeMap<String, String>| expanded(values, &lookup);
        if let Some(url) = &server.url {
            let is_here =
                HttpUrl::parse(url).is_ok_and(|url| url.host().kind() == HostKind::Loopback);
            if !is_here && personal.is_none() {
                let settings = self.options.config_dir.join(SETTINGS_FILE);
                return Err(ServerFault::Elsewhere { url: url.clone(), settings });
            }
            let url =
                expand_variables(url, &lookup).map_err(|name| ServerFault::NoVariable { name })?;
            let headers = expanded(&server.headers)?.into_iter().collect();
            let client = McpClient::over_http(&url, headers, limits)
                .map_err(|error| ServerFault::Client { error, said: String::new() })?;
            return Ok(RunningServer { client, process: None });
        }
        let mut words = Vec::with_capacity(server.command.len());
        for word in &server.command {
            let word = expand_variables(word, &lookup);
            words.push(word.map_err(|name| ServerFault::NoVariable { name })?);
        }
        let mut env = expanded(&server.env)?;
        let own = personal.map(|personal| personal.env.clone());
        env.extend(own.unwrap_or_default());
        let Some((program, args)) = words.split_first() else {
            return Err(ServerFault::Start("it has no command".to_owned()));
        };
        let path = (self.options.environment)("PATH").unwrap_or_default();
        let is_outside = personal.is_some_and(|personal| personal.outside);
        let (process, output, input) = if is_outside {
            self.start_outside(&locate(program, &self.root, &path)?, args, env)?
        } else {
            let hidden = self.options.home.as_deref();
            let program = locate_inside(program, &self.root, &path, hidden)?;
            self.start_inside(program, args, env, place)?
        };
        match McpClient::over_pipes(output, input, limits) {
            Ok(client) => Ok(RunningServer { client, process: Some(process) }),
            Err(error) => {
                let said = process.said();
                Err(match download(program, args).filter(|_| !is_outside) {
                    Some(Download { program, package }) => {
                        let is_offline = place.sandbox.guarantees().network;
                        ServerFault::Download { program, package, is_offline, error, said }
                    }
                    None => ServerFault::Client { error, said },
                })
            }
        }
    }

    fn start_outside(
        &self,
        program: &LocatedProgram,
        args: &[String],
        env: BTreeMap<String, String>,
    ) -> Result<(ServerProcess, OwnedFd, OwnedFd), ServerFault> {
        let args = outside::checked(program, args, &self.root)?;
        outside::check_variables(&env, &self.root)?;
        let mut command = Command::new(&program.found);
        let run_dir = RunDir::create(&self.options.run_base, &random_hex::<8>()?, &self.owner)?;
        command.args(args).current_dir(run_dir.shared()).env_clear().process_group(0);
        for name in OUTSIDE_VARIABLES {
            if let Some(value) = (self.options.environment)(name) {
                let value =
                    if name == "PATH" { outside::search_path(&value, &self.root) } else { value };
                command.env(name, value);
            }
        }
        command.envs(env);
        spawn(command, None, run_dir, None)
    }

    fn start_inside(
        &self,
        program: LocatedProgram,
        args: &[String],
        mut env: BTreeMap<String, String>,
        place: &ServerPlace,
    ) -> Result<(ServerProcess, OwnedFd, OwnedFd), ServerFault> {
        let run_dir = RunDir::create(&self.options.run_base, &random_hex::<8>()?, &self.owner)?;
        let mut path: Vec<String> =
            program.path.iter().map(|path| path.display().to_string()).collect();
        path.push(DEFAULT_PATH.to_owned());
        env.entry("PATH".to_owned()).or_insert_with(|| path.join(":"));
        for name in ["LANG", "LC_ALL", "TZ"] {
            if let Some(value) = (self.options.environment)(name) {
                env.entry(name.to_owned()).or_insert(value);
            }
        }
        if place.sandbox.guarantees().network {
            for (name, value) in OFFLINE {
                env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
        let shared = run_dir.shared();
        let shared = shared
            .canonicalize()
            .map_err(|error| HostError::io(format!("open {}", shared.display()), error))?;
        let spec = SandboxSpec {
            workspace: self.root.clone(),
            cwd: self.root.clone(),
            writable: place.writable,
            governed: place.governed.clone(),
            private: place.private.clone(),
            home: self.options.home.clone(),
            program: program.program,
            args: args.to_vec(),
            read_only: program.read_only,
            run_dir: shared,
            bridge_ports: None,
            limits: place.limits,
            env,
        };
        let mut command = place.sandbox.command(&spec).map_err(HostError::from)?;
        if place.sandbox.kind() != foreword_sandbox::SandboxKind::Subprocess {
            command.process_group(0);
        }
        let watch = |pid: u32| self.monitor.watch(pid, spec.limits, spec.workspace.clone());
        spawn(command, Some(Arc::clone(&place.sandbox)), run_dir, Some(&watch))
    }
}

/// Starts a process in a thread that lives as long: a sandbox ends with the thread that started it. The
/// directory is removed after it.
fn spawn(
    mut command: Command,
    inside: Option<Arc<dyn Sandbox>>,
    run_dir: RunDir,
    watch: Option<&dyn Fn(u32) -> Watched>,
) -> Result<(ServerProcess, OwnedFd, OwnedFd), ServerFault> {
    let failed = |error: std::io::Error| ServerFault::Start(error.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (started, is_started) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let thread = thread::Builder::new()
        .name("foreword-mcp-server".to_owned())
        .spawn(move || {
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => return drop(started.send(Err(error))),
            };
            let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
            let _ = started.send(Ok((child.id(), pipes)));
            // Nobody sends anything: this returns when the other end is dropped.
            let _ = ended.recv();
            match inside {
                Some(sandbox) => {
                    if let Err(error) = sandbox.end(&mut child) {
                        tracing::warn!("cannot end an MCP server: {error}");
                    }
                }
                None => end_group(&mut child),
            }
            let _ = child.wait();
            drop(run_dir);
        })
        .map_err(failed)?;
    let gone = || ServerFault::Start("its thread ended".to_owned());
    let (pid, pipes) = is_started.recv().map_err(|_| gone())?.map_err(failed)?;
    let (Some(output), Some(input), Some(errors)) = pipes else { return Err(gone()) };
    let stderr = KeptOutput::of(errors, MAX_STDERR_BYTES).map_err(failed)?;
    let watched = watch.map(|watch| watch(pid));
    let process = ServerProcess { end: Some(end), thread: Some(thread), stderr, _watched: watched };
    Ok((process, output.into(), input.into()))
}

/// Ends a process outside the sandbox, and its group.
fn end_group(child: &mut Child) {
    if let Ok(Some(pid)) = i32::try_from(child.id()).map(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

/// Values with the person's variables in them.
fn expanded(
    values: &BTreeMap<String, String>,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, ServerFault> {
    let mut out = BTreeMap::new();
    for (name, value) in values {
        let value = expand_variables(value, lookup);
        let value = value.map_err(|name| ServerFault::NoVariable { name })?;
        out.insert(name.clone(), value);
    }
    Ok(out)
}
