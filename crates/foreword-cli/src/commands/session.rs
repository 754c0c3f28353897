//! `foreword session`: stored conversations.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;
use foreword_store::{MAX_CONTENTS_LISTED, Reader, Session, SessionId, Turn, TurnRange, TurnUsage};
use serde_json::{Value, json};

use crate::commands::database::reader;
use crate::error::CliError;
use crate::terminal::{Terminal, counted, paint, plain_line};
use crate::user_env::format_time;

/// Show conversations with agents
#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    /// List sessions, newest first
    #[command(after_help = "\
Examples:
  foreword session list
  foreword session list --limit 100 --json | jq -r '.[].session'")]
    List {
        /// Maximum number of sessions
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Show the turns of a session with their cost and external content
    #[command(after_help = "\
Examples:
  foreword session show ops
  foreword session show ops --limit 1 --json | jq .usage")]
    Show {
        /// ID of the session
        id: String,
        /// Maximum number of turns; the newest are shown
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
    },
}

pub(crate) fn run(
    workspace: &Path,
    command: &SessionCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let reader = reader(workspace, terminal)?;
    match command {
        SessionCommand::List { limit } => list(reader.as_ref(), *limit, terminal),
        SessionCommand::Show { id, limit } => {
            let id = SessionId::parse(id)?;
            let session = match &reader {
                Some(reader) => reader.session(&id)?.map(|session| (reader, session)),
                None => None,
            };
            let (reader, session) = session.ok_or_else(|| {
                CliError::usage(format!("session `{id}` not found"))
                    .hint("run `foreword session list` to list sessions")
            })?;
            show(reader, &session, *limit, terminal)
        }
    }
}

fn list(reader: Option<&Reader>, limit: usize, terminal: &Terminal) -> Result<(), CliError> {
    let sessions = reader.map(|reader| reader.sessions(limit)).transpose()?.unwrap_or_default();
    if terminal.json {
        return terminal.print_json_list(&sessions.iter().map(about).collect::<Vec<_>>());
    }
    let mut out = String::new();
    for session in &sessions {
        let _ = writeln!(
            out,
            "{}  {}  {}  {}",
            format_time(session.last_at),
            session.id,
            counted(session.turns, "turn"),
            whose(session)
        );
    }
    if sessions.is_empty() {
        terminal.say("no sessions yet; run `foreword chat` to start one");
    }
    terminal.print(&out)
}

fn show(
    reader: &Reader,
    session: &Session,
    limit: usize,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let turns = reader.turns(&session.id, TurnRange::newest(limit))?;
    let mut external: BTreeMap<u64, u64> = BTreeMap::new();
    for entry in reader.contents(&session.id, MAX_CONTENTS_LISTED)? {
        if let (Some(turn), true) = (entry.turn, entry.content.external) {
            *external.entry(turn.0).or_default() += entry.content.tokens;
        }
    }
    let external = |turn: &Turn| external.get(&turn.number.0).copied().unwrap_or_default();
    if terminal.json {
        let mut value = summary(reader, session)?;
        let turns: Vec<Value> = turns.iter().map(|turn| turn_json(turn, external(turn))).collect();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("turns".into(), json!(turns));
        }
        return terminal.print_json(&value);
    }
    let mut out = summary_text(reader, session)?;
    for turn in &turns {
        let _ = write!(
            out,
            "\n{} {}  {}  {}",
            paint(&format!("turn {}", turn.number), "34"),
            format_time(turn.began_at),
            turn.state.as_str(),
            usage_text(&turn.usage),
        );
        match external(turn) {
            0 => out.push('\n'),
            tokens => _ = writeln!(out, ", {tokens} external"),
        }
        let _ = writeln!(out, "  message:  {}", plain_line(&turn.message, 200));
        if let Some(answer) = &turn.answer {
            let _ = writeln!(out, "  answer:   {}", plain_line(answer, 200));
        }
        if let Some(reason) = &turn.reason {
            let _ = writeln!(out, "  reason:   {}", plain_line(reason, 200));
        }
    }
    terminal.print(&out)
}

/// A session without its turns, as JSON.
pub(crate) fn summary(reader: &Reader, session: &Session) -> Result<Value, CliError> {
    let totals = reader.content_totals(&session.id)?;
    let mut value = about(session);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("usage".into(), json!(reader.session_usage(&session.id)?));
        fields.insert("taint".into(), json!(totals));
        fields.insert("taintRatio".into(), json!(totals.ratio()));
    }
    Ok(value)
}

/// A session without its turns, as text.
pub(crate) fn summary_text(reader: &Reader, session: &Session) -> Result<String, CliError> {
    let totals = reader.content_totals(&session.id)?;
    let usage = reader.session_usage(&session.id)?;
    Ok(format!(
        "session {} · {} · {} · since {}\n{} in {} · taint {:.0}% ({} of {} tokens)\n",
        session.id,
        whose(session),
        counted(session.turns, "turn"),
        format_time(session.created_at),
        usage_text(&usage),
        counted(usage.calls, "call"),
        totals.ratio() * 100.0,
        totals.external_tokens,
        totals.total_tokens,
    ))
}

fn whose(session: &Session) -> String {
    let agent = session.agent.as_deref().unwrap_or("default");
    let mut out = format!("agent {} · {}", plain_line(agent, 60), session.runner);
    if let Some(parent) = &session.parent {
        let _ = write!(out, " · started by {parent}");
    }
    out
}

fn usage_text(usage: &TurnUsage) -> String {
    let tokens = usage.tokens;
    let mut out = format!("{} in, {} out", tokens.input_tokens, tokens.output_tokens);
    let (read, written) = (tokens.cache_read_tokens, tokens.cache_write_tokens);
    if read + written > 0 {
        let _ = write!(out, " ({read} cache read, {written} cache write)");
    }
    out
}

/// A session as JSON, without its canaries.
fn about(session: &Session) -> Value {
    json!({
        "session": session.id, "agent": session.agent, "user": session.user,
        "runner": session.runner, "channel": session.channel, "parent": session.parent,
        "depth": session.depth, "turnCount": session.turns,
        "createdAt": format_time(session.created_at), "lastAt": format_time(session.last_at),
    })
}

fn turn_json(turn: &Turn, external: u64) -> Value {
    json!({
        "turn": turn.number, "state": turn.state, "message": turn.message,
        "answer": turn.answer, "reason": turn.reason, "usage": turn.usage,
        "externalTokens": external, "beganAt": format_time(turn.began_at),
        "endedAt": turn.ended_at.map(format_time),
    })
}
