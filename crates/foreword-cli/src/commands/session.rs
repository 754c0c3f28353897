//! `foreword session`: stored conversations.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;
use foreword_host::{Limits, Measure, Period, dollars, usd};
use foreword_store::{
    MAX_CONTENTS_LISTED, Reader, RemovedSession, Session, SessionId, SpendingMark, Spent, Turn,
    TurnRange, TurnUsage, start_of_day,
};
use foreword_workspace::{Age, Settings, Workspace};
use serde_json::{Value, json};

use crate::commands::compactions::{compaction_json, compactions_text, failed_summaries, reason};
use crate::commands::database::reader;
use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, counted, paint, plain_line};
use crate::user_env::{config_dir, format_time, now_ms};
use crate::workspace_arg::WorkspaceArg;

/// Show and delete conversations with agents
#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    /// List sessions with their cost, newest first
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
    /// Delete sessions permanently
    ///
    /// Deletes messages, answers, tool calls and approvals of a session and of the agents it started, and erases them
    /// from the files in .foreword. Memories, tasks, schedules and proposals made in a session stay. Audit entries
    /// stay too; they hold what agents reported and why calls were refused. Backups are not changed.
    #[command(after_help = "\
Examples:
  foreword session rm ops
  foreword session rm --older-than 30d --yes")]
    Rm {
        /// IDs of the sessions
        #[arg(
            value_name = "ID",
            required_unless_present = "older_than",
            conflicts_with = "older_than"
        )]
        ids: Vec<String>,
        /// Delete sessions that have been idle for this long: hours, days or weeks, such as 24h, 30d or 12w
        #[arg(long, value_name = "AGE")]
        older_than: Option<Age>,
        /// Delete without asking
        #[arg(short, long)]
        yes: bool,
    },
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &SessionCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    if let SessionCommand::Rm { ids, older_than, yes } = command {
        return remove(workspace, ids, *older_than, *yes, terminal);
    }
    let reader = reader(workspace, terminal)?;
    match command {
        SessionCommand::Rm { .. } => Ok(()),
        SessionCommand::List { limit } => list(workspace, reader.as_ref(), *limit, terminal),
        SessionCommand::Show { id, limit } => {
            let id = SessionId::parse(id)?;
            let session = match &reader {
                Some(reader) => reader.session(&id)?.map(|session| (reader, session)),
                None => None,
            };
            let (reader, session) = session.ok_or_else(|| not_found(&id))?;
            show(reader, &session, *limit, terminal)
        }
    }
}

fn list(
    workspace: &Path,
    reader: Option<&Reader>,
    limit: usize,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let sessions = reader.map(|reader| reader.sessions(limit)).transpose()?.unwrap_or_default();
    let (Some(reader), false) = (reader, sessions.is_empty()) else {
        if terminal.json {
            return terminal.print_json_list::<Value>(&[]);
        }
        terminal.say("no sessions yet; run `foreword chat` to start one");
        return Ok(());
    };
    let spent = sessions.iter().map(|session| reader.spent_in_session(&session.id));
    let spent = spent.collect::<Result<Vec<Spent>, _>>()?;
    if terminal.json {
        let list = sessions.iter().zip(&spent).map(|(session, spent)| {
            let mut value = about(session);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("spent".into(), spent_json(*spent));
            }
            value
        });
        return terminal.print_json_list(&list.collect::<Vec<_>>());
    }
    let mut out = String::new();
    for (session, spent) in sessions.iter().zip(&spent) {
        let _ = writeln!(
            out,
            "{}  {}  {}  {}  {}",
            format_time(session.last_at),
            session.id,
            counted(session.turns, "turn"),
            cost_text(*spent),
            whose(session)
        );
    }
    let (today, _) = reader.spent_since(start_of_day(now_ms()), "", SpendingMark::default())?;
    let settings = Settings::load(&config_dir()?)?;
    let limits = Limits::of(&settings, Workspace::open(workspace)?.config());
    let mut line = format!("spent today: {}, {}", cost_text(today), counted(today.tokens, "token"));
    let most = [
        limits.amount(Period::Day, Measure::Cost).map(dollars),
        limits.amount(Period::Day, Measure::Tokens).map(|tokens| counted(tokens, "token")),
    ];
    let most: Vec<String> = most.into_iter().flatten().collect();
    if !most.is_empty() {
        let _ = write!(line, " (limit per day: {})", most.join(", "));
    }
    let _ = writeln!(out, "{line}");
    terminal.print(&out)
}

/// Deletes sessions permanently.
fn remove(
    workspace: &Path,
    ids: &[String],
    older_than: Option<Age>,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let host = hosting::open(workspace)?;
    let ids = match older_than {
        Some(age) => host.idle_sessions(age.millis())?,
        None => ids.iter().map(|id| SessionId::parse(id)).collect::<Result<Vec<_>, _>>()?,
    };
    for id in &ids {
        if host.reader().session(id)?.is_none() {
            return Err(not_found(id));
        }
    }
    if ids.is_empty() {
        terminal.say("no session is that old");
    } else {
        let named = ids.iter().map(SessionId::as_str).collect::<Vec<_>>().join(", ");
        let question = format!(
            "Permanently delete {}, with the agents started in them: {}?",
            counted(ids.len() as u64, "session"),
            plain_line(&named, 400)
        );
        if !terminal.confirm(&question, yes)? {
            return Err(CliError::failed("nothing was deleted"));
        }
    }
    let removed = host.remove_sessions(&ids)?;
    if terminal.json {
        return terminal.print_json_list(&removed);
    }
    for removed in &removed {
        let mut line = format!("deleted session {}", named(removed));
        if removed.kept > 0 {
            let _ = write!(line, "; its schedules and tasks stay ({})", removed.kept);
        }
        terminal.print(&format!("{line}\n"))?;
    }
    if !removed.is_empty() {
        terminal.say("memories from deleted sessions are kept; `foreword memory list` shows them");
    }
    Ok(())
}

/// What was deleted, in a few words.
pub(crate) fn named(removed: &RemovedSession) -> String {
    let id = removed.sessions.first().map_or("", SessionId::as_str);
    let mut out = format!("{id} with {}", counted(removed.turns, "turn"));
    if removed.sessions.len() > 1 {
        let others = removed.sessions.len() as u64 - 1;
        let _ = write!(out, " and {}", counted(others, "sub-agent session"));
    }
    out
}

fn not_found(id: &SessionId) -> CliError {
    CliError::usage(format!("session `{id}` not found"))
        .hint("run `foreword session list` to list sessions")
}

/// What was spent, as JSON.
fn spent_json(spent: Spent) -> Value {
    json!({ "tokens": spent.tokens, "costUsd": usd(spent), "minutes": spent.millis / 60_000 })
}

/// What something cost, as far as it is known.
fn cost_text(spent: Spent) -> String {
    match (usd(spent), spent.cost) {
        (Some(_), cost) => dollars(cost),
        (None, 0) => "cost unknown".to_owned(),
        (None, cost) => format!("{} and unknown", dollars(cost)),
    }
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
            let compactions = reader.compactions(&session.id)?;
            let compactions: Vec<Value> = compactions.iter().map(compaction_json).collect();
            fields.insert("compactions".into(), json!(compactions));
            let failed = failed_summaries(reader, session)?;
            let failed: Vec<Value> = failed
                .iter()
                .map(|entry| json!({ "at": format_time(entry.at), "reason": reason(entry) }))
                .collect();
            fields.insert("failedSummaries".into(), json!(failed));
            fields.insert("turns".into(), json!(turns));
        }
        return terminal.print_json(&value);
    }
    let mut out = summary_text(reader, session)?;
    out.push_str(&compactions_text(&reader.compactions(&session.id)?));
    if let Some(last) = failed_summaries(reader, session)?.last() {
        let (at, reason) = (format_time(last.at), plain_line(reason(last), 200));
        let _ = writeln!(out, "{at}  cannot summarise the oldest turns: {reason}");
    }
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
        fields.insert("spent".into(), spent_json(reader.spent_in_session(&session.id)?));
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
        "session {} · {} · {} · since {}\n{} in {} · {} · taint {:.0}% ({} of {} tokens)\n",
        session.id,
        whose(session),
        counted(session.turns, "turn"),
        format_time(session.created_at),
        usage_text(&usage),
        counted(usage.calls, "call"),
        cost_text(reader.spent_in_session(&session.id)?),
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
