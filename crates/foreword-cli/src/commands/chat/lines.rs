//! What the person says: lines with editing and history on a terminal, plain lines without one.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use foreword_host::Host;
use foreword_store::{SessionId, TurnRange};
use rustyline::config::Configurer as _;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};

use crate::commands::run::{LONGEST_MESSAGE, too_long};
use crate::error::CliError;

/// So much of what was said earlier can be had back with the arrow keys.
const KEPT_LINES: usize = 500;

/// Where lines come from.
pub(super) enum Lines {
    Terminal(Box<DefaultEditor>),
    Pipe,
}

/// What came.
pub(super) enum Input {
    Said(String),
    /// Ctrl-C: nothing is said.
    Cleared,
    End,
}

impl Lines {
    /// A terminal where there is one, with what was said in the session before.
    pub(super) fn open(host: &Host, session: &SessionId) -> Result<Self, CliError> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(Self::Pipe);
        }
        let broken = |error| CliError::internal(format!("cannot edit lines here: {error}"));
        let mut editor = DefaultEditor::with_config(Config::default()).map_err(broken)?;
        editor.set_max_history_size(KEPT_LINES).map_err(broken)?;
        for turn in host.reader().turns(session, TurnRange::newest(KEPT_LINES))? {
            let _ = editor.add_history_entry(turn.message);
        }
        Ok(Self::Terminal(Box::new(editor)))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next message, of one line or several: a line that ends with `\` goes on in the next one.
    pub(super) fn next(&mut self) -> Result<Input, CliError> {
        let mut said = String::new();
        let mut prompt = "> ";
        loop {
            let line = match self.line(prompt)? {
                Input::Said(line) => line,
                Input::Cleared => return Ok(Input::Cleared),
                Input::End if said.is_empty() => return Ok(Input::End),
                Input::End => String::new(),
            };
            let more = line.strip_suffix('\\');
            said.push_str(more.unwrap_or(&line));
            if said.len() as u64 > LONGEST_MESSAGE {
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

/// One line of standard input. The lock is not kept: a question of trust may be asked in between.
fn piped() -> Result<Input, CliError> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    let failed =
        |error: io::Error| CliError::internal(format!("cannot read standard input: {error}"));
    let read = input.by_ref().take(LONGEST_MESSAGE + 2).read_until(b'\n', &mut line);
    if read.map_err(failed)? == 0 {
        return Ok(Input::End);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 > LONGEST_MESSAGE {
        input.skip_until(b'\n').map_err(failed)?;
        return Err(too_long());
    }
    let line = String::from_utf8(line)
        .map_err(|_| CliError::usage("a line is not UTF-8; it was not passed on"))?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(Input::Said(line.strip_suffix('\r').unwrap_or(line).to_owned()))
}
