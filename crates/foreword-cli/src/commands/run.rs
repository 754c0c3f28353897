//! `foreword run`: one turn for one message, or one turn for each due schedule.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use foreword_host::{Host, TurnReport, TurnRequest};
use foreword_store::{SessionId, TurnRange};
use serde_json::json;

use crate::args::TurnArgs;
use crate::error::CliError;
use crate::hosting;
use crate::inputs::{self, MAX_MESSAGE_BYTES};
use crate::interrupts::Interrupts;
use crate::json;
use crate::terminal::Terminal;
use crate::turn_printer::{TurnPrinter, check_end, summary};
use crate::workspace_arg::{WorkspaceArg, below};

/// Run an agent on one message
///
/// The model comes from [model] in foreword.toml, or from ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY and
/// OPENAI_BASE_URL. The key stays in the host; agents never see it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword run \"write a deploy checklist\"
  foreword run --session ops \"and now for staging\"
  foreword run \"summarise this\" --external mail=inbox/1.txt
  foreword run \"/deploy staging\"         Ask for the skill `deploy`")]
pub(crate) struct RunArgs {
    /// Message to the agent; `-` reads it from standard input
    #[arg(value_name = "MESSAGE", required_unless_present_any = ["message", "heartbeat"])]
    text: Option<String>,
    /// Message to the agent, as an option; it may start with a dash
    #[arg(short, long, value_name = "TEXT", conflicts_with = "text", allow_hyphen_values = true)]
    message: Option<String>,
    /// External text to pass with the message, fenced and counted as taint: `mail=FILE`, or `mail=-` for standard input
    #[arg(long, value_name = "SOURCE=FILE")]
    external: Vec<String>,
    /// Run due schedules, then HEARTBEAT.md; for use from a timer
    #[arg(long, conflicts_with_all = ["text", "message", "external", "dry_run", "session", "agent", "user"])]
    heartbeat: bool,
    #[command(flatten)]
    turn: TurnArgs,
    /// Print what would be sent instead of sending it
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, default_missing_value = "body")]
    dry_run: Option<DryRun>,
}

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
enum DryRun {
    /// Exact body of the first request
    Body,
    /// Context, as accepted by `foreword build --context`
    Context,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &RunArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let mut request = hosting::request(&args.turn)?;
    let given = args.text.as_ref().or(args.message.as_ref());
    request.external = inputs::external(&args.external, given.is_some_and(|text| text == "-"))?;
    if let Some(given) = given {
        request.message = message(given)?;
    }
    request.cwd = request.cwd.or_else(|| below(workspace));
    let host = hosting::open(workspace)?;
    request.skill = host.skill_call(&request.message)?;
    hosting::check_skill_name(&host, &request.message, request.skill.as_ref())?;
    if let Some(what) = args.dry_run {
        return dry_run(&host, &request, what, terminal);
    }
    hosting::ensure_trusted(&host, request.cwd.as_deref(), args.turn.trust, terminal)?;
    hosting::ensure_sandbox(&host, &mut request, terminal)?;
    hosting::apply_retention(&host, terminal);
    let tree = host.tree()?;
    request.tree = Some(tree.clone());
    let interrupts = Interrupts::listen()?;
    let mut printer = TurnPrinter::new(terminal);
    if args.heartbeat {
        return interrupts.during(&tree, || heartbeat(&host, &request, &mut printer, terminal));
    }
    // Named in advance, so that a failed turn can be found.
    let session = match request.session.take() {
        Some(session) => session,
        None => SessionId::random()?,
    };
    request.session = Some(session.clone());
    let before = newest(&host, &session);
    let done = interrupts.during(&tree, || host.turn(&request, &mut printer));
    printer.end();
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

/// The number of the newest turn of a session; 0 without one.
fn newest(host: &Host, session: &SessionId) -> u64 {
    let turns = host.reader().turns(session, TurnRange::newest(1)).unwrap_or_default();
    turns.last().map_or(0, |turn| turn.number.0)
}

/// Prints which turn failed.
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
    for warning in &prepared.turn.warnings {
        terminal.warn(warning);
    }
    match what {
        DryRun::Body => terminal.print(&format!("{}\n", prepared.request_body())),
        DryRun::Context => terminal.print(&json::unversioned(&prepared.turn.context)?),
    }
}

/// Runs due schedules, then the heartbeat.
fn heartbeat(
    host: &Arc<Host>,
    request: &TurnRequest,
    printer: &mut TurnPrinter,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut woken = host.run_due(request, printer)?;
    woken.extend(host.heartbeat(request, printer)?);
    if terminal.json {
        terminal.print_json_list(&woken)?;
    } else if woken.is_empty() {
        terminal.say("no schedule is due and HEARTBEAT.md is empty");
    }
    let failed = woken
        .iter()
        .filter(|woken| woken.report.as_ref().is_none_or(|report| check_end(report).is_err()))
        .count();
    match failed {
        0 => Ok(()),
        _ => Err(CliError::failed(format!("{failed} of {} turns failed", woken.len()))),
    }
}

fn message(given: &str) -> Result<String, CliError> {
    let message = if given == "-" { inputs::read_message()? } else { given.to_owned() };
    if message.trim().is_empty() {
        return Err(
            CliError::usage("the message is empty").hint("pass a message: `foreword run \"…\"`")
        );
    }
    if message.len() as u64 > MAX_MESSAGE_BYTES {
        return Err(too_long());
    }
    Ok(message)
}

pub(crate) fn too_long() -> CliError {
    CliError::usage(format!("message is longer than {} MiB", MAX_MESSAGE_BYTES >> 20))
}

/// Prints the outcome of a turn; its answer was printed while it ran.
fn show(report: &TurnReport, terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        terminal.print_json(report)?;
    } else {
        terminal.say(&summary(report));
    }
    check_end(report)
}
