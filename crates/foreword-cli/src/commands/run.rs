//! `foreword run`: one message, one turn; or what is due, each a turn.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use foreword_host::{External, Host, TurnReport, TurnRequest};
use foreword_store::{SessionId, TurnRange};
use serde_json::json;

use crate::args::{DryRun, RunArgs};
use crate::error::CliError;
use crate::hosting;
use crate::interrupts::Interrupts;
use crate::screen::{Screen, held, summary};
use crate::terminal::Terminal;

/// No message is longer.
pub(crate) const LONGEST_MESSAGE: u64 = 1 << 20;

pub(crate) fn run(workspace: &Path, args: &RunArgs, terminal: &Terminal) -> Result<(), CliError> {
    let mut request = hosting::request(&args.choice)?;
    request.external = external(&args.external, args.message.as_deref() == Some("-"))?;
    if let Some(given) = &args.message {
        request.message = message(given)?;
    }
    let host = hosting::open(workspace)?;
    if let Some(what) = args.dry_run {
        return dry_run(&host, &request, what, terminal);
    }
    hosting::ensure_trusted(&host, args.choice.trust, terminal)?;
    let tree = host.tree()?;
    request.tree = Some(tree.clone());
    let interrupts = Interrupts::listen()?;
    let mut screen = Screen::new(terminal);
    if args.heartbeat {
        return interrupts.during(&tree, || heartbeat(&host, &request, &mut screen, terminal));
    }
    // Named ahead, so that a turn that fails can be found.
    let session = match request.session.take() {
        Some(session) => session,
        None => SessionId::random()?,
    };
    request.session = Some(session.clone());
    let before = newest(&host, &session);
    let done = interrupts.during(&tree, || host.turn(&request, &mut screen));
    screen.end();
    match done {
        Ok(report) => show(&report, terminal),
        Err(error) => {
            let turn = newest(&host, &session);
            let error = CliError::from(error);
            if turn > before {
                failed(&session, turn, &error, terminal)?;
            }
            Err(error)
        }
    }
}

/// The number of a session's newest turn; 0 if there is none.
fn newest(host: &Host, session: &SessionId) -> u64 {
    let turns = host.reader().turns(session, TurnRange::newest(1)).unwrap_or_default();
    turns.last().map_or(0, |turn| turn.number.0)
}

/// Says which turn it was that failed.
fn failed(
    session: &SessionId,
    turn: u64,
    error: &CliError,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if terminal.json {
        return terminal.print_json(&json!({
            "session": session.as_str(), "turn": turn, "state": "failed", "error": error.message,
        }));
    }
    terminal.say(&format!("session {session} · turn {turn} failed"));
    Ok(())
}

fn dry_run(
    host: &Host,
    request: &TurnRequest,
    what: DryRun,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let prepared = host.dry_run(request)?;
    for warning in &prepared.warnings {
        terminal.warn(warning);
    }
    match what {
        DryRun::Body => terminal.print(&format!("{}\n", prepared.request_body())),
        DryRun::Context => terminal.print_json(&prepared.context),
    }
}

/// Schedules that are due, then the heartbeat.
fn heartbeat(
    host: &Arc<Host>,
    request: &TurnRequest,
    screen: &mut Screen,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut woken = host.run_due(request, screen)?;
    woken.extend(host.heartbeat(request, screen)?);
    if terminal.json {
        terminal.print_json(&woken)?;
    } else if woken.is_empty() {
        terminal.say("nothing is due, and HEARTBEAT.md has nothing to say");
    }
    let failed = woken
        .iter()
        .filter(|woken| woken.report.as_ref().is_none_or(|report| report.held.is_some()))
        .count();
    match failed {
        0 => Ok(()),
        _ => Err(CliError::not_right(format!("{failed} of {} turns failed", woken.len()))),
    }
}

fn message(given: &str) -> Result<String, CliError> {
    let message = if given == "-" { read_stdin()? } else { given.to_owned() };
    if message.trim().is_empty() {
        return Err(CliError::usage("the message is empty").hint("say something with -m"));
    }
    if message.len() as u64 > LONGEST_MESSAGE {
        return Err(too_long());
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

pub(crate) fn too_long() -> CliError {
    CliError::usage(format!("a message may have {LONGEST_MESSAGE} bytes"))
}

/// What came of the turn, beside the answer that was shown as it came.
fn show(report: &TurnReport, terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        terminal.print_json(report)?;
    } else {
        terminal.say(&summary(report));
    }
    report.held.as_deref().map_or(Ok(()), |reason| Err(held(reason)))
}
