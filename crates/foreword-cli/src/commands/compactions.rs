//! What `foreword session show` says of the turns that a summary replaced.

use std::fmt::Write as _;

use foreword::visible_line;
use foreword_host::NOT_SUMMARISED;
use foreword_store::{Compaction, Entry, LogFilter, Order, Reader, Session};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::user_env::format_time;

/// The summaries of a session that were due and are missing, oldest first.
pub(super) fn failed_summaries(reader: &Reader, session: &Session) -> Result<Vec<Entry>, CliError> {
    let filter = LogFilter {
        since: Some(session.created_at),
        action_prefix: Some(NOT_SUMMARISED.to_owned()),
        order: Order::OldestFirst,
        ..LogFilter::default()
    };
    let mut entries = reader.entries(&filter)?;
    entries.retain(|entry| entry.subject == session.id.as_str());
    Ok(entries)
}

pub(super) fn reason(entry: &Entry) -> &str {
    entry.detail.get("reason").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn compaction_json(compaction: &Compaction) -> Value {
    let mut value = json!(compaction);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("at".into(), json!(format_time(compaction.at)));
    }
    value
}

/// What stands in for old turns in the next prompt: when it was made, what it replaced, and the summary.
pub(super) fn compactions_text(compactions: &[Compaction]) -> String {
    let mut out = String::new();
    let mut replaced = 0;
    for compaction in compactions {
        let Compaction { tokens_before, tokens_after, .. } = compaction;
        let before = std::mem::replace(&mut replaced, compaction.summarised_through.0);
        let what = match compaction.summarised_through.0 {
            // An earlier summary stays.
            through if through == before => {
                let through = compaction.shortened_through;
                format!("shortened large tool results up to turn {through}")
            }
            1 => "replaced the first turn with a summary".to_owned(),
            through => format!("replaced the first {through} turns with a summary"),
        };
        let tainted = if compaction.tainted { ", tainted" } else { "" };
        let at = format_time(compaction.at);
        let _ = writeln!(out, "{at}  {what}: {tokens_before} to {tokens_after} tokens{tainted}");
    }
    if let Some(last) = compactions.last().filter(|last| !last.summary.is_empty()) {
        out.push_str("summary that the agent reads:\n");
        for line in last.summary.lines() {
            let _ = writeln!(out, "  {}", visible_line(line));
        }
    }
    out
}
