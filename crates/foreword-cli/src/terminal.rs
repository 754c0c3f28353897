//! Writing to the terminal: stdout holds results, stderr everything else; colour only on a terminal.

use std::io::{self, IsTerminal, Write};

use foreword::visible;

use crate::error::CliError;

/// How much to say, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Terminal {
    /// Writes a result. A reader that went away is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        // A prompt has no line break of its own at its end; a person's terminal wants one.
        let end = if out.is_terminal() && !text.ends_with('\n') { "\n" } else { "" };
        let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::internal(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes a value as JSON.
    pub(crate) fn print_json(&self, value: &impl serde::Serialize) -> Result<(), CliError> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.print(&text)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn print_json_line(&self, value: &impl serde::Serialize) -> Result<(), CliError> {
        let mut text = serde_json::to_string(value)?;
        text.push('\n');
        self.print(&text)
    }

    /// Asks a person, if there is one to ask; without a terminal the answer is yes. A person who cannot
    /// see the question is not asked, and nothing is done.
    pub(crate) fn confirm(&self, question: &str) -> Result<bool, CliError> {
        if !io::stdin().is_terminal() {
            return Ok(true);
        }
        if !io::stderr().is_terminal() {
            return Err(CliError::usage("there is nowhere to ask").hint("use --yes to go ahead"));
        }
        let _ = write!(io::stderr(), "{question} [y/N] ");
        let mut answer = String::new();
        io::stdin()
            .read_line(&mut answer)
            .map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Says something beside the result.
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

    /// Reports an error with its hints. Always said.
    pub(crate) fn error(&self, error: &CliError) {
        let mut err = io::stderr().lock();
        let _ = writeln!(err, "{} {}", paint_err("error:", "31"), visible(&error.message));
        for hint in &error.hints {
            let _ = writeln!(err, "{} {hint}", paint_err("hint:", "36"));
        }
    }
}

/// Text with invisible characters written out, on one line of at most `most` characters.
pub(crate) fn plain_line(text: &str, most: usize) -> String {
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// So many of something: `1 turn`, `2 turns`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Is a person looking at standard output?
pub(crate) fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// Text in a colour, if standard output is a terminal and nobody asked for none.
pub(crate) fn paint(text: &str, colour: &str) -> String {
    paint_if(io::stdout().is_terminal(), text, colour)
}

pub(crate) fn paint_err(text: &str, colour: &str) -> String {
    paint_if(io::stderr().is_terminal(), text, colour)
}

/// Something less important than the rest, for standard error.
pub(crate) fn dim_err(text: &str) -> String {
    if colours_stderr() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
}

/// May what goes to standard error have colours?
pub(crate) fn colours_stderr() -> bool {
    wants_colour(io::stderr().is_terminal())
}

fn wants_colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn paint_if(terminal: bool, text: &str, colour: &str) -> String {
    if wants_colour(terminal) { format!("\x1b[1;{colour}m{text}\x1b[0m") } else { text.to_owned() }
}
