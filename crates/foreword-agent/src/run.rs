//! From the job to the end of the turn.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use foreword::Blueprint;
use foreword_protocol::{AgentEvent, Job, RunnerKind};

use crate::cli;
use crate::error::AgentError;
use crate::events::Events;
use crate::{job, native, watch};

/// What an agent finds around it; read once, by whoever starts it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Where private files of the turn may lie.
    pub temp_dir: PathBuf,
}

/// How a turn ended. The host has been told by an event, if it still listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The turn is over.
    Done,
    /// It failed.
    Failed,
}

impl Outcome {
    /// Did it end as it should?
    pub fn is_done(self) -> bool {
        self == Self::Done
    }

    /// For the shell: 0, or 1.
    pub fn exit_code(self) -> u8 {
        u8::from(!self.is_done())
    }
}

/// Runs one turn: reads the job, renders the prompt, runs the loop, tells what happens.
pub fn run(stdin: impl Read, stdout: &mut dyn Write, surroundings: &Surroundings) -> Outcome {
    watch::end_with_parent();
    let mut events = Events::new(stdout);
    match turn(stdin, &mut events, surroundings) {
        Ok(()) => Outcome::Done,
        Err(error) => {
            // If the host does not listen any more there is nobody to tell.
            let _ = events.emit(&AgentEvent::Error { message: error.to_string() });
            Outcome::Failed
        }
    }
}

fn turn(
    stdin: impl Read,
    events: &mut Events<'_>,
    surroundings: &Surroundings,
) -> Result<(), AgentError> {
    let job: Job = job::read(stdin)?;
    let directory = |source| AgentError::Directory { path: job.cwd.clone(), source };
    if !fs::metadata(&job.cwd).map_err(directory)?.is_dir() {
        return Err(directory(std::io::ErrorKind::NotADirectory.into()));
    }
    let prompt = Blueprint::from_source(&job.blueprint)?.build(&job.context);
    events.emit(&AgentEvent::Prompt { digest: prompt.digest() })?;
    let done = match job.runner {
        RunnerKind::Native => native::run(&job, &prompt, events)?,
        RunnerKind::ClaudeCode => cli::claude_code::run(&job, &prompt, events, surroundings)?,
        RunnerKind::Pi => cli::pi::run(&job, &prompt, events, surroundings)?,
    };
    events.emit(&done)
}
