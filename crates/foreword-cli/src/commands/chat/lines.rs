//! The user's input: lines with editing and history on a terminal, plain lines from a pipe.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use foreword_host::Host;
use foreword_store::{SessionId, TurnRange};
use rustyline::config::Configurer as _;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};

use crate::commands::run::too_long;
use crate::error::CliError;
use crate::inputs::MAX_MESSAGE_BYTES;

/// Messages in the history of the arrow keys.
const MAX_HISTORY: usize = 500;

/// Where lines come from.
pub(super) enum Lines {
    Terminal(Box<DefaultEditor>),
    Pipe,
}

pub(super) enum Input {
    Said(String),
    /// Ctrl-C
    Cleared,
    End,
}

impl Lines {
    /// Opens the terminal, if there is one, with the messages of the session as history.
    pub(super) fn open(host: &Host, session: &SessionId) -> Result<Self, CliError> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(Self::Pipe);
        }
        let broken = |error| CliError::internal(format!("cannot set up line editing: {error}"));
        let mut editor = DefaultEditor::with_config(Config::default()).map_err(broken)?;
        editor.set_max_history_size(MAX_HISTORY).map_err(broken)?;
        for turn in host.reader().turns(session, TurnRange::newest(MAX_HISTORY))? {
            let _ = editor.add_history_entry(turn.message);
        }
        Ok(Self::Terminal(Box::new(editor)))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next message, asked for with `prompt`. A line that ends with `\` continues on the next one.
    pub(super) fn next(&mut self, prompt: &str) -> Result<Input, CliError> {
        let mut said = String::new();
        let mut prompt = prompt;
        loop {
            let line = match self.line(prompt)? {
                Input::Said(line) => line,
                Input::Cleared => return Ok(Input::Cleared),
                Input::End if said.is_empty() => return Ok(Input::End),
                Input::End => String::new(),
            };
            let more = line.strip_suffix('\\');
            said.push_str(more.unwrap_or(&line));
            if said.len() as u64 > MAX_MESSAGE_BYTES {
                return Err(too_long());
            }
            if more.is_none() {
                break;
            }
            said.push('\n');
            prompt = "… ";
        }
        if let (Self::Terminal(editor), false) = (self, said.trim().is_empty()) {
            let _ = editor.add_history_entry(said.as_str());
        }
        Ok(Input::Said(said))
    }

    fn line(&mut self, prompt: &str) -> Result<Input, CliError> {
        match self {
            Self::Terminal(editor) => match editor.readline(prompt) {
                Ok(line) => Ok(Input::Said(line)),
                Err(ReadlineError::Interrupted) => Ok(Input::Cleared),
                Err(ReadlineError::Eof) => Ok(Input::End),
                Err(error) => Err(CliError::internal(format!("cannot read a line: {error}"))),
            },
            Self::Pipe => piped(),
        }
    }
}

/// One line of standard input. Releases the lock, since a trust question may come in between.
fn piped() -> Result<Input, CliError> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    let failed =
        |error: io::Error| CliError::internal(format!("cannot read standard input: {error}"));
    let read = input.by_ref().take(MAX_MESSAGE_BYTES + 2).read_until(b'\n', &mut line);
    if read.map_err(failed)? == 0 {
        return Ok(Input::End);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 > MAX_MESSAGE_BYTES {
        input.skip_until(b'\n').map_err(failed)?;
        return Err(too_long());
    }
    let line = String::from_utf8(line)
        .map_err(|_| CliError::usage("line is not UTF-8; it was skipped"))?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(Input::Said(line.strip_suffix('\r').unwrap_or(line).to_owned()))
}
