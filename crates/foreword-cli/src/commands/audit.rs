//! `foreword audit`: the log of everything that was changed or refused, and whether it is whole.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use foreword::Timestamp;
use foreword_skills::GitStore;
use foreword_store::{AuditKey, Entry, Heads, LogFilter, Order, Verification};
use serde_json::{Value, json};

use crate::args::{AuditCommand, AuditLogArgs};
use crate::commands::skill::store;
use crate::error::CliError;
use crate::person::{act, config_dir, now_ms, shown_time};
use crate::terminal::{Terminal, paint, plain_line};

pub(crate) fn run(
    workspace: &Path,
    command: &AuditCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let store = store(workspace)?;
    match command {
        AuditCommand::Log(args) => log(&store, args, terminal),
        AuditCommand::Verify => verify(&store, terminal),
        AuditCommand::Accept { reason } => accept(&store, reason, terminal),
    }
}

fn log(store: &GitStore, args: &AuditLogArgs, terminal: &Terminal) -> Result<(), CliError> {
    let since = args.since.as_deref().map(|text| since(text, now_ms())).transpose()?;
    let Some(reader) = store.reader()? else {
        terminal.say("nothing was recorded in this workspace yet");
        return if terminal.json { terminal.print("[]\n") } else { Ok(()) };
    };
    let mut filter = LogFilter {
        since,
        action_prefix: args.action.clone(),
        order: Order::OldestFirst,
        ..LogFilter::default()
    };
    if let Some(limit) = args.limit {
        // The newest so many, and those oldest first: few enough to hold.
        filter.order = Order::NewestFirst;
        filter.limit = Some(limit);
        let mut entries = reader.entries(&filter)?;
        entries.reverse();
        let mut print = Printer::new(terminal);
        for entry in &entries {
            print.entry(entry)?;
        }
        return print.end();
    }
    let mut print = Printer::new(terminal);
    let mut failed = None;
    reader.log(&filter, |entry| match print.entry(&entry) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => print.end(),
    }
}

/// Prints entries as they come: an array with one entry a line, or lines for people.
struct Printer<'t> {
    terminal: &'t Terminal,
    buffer: String,
    first: bool,
}

impl<'t> Printer<'t> {
    /// How much to gather before it is written.
    const CHUNK: usize = 64 << 10;

    fn new(terminal: &'t Terminal) -> Self {
        Self { terminal, buffer: String::new(), first: true }
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), CliError> {
        if self.terminal.json {
            let mut value = serde_json::to_value(entry)?;
            if let Some(fields) = value.as_object_mut() {
                fields.insert("at".into(), json!(shown_time(entry.at)));
            }
            self.buffer.push_str(if self.first { "[\n" } else { ",\n" });
            self.buffer.push_str(&value.to_string());
        } else {
            let _ = write!(
                self.buffer,
                "{:>6}  {}  {:14} {:8} {}  by {}",
                entry.seq,
                shown_time(entry.at),
                plain_line(&entry.action, 40),
                plain_line(&entry.outcome, 12),
                plain_line(&entry.subject, 64),
                plain_line(&entry.actor, 64),
            );
            if let Some(reason) = entry.detail.get("reason").and_then(Value::as_str) {
                let _ = write!(self.buffer, "  ({})", plain_line(reason, 120));
            }
            self.buffer.push('\n');
        }
        self.first = false;
        if self.buffer.len() >= Self::CHUNK {
            self.terminal.print(&std::mem::take(&mut self.buffer))?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), CliError> {
        if self.terminal.json {
            self.buffer.push_str(if self.first { "[]\n" } else { "\n]\n" });
        } else if self.first {
            self.terminal.say("no entries");
        }
        self.terminal.print(&self.buffer)
    }
}

fn verify(store: &GitStore, terminal: &Terminal) -> Result<(), CliError> {
    let verification = match store.reader()? {
        Some(reader) => {
            let config = config_dir()?;
            let key = AuditKey::load(&config)?;
            reader.verify(&key, &Heads::new(&config), &store.anchors()?)?
        }
        None => return without_database(store, terminal),
    };
    report(&verification, &store.lost_commits()?, terminal)
}

fn report(
    verification: &Verification,
    lost_commits: &[String],
    terminal: &Terminal,
) -> Result<(), CliError> {
    if terminal.json {
        let mut value = serde_json::to_value(verification)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("ok".into(), json!(verification.is_clean()));
            let texts = |list: Vec<String>| json!(list);
            let said = verification.faults.iter().map(ToString::to_string).collect();
            fields.insert("messages".into(), texts(said));
            fields.insert("lostCommits".into(), json!(lost_commits));
        }
        terminal.print_json(&value)?;
    } else {
        let mut out = String::new();
        for fault in &verification.faults {
            let _ =
                writeln!(out, "{} {}", paint("fault:", "31"), plain_line(&fault.to_string(), 400));
        }
        if verification.is_clean() {
            let Verification { entries, anchors, .. } = verification;
            let _ = writeln!(
                out,
                "{entries} entries, unbroken, and {anchors} anchors in the history hold"
            );
        }
        terminal.print(&out)?;
        for note in &verification.notes {
            terminal.say(&format!("note: {note}"));
        }
        if let Some(newest) = lost_commits.last() {
            terminal.warn(&format!(
                "{} commits of skills that the log speaks of are not in the history any more, the \
                 newest {newest}: it was set back, rewritten or begun anew",
                lost_commits.len()
            ));
        }
    }
    if verification.is_clean() {
        return Ok(());
    }
    let faults = verification.faults.len() as u64 + verification.more_faults;
    Err(CliError::not_right(format!("the audit log is not what it was: {faults} faults"))
        .hint("docs/audit.md says what each of them means"))
}

/// No log is fine where there never was one, and not where one was written down elsewhere.
fn without_database(store: &GitStore, terminal: &Terminal) -> Result<(), CliError> {
    let anchors = store.anchors()?;
    let database = store.database_path();
    // By way of the workspace: the folder of the database may be gone with it.
    let root = store.workspace().root();
    let canonical = match (root.canonicalize(), database.strip_prefix(root)) {
        (Ok(whole), Ok(below)) => whole.join(below),
        _ => database,
    };
    let head = Heads::new(&config_dir()?).file(&canonical);
    if anchors.is_empty() && !head.exists() {
        if terminal.json {
            return terminal.print_json(&json!({ "ok": true, "entries": 0, "faults": [] }));
        }
        terminal.say("nothing was recorded in this workspace yet");
        return Ok(());
    }
    if terminal.json {
        let message = "the audit log is gone";
        terminal.print_json(&json!({ "ok": false, "entries": 0, "messages": [message] }))?;
    }
    Err(CliError::not_right(format!("{}: the audit log is gone", canonical.display())).hint(
        "put the database back from a backup, with the files beside it that begin with its name",
    ))
}

fn accept(store: &GitStore, reason: &str, terminal: &Terminal) -> Result<(), CliError> {
    let accepted = store.accept_losses(reason, &act())?;
    if terminal.json {
        return terminal.print_json(&json!({ "accepted": accepted }));
    }
    terminal
        .print(&format!("{accepted} lost ends of the log are accepted, and that is on record\n"))
}

/// A time, a date, or an age, in milliseconds since 1970.
fn since(text: &str, now: i64) -> Result<i64, CliError> {
    let wrong = || {
        CliError::usage(format!("--since `{text}` is not a time"))
            .hint("use 2026-02-26T14:30:00Z, 2026-02-26, or an age such as 90m, 12h or 7d")
    };
    let time = Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")));
    if let Some(time) = time {
        return Ok(time.unix().saturating_mul(1000));
    }
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        Some('w') => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let digits = text.get(..text.len() - 1).unwrap_or_default();
    let count: i64 = digits.parse().ok().filter(|count| *count >= 0).ok_or_else(wrong)?;
    Ok(now.saturating_sub(count.saturating_mul(unit).saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_dates_and_ages_are_understood() {
        let now = 1_772_116_200_000;
        let at = |text| since(text, now).map_err(|error| error.message);
        assert_eq!(at("2026-02-26T14:30:00Z"), Ok(now));
        assert_eq!(at("2026-02-26"), Ok(1_772_064_000_000));
        assert_eq!(at("90m"), Ok(now - 5_400_000));
        assert_eq!(at("7d"), Ok(now - 604_800_000));
        for wrong in ["", "d", "-1d", "yesterday", "7", "7é", "99999999999999999999d"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
