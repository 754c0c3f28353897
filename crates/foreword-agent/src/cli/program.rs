//! Another program: started on a leash, fed, listened to, ended.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use foreword_protocol::{CliProgram, FrameError, Frames, Job, MAX_EVENT_BYTES};
use serde_json::Value;

use crate::error::AgentError;
use crate::leash::Leashed;
use crate::output::HeadAndTail;
use crate::private_dir::PrivateDir;
use crate::run::Surroundings;

/// The most of its complaints that are repeated.
const MAX_COMPLAINTS: usize = 2000;
/// How long a program may take to end when it has said its last, or is asked to.
const TIME_TO_END: Duration = Duration::from_secs(5);

/// How a program is started.
pub(super) struct Program {
    /// What it is called in messages.
    pub(super) name: &'static str,
    /// How to get it.
    pub(super) advice: &'static str,
    pub(super) command: Command,
    /// What it is told on standard input.
    pub(super) input: String,
}

/// Whether to go on listening.
#[derive(PartialEq, Eq)]
pub(super) enum Listen {
    On,
    /// It has said enough.
    Enough,
}

/// How a program ended.
pub(super) struct Ended {
    pub(super) status: String,
    pub(super) complaints: String,
}

impl Program {
    /// The program of a job, with nothing in its environment that could lead it elsewhere.
    pub(super) fn new(
        name: &'static str,
        advice: &'static str,
        job: &Job,
        surroundings: &Surroundings,
        dir: &PrivateDir,
        input: String,
    ) -> Result<Self, AgentError> {
        let Some(CliProgram { program, args }) = &job.cli else {
            return Err(AgentError::NoProgram { runner: job.runner.as_str() });
        };
        let home = dir.directory("home").map_err(AgentError::Private)?;
        let temporary = dir.directory("tmp").map_err(AgentError::Private)?;
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&job.cwd)
            .env_clear()
            .envs(surroundings.variables.iter().filter(|(name, _)| is_harmless(name)).cloned())
            .env("HOME", home)
            .env("TMPDIR", temporary)
            .env("NO_PROXY", "127.0.0.1,localhost");
        Ok(Self { name, advice, command, input })
    }

    /// Runs it; `each` gets every line of its output that is JSON.
    pub(super) fn run(
        mut self,
        each: &mut dyn FnMut(&Value) -> Result<Listen, AgentError>,
    ) -> Result<Ended, AgentError> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut leashed = Leashed::start(&mut self.command).map_err(|source| {
            let program = self.command.get_program().to_string_lossy().into_owned();
            AgentError::Start { program, source, advice: self.advice }
        })?;
        let failed = |message: String| AgentError::Program { program: self.name, message };
        let child = leashed.child();
        let (Some(mut stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no standard streams".to_owned()));
        };
        let input = self.input;
        thread::spawn(move || {
            // A program that does not want it all has closed the pipe.
            let _ = stdin.write_all(input.as_bytes());
        });
        let (complain, complained) = mpsc::channel();
        thread::spawn(move || {
            let mut complaints = HeadAndTail::new(MAX_COMPLAINTS);
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut buffer) {
                complaints.push(buffer.get(..read).unwrap_or_default());
            }
            let _ = complain.send(complaints.text());
        });

        let heard = listen(stdout, each, failed);
        if !matches!(heard, Ok(Listen::On)) {
            leashed.ask_to_end(TIME_TO_END);
        }
        heard?;
        let status = leashed
            .wait_until(Instant::now() + TIME_TO_END)
            .map_err(|error| failed(error.to_string()))?;
        leashed.end();
        let status =
            status.map_or_else(|| "it did not end".to_owned(), |status| status.to_string());
        let complaints = complained.recv_timeout(Duration::from_millis(500)).unwrap_or_default();
        Ok(Ended { status, complaints })
    }
}

/// Takes line after line, until the program ends or has said enough.
fn listen(
    stdout: impl Read,
    each: &mut dyn FnMut(&Value) -> Result<Listen, AgentError>,
    failed: impl Fn(String) -> AgentError,
) -> Result<Listen, AgentError> {
    let mut frames = Frames::new(stdout, MAX_EVENT_BYTES);
    loop {
        let line = match frames.next_line() {
            Ok(Some(line)) => line,
            Ok(None) | Err(FrameError::Truncated) => return Ok(Listen::On),
            Err(error) => return Err(failed(error.to_string())),
        };
        // What is no JSON is chatter of the program.
        if let Ok(value) = serde_json::from_slice::<Value>(line)
            && each(&value)? == Listen::Enough
        {
            return Ok(Listen::Enough);
        }
    }
}

impl Ended {
    /// Why there is no result.
    pub(super) fn without_result(&self, program: &'static str) -> AgentError {
        let complaints = self.complaints.trim();
        let message = match complaints {
            "" => format!("it ended without a result ({})", self.status),
            complaints => format!("it ended without a result ({}): {complaints}", self.status),
        };
        AgentError::Program { program, message }
    }
}

/// Variables that tell such programs whom to call, with which key, or how to behave.
fn is_harmless(name: &OsStr) -> bool {
    const PREFIXES: [&str; 12] = [
        "ANTHROPIC_",
        "CLAUDE",
        "OPENAI_",
        "PI_",
        "AWS_",
        "GOOGLE_",
        "GEMINI_",
        "AZURE_",
        "NODE_",
        "BUN_",
        "MCP_",
        "OTEL_",
    ];
    let name: OsString = name.to_ascii_uppercase();
    let Some(name) = name.to_str() else { return false };
    !PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !["_API_KEY", "_TOKEN", "_PROXY", "_SECRET"].iter().any(|end| name.ends_with(end))
}
