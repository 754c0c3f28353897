//! Output: results on standard output, everything else on standard error, colour only on a terminal.

use std::io::{self, IsTerminal, Write};

use foreword::visible;
use serde::Serialize;

use crate::error::CliError;
use crate::json;

/// How much to print, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Terminal {
    /// Writes a result. A closed pipe is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        // A prompt does not end with a line break; a terminal needs one.
        let end = if out.is_terminal() && !text.ends_with('\n') { "\n" } else { "" };
        let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::internal(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes an object as JSON.
    pub(crate) fn print_json(&self, object: &impl Serialize) -> Result<(), CliError> {
        self.print(&json::pretty(object)?)
    }

    /// Writes an object as one line of JSON.
    pub(crate) fn print_json_line(&self, object: &impl Serialize) -> Result<(), CliError> {
        self.print(&json::line(object)?)
    }

    /// Writes a list of objects as a JSON array.
    pub(crate) fn print_json_list<T: Serialize>(&self, objects: &[T]) -> Result<(), CliError> {
        self.print(&json::list(objects)?)
    }

    /// Shows what is about to be decided. Under `--json` standard output is kept for the result.
    pub(crate) fn show(&self, text: &str) -> Result<(), CliError> {
        if self.json {
            let _ = io::stderr().write_all(text.as_bytes());
            return Ok(());
        }
        self.print(text)
    }

    /// Asks the user, unless `yes` says that they agreed on the command line. The one place where anything
    /// is confirmed: without a terminal it is an error, so that nothing is decided by default.
    pub(crate) fn confirm(&self, question: &str, yes: bool) -> Result<bool, CliError> {
        if yes {
            return Ok(true);
        }
        if !can_ask() {
            return Err(CliError::usage("confirmation needs a terminal; pass `--yes` to proceed"));
        }
        let _ = write!(io::stderr(), "{question} [y/N] ");
        let mut answer = String::new();
        io::stdin()
            .read_line(&mut answer)
            .map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Writes a message for the user.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    pub(crate) fn warn(&self, text: &(impl std::fmt::Display + ?Sized)) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{} {text}", paint_err("warning:", "33"));
        }
    }

    /// Reports an error with its hints, also under `--quiet`.
    pub(crate) fn error(&self, error: &CliError) {
        let mut err = io::stderr().lock();
        let _ = writeln!(err, "{} {}", paint_err("error:", "31"), visible(&error.message));
        for hint in &error.hints {
            let _ = writeln!(err, "{} {hint}", paint_err("hint:", "36"));
        }
    }
}

/// Text with escaped invisible characters, on one line, cut after `max` characters.
pub(crate) fn plain_line(text: &str, max: usize) -> String {
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// A count with its noun: `1 turn`, `2 turns`, `2 entries`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if count == 1 => format!("1 {one}"),
        Some(stem) => format!("{count} {stem}ies"),
        None if one.ends_with('x') => format!("{count} {one}es"),
        None => format!("{count} {one}s"),
    }
}

/// Whether there is a user who sees a question and can answer it.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal_output() -> bool {
    io::stdout().is_terminal()
}

/// How wide the terminal on standard output is; `None` for anything else.
pub(crate) fn output_columns() -> Option<usize> {
    #[cfg(unix)]
    if is_terminal_output() {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        return Some(usize::from(size.ws_col)).filter(|columns| *columns > 0);
    }
    None
}

/// Text in a colour, if standard output is a terminal and NO_COLOR is not set.
pub(crate) fn paint(text: &str, colour: &str) -> String {
    paint_if(io::stdout().is_terminal(), text, colour)
}

pub(crate) fn paint_err(text: &str, colour: &str) -> String {
    paint_if(io::stderr().is_terminal(), text, colour)
}

/// Whether standard output shows colours.
pub(crate) fn colours_stdout() -> bool {
    wants_colour(io::stdout().is_terminal())
}

/// Dimmed text for standard error.
pub(crate) fn dim_err(text: &str) -> String {
    if colours_stderr() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
}

/// Whether standard error shows colours.
pub(crate) fn colours_stderr() -> bool {
    wants_colour(io::stderr().is_terminal())
}

fn wants_colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn paint_if(terminal: bool, text: &str, colour: &str) -> String {
    if wants_colour(terminal) { format!("\x1b[1;{colour}m{text}\x1b[0m") } else { text.to_owned() }
}
