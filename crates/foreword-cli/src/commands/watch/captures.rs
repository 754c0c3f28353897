//! Stored captures: listing, showing and deleting them.

use std::fmt::Write as _;

use foreword::{visible, visible_line};
use foreword_watch::{CaptureStore, WatchError};
use serde_json::{Value, json};

use super::print::thousands;
use crate::error::CliError;
use crate::json::unversioned;
use crate::terminal::{Terminal, counted, paint, plain_line};

pub(super) fn list(store: &CaptureStore, terminal: &Terminal) -> Result<(), CliError> {
    let entries = store.list()?;
    if terminal.json {
        return terminal.print_json_list(&entries);
    }
    if entries.is_empty() {
        terminal.say("no captures yet; record one with `foreword watch -- PROGRAM`");
        return Ok(());
    }
    let mut out = String::new();
    for entry in &entries {
        let command = entry.info.command.join(" ");
        let command =
            if command.is_empty() { "(proxy)".to_owned() } else { plain_line(&command, 60) };
        let damaged = if entry.is_damaged { paint("  damaged", "33") } else { String::new() };
        let _ = writeln!(
            out,
            "{}  {:>9}  {:>9} KiB  {command}{damaged}",
            visible_line(&entry.info.id),
            counted(entry.calls as u64, "call"),
            thousands(entry.bytes.div_ceil(1024)),
        );
    }
    terminal.print(&out)
}

pub(super) fn show(
    store: &CaptureStore,
    id: &str,
    number: usize,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let id = store.resolve(Some(id))?;
    let capture = store.read(&id)?;
    for damage in capture.damage() {
        terminal.warn(&visible_line(damage));
    }
    let calls = capture.call_count();
    let (request, response) =
        capture.bodies(number).ok_or(WatchError::UnknownCall { id, number, calls })?;
    let value = |body: &str| serde_json::from_str::<Value>(body).unwrap_or_else(|_| body.into());
    if terminal.json {
        return terminal.print_json(&json!({
            "call": number, "request": value(request), "response": value(response),
        }));
    }
    let shown = |body: &str| match value(body) {
        Value::String(text) => Ok(text),
        value => unversioned(&value),
    };
    terminal.print(&format!(
        "{}\n{}\n{}\n{}",
        paint("request", "34"),
        visible(shown(request)?.trim_end()),
        paint("answer", "34"),
        visible(&(shown(response)?.trim_end().to_owned() + "\n")),
    ))
}

pub(super) fn remove(
    store: &CaptureStore,
    ids: &[String],
    all: bool,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let ids: Vec<String> = if all {
        let ids = store.ids()?;
        let question = format!("Delete {}?", counted(ids.len() as u64, "capture"));
        if ids.is_empty() || !terminal.confirm(&question, yes)? {
            return Ok(());
        }
        ids
    } else {
        // All or nothing: a name that is wrong deletes none.
        ids.iter().map(|id| store.resolve(Some(id))).collect::<Result<_, _>>()?
    };
    for id in &ids {
        store.remove(id)?;
    }
    terminal.say(&format!("deleted {}", counted(ids.len() as u64, "capture")));
    if terminal.json { terminal.print_json(&json!({"deleted": ids})) } else { Ok(()) }
}
