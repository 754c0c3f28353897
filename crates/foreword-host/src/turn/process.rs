//! The agent's process: starting it in its sandbox, reading its events, ending it.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use foreword_protocol::{AgentEvent, FrameError, Frames, MAX_EVENT_BYTES};
use foreword_sandbox::{Monitor, Sandbox, SandboxKind, SandboxSpec, Watched};

use crate::error::HostError;
use crate::kept_output::KeptOutput;
use crate::turn::active_session::ActiveSession;
use crate::turn::start_gate::StartPermit;

/// How much of the agent's standard error is kept, from its end.
const MAX_STDERR_BYTES: usize = 8 << 10;
/// How often limits and cancellation are checked.
const TICK: Duration = Duration::from_millis(50);
/// How long an agent may take to exit after its last event.
const GRACE: Duration = Duration::from_secs(2);

/// How long to wait for what an agent wrote before it exited.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running agent. Dropping it ends the agent and everything it started.
pub(crate) struct AgentProcess<'s> {
    sandbox: &'s dyn Sandbox,
    child: Child,
    watched: Watched,
    events: Receiver<OutputLine>,
    stderr: Option<KeptOutput>,
    /// Until the agent has started.
    permit: Option<StartPermit>,
    began: Instant,
    waited: Duration,
}

enum OutputLine {
    Event(Box<AgentEvent>),
    Invalid(String),
}

impl<'s> AgentProcess<'s> {
    /// Starts the agent and gives it its job. The sandbox ends with the thread that calls this.
    pub(crate) fn start(
        sandbox: &'s dyn Sandbox,
        spec: &SandboxSpec,
        job: String,
        monitor: &Monitor,
        permit: StartPermit,
    ) -> Result<Self, HostError> {
        let mut command = sandbox.command(spec)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in the terminal is for the host, which then ends the agent. A subprocess leaves the
        // terminal's session on its own, which a process group leader cannot.
        if sandbox.kind() != SandboxKind::Subprocess {
            command.process_group(0);
        }
        let mut child = command.spawn().map_err(|error| {
            HostError::io(format!("start the sandbox {}", sandbox.name()), error)
        })?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, events) = mpsc::sync_channel(8);
        let watched = monitor.watch(child.id(), spec.limits, spec.workspace.clone());
        let mut process = Self {
            sandbox,
            child,
            watched,
            events,
            stderr: None,
            permit: Some(permit),
            began: Instant::now(),
            waited: Duration::ZERO,
        };
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new()
                .name(format!("foreword-{name}"))
                .spawn(work)
                .map_err(|error| HostError::io("start a thread", error))
        };
        if let Some(mut stdin) = stdin {
            // An agent that does not read its job runs into `host.silent_seconds`.
            spawn("job", Box::new(move || drop(stdin.write_all(job.as_bytes()))))?;
        }
        if let Some(stdout) = stdout {
            spawn(
                "events",
                Box::new(move || read_events(Frames::new(stdout, MAX_EVENT_BYTES), &sender)),
            )?;
        }
        if let Some(stderr) = stderr {
            let kept = KeptOutput::of(stderr, MAX_STDERR_BYTES);
            process.stderr = Some(kept.map_err(|error| HostError::io("start a thread", error))?);
        }
        Ok(process)
    }

    /// The agent's next event; `None` once it has ended. `tick` is called while there is none.
    pub(crate) fn next(
        &mut self,
        active: &ActiveSession,
        tick: &mut dyn FnMut(),
    ) -> Result<Option<AgentEvent>, HostError> {
        let since = Instant::now();
        let next = self.wait(active, tick);
        self.waited += since.elapsed();
        next
    }

    /// How long the host has waited for the agent.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    fn wait(
        &mut self,
        active: &ActiveSession,
        tick: &mut dyn FnMut(),
    ) -> Result<Option<AgentEvent>, HostError> {
        loop {
            // Also an agent that writes without pause runs into the limits.
            self.check(active)?;
            let next = self.events.recv_timeout(TICK);
            if next.is_ok() {
                self.permit = None;
            }
            match next {
                Ok(OutputLine::Event(event)) => {
                    active.activity.touch();
                    return Ok(Some(*event));
                }
                Ok(OutputLine::Invalid(what)) => {
                    return Err(HostError::agent(format!("invalid output from the agent: {what}")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.check(active)?;
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => tick(),
            }
        }
    }

    /// Checks cancellation, time limits and what the agent uses of the machine.
    fn check(&self, active: &ActiveSession) -> Result<(), HostError> {
        active.tree.check()?;
        if let Some(budget) = active.tree.budget()
            && let Err(limit) = budget.check_time()
        {
            active.report_limit(budget, &limit);
            return Err(limit.into());
        }
        let settings = &active.settings;
        let message = if let Some(exceeded) = self.watched.exceeded() {
            format!("the agent was stopped because it used too much: {exceeded}")
        } else if self.began.elapsed() > Duration::from_secs(settings.turn_seconds) {
            format!("the turn took longer than {} s (host.turn_seconds)", settings.turn_seconds)
        } else if active.activity.idle() > Duration::from_secs(settings.silent_seconds) {
            format!("the agent was silent for {} s (host.silent_seconds)", settings.silent_seconds)
        } else {
            return Ok(());
        };
        Err(HostError::agent(message))
    }

    /// Gives the agent a moment to exit.
    pub(crate) fn wait_for_exit(&mut self) {
        let since = Instant::now();
        while since.elapsed() < GRACE && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
        self.waited += since.elapsed();
    }

    /// How an agent ended that reported neither an answer nor an error.
    pub(crate) fn exit_message(&mut self) -> String {
        self.wait_for_exit();
        let ended = match self.child.try_wait() {
            Ok(Some(status)) => format!("the agent exited without an answer ({status})"),
            _ => "the agent closed its output without an answer".to_owned(),
        };
        let stderr = self.stderr.as_ref().map(|stderr| stderr.text(LAST_WORDS));
        match stderr.unwrap_or_default().trim() {
            "" => ended,
            stderr => format!("{ended}: {stderr}"),
        }
    }
}

impl Drop for AgentProcess<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.sandbox.end(&mut self.child) {
            tracing::warn!("cannot end the agent: {error}");
        }
    }
}

fn read_events(mut frames: Frames<std::process::ChildStdout>, sender: &SyncSender<OutputLine>) {
    loop {
        let heard = match frames.next_line() {
            Ok(None) | Err(FrameError::Io(_) | FrameError::Truncated) => return,
            Ok(Some(line)) => match serde_json::from_slice(line) {
                Ok(event) => OutputLine::Event(Box::new(event)),
                Err(_) => OutputLine::Invalid(
                    String::from_utf8_lossy(line).chars().take(200).collect::<String>(),
                ),
            },
            Err(error) => OutputLine::Invalid(error.to_string()),
        };
        let ends = matches!(heard, OutputLine::Invalid(_));
        if sender.send(heard).is_err() || ends {
            return;
        }
    }
}
