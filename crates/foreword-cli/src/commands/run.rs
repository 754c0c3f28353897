//! `foreword run`: one message, one turn.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use foreword_host::{External, Observer, TurnReport};
use serde_json::Value;

use crate::args::{DryRun, RunArgs};
use crate::error::CliError;
use crate::hosting;
use crate::terminal::Terminal;

/// No message is longer.
const LONGEST_MESSAGE: u64 = 1 << 20;

pub(crate) fn run(workspace: &Path, args: &RunArgs, terminal: &Terminal) -> Result<(), CliError> {
    let mut request = hosting::request(&args.choice)?;
    request.message = message(&args.message)?;
    request.external = external(&args.external, args.message == "-")?;
    let host = hosting::open(workspace)?;
    if let Some(what) = args.dry_run {
        let prepared = host.dry_run(&request)?;
        for warning in &prepared.warnings {
            terminal.warn(warning);
        }
        return match what {
            DryRun::Body => terminal.print(&format!("{}\n", prepared.request_body())),
            DryRun::Context => terminal.print_json(&prepared.context),
        };
    }
    hosting::ensure_trusted(&host, args.choice.trust, terminal)?;
    let tree = host.tree()?;
    hosting::cancel_on_interrupt(&tree)?;
    request.tree = Some(tree);
    let mut screen = Screen { terminal: *terminal, ended_line: true };
    let report = host.turn(&request, &mut screen)?;
    screen.end();
    show(&report, terminal)
}

fn message(given: &str) -> Result<String, CliError> {
    let message = if given == "-" { read_stdin()? } else { given.to_owned() };
    if message.trim().is_empty() {
        return Err(CliError::usage("the message is empty").hint("say something with -m"));
    }
    if message.len() as u64 > LONGEST_MESSAGE {
        return Err(CliError::usage(format!("a message may have {LONGEST_MESSAGE} bytes")));
    }
    Ok(message)
}

/// Texts from outside, each with where it came from.
fn external(given: &[String], stdin_taken: bool) -> Result<Vec<External>, CliError> {
    let mut stdin_taken = stdin_taken;
    given
        .iter()
        .map(|given| {
            let wrong = || {
                CliError::usage(format!("`{given}` is not of the form SOURCE=FILE"))
                    .hint("such as --external mail=inbox/1.txt")
            };
            let (source, file) = given.split_once('=').ok_or_else(wrong)?;
            if source.trim().is_empty() || file.is_empty() {
                return Err(wrong());
            }
            let text = if file == "-" {
                if std::mem::replace(&mut stdin_taken, true) {
                    return Err(CliError::usage("standard input can be read only once"));
                }
                read_stdin()?
            } else {
                foreword_workspace::read_file(Path::new(file), LONGEST_MESSAGE)?.text
            };
            Ok(External { source: source.to_owned(), text })
        })
        .collect()
}

fn read_stdin() -> Result<String, CliError> {
    let mut text = String::new();
    io::stdin()
        .take(LONGEST_MESSAGE + 1)
        .read_to_string(&mut text)
        .map_err(|error| CliError::usage(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

/// What came of the turn, beside the answer that was shown as it came.
fn show(report: &TurnReport, terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        terminal.print_json(report)?;
    } else {
        terminal.say(&summary(report));
    }
    match &report.held {
        Some(reason) => Err(CliError::not_right(format!("the answer was held back: {reason}"))
            .hint("its canary was changed; `foreword audit log` tells more")),
        None => Ok(()),
    }
}

/// One line about a turn: the session, what it cost, how tainted it is.
pub(crate) fn summary(report: &TurnReport) -> String {
    let usage = &report.usage;
    let mut line = format!(
        "session {} · turn {} · {} in, {} out",
        report.session, report.turn, usage.input_tokens, usage.output_tokens
    );
    if usage.cache_read_tokens + usage.cache_write_tokens > 0 {
        line.push_str(&format!(
            " ({} from cache, {} into it)",
            usage.cache_read_tokens, usage.cache_write_tokens
        ));
    }
    line.push_str(&format!(" · {} · taint {:.0}%", report.sandbox, report.taint_ratio * 100.0));
    if report.history_omitted > 0 {
        line.push_str(&format!(" · {} old turns left out", report.history_omitted));
    }
    line
}

/// Shows a turn as it goes: the answer on standard output, everything else beside it.
pub(crate) struct Screen {
    pub(crate) terminal: Terminal,
    pub(crate) ended_line: bool,
}

impl Screen {
    /// Ends the line that the answer stands on.
    pub(crate) fn end(&mut self) {
        if !self.ended_line {
            let _ = self.terminal.print("\n");
            self.ended_line = true;
        }
    }
}

impl Observer for Screen {
    fn text(&mut self, text: &str) {
        if self.terminal.json || text.is_empty() {
            return;
        }
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.ended_line = text.ends_with('\n');
    }

    fn tool_call(&mut self, name: &str, input: &Value) {
        self.end();
        self.terminal.say(&hosting::tool_line(name, input));
    }

    fn notice(&mut self, text: &str) {
        self.end();
        self.terminal.warn(text);
    }
}
