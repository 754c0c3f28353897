//! `foreword audit`: the log of changes and refusals, and its verification.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use clap::{Args, Subcommand};
use foreword::Timestamp;
use foreword_skills::{GitStore, SkillError};
use foreword_store::{AuditKey, Entry, Heads, LogFilter, Order, StoreError, Verification};
use serde_json::{Value, json};

use crate::commands::database::reader;
use crate::commands::skill::store;
use crate::error::CliError;
use crate::json::Versioned;
use crate::terminal::{Terminal, counted, paint, plain_line};
use crate::user_env::{act, config_dir, format_time, now_ms};
use crate::workspace_arg::WorkspaceArg;

/// Show and verify the audit log
#[derive(Subcommand, Debug)]
pub(crate) enum AuditCommand {
    Log(AuditLogArgs),
    /// Verify that no entry was changed, removed, moved or added
    #[command(after_help = "\
Examples:
  foreword audit verify
  foreword audit verify --json | jq .ok")]
    Verify,
    /// Accept that earlier entries of the log are lost
    ///
    /// Use it after you restored or deleted the database yourself. The acceptance is an entry of its own.
    #[command(after_help = "\
Examples:
  foreword audit accept --reason \"restored Monday's backup\"")]
    Accept {
        /// Reason, for the audit log
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// Print the audit log, oldest entry first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword audit log --since 7d
  foreword audit log --since 2026-02-26T14:30:00Z --json
  foreword audit log --action skill. -n 20")]
pub(crate) struct AuditLogArgs {
    /// Print entries from this time on: RFC 3339, a date, or an age such as 90m, 12h, 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Print only actions with this prefix, such as `skill.`
    #[arg(long, value_name = "PREFIX")]
    action: Option<String>,
    /// Maximum number of entries; the newest are printed
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &AuditCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let store = store(workspace)?;
    match command {
        AuditCommand::Log(args) => log(workspace, args, terminal),
        AuditCommand::Verify => verify(&store, terminal),
        AuditCommand::Accept { reason } => accept(&store, reason, terminal),
    }
}

fn log(workspace: &Path, args: &AuditLogArgs, terminal: &Terminal) -> Result<(), CliError> {
    let since = args.since.as_deref().map(|text| since(text, now_ms())).transpose()?;
    let Some(reader) = reader(workspace, terminal)? else {
        terminal.say("the audit log is empty");
        return if terminal.json { terminal.print("[]\n") } else { Ok(()) };
    };
    let mut filter = LogFilter {
        since,
        action_prefix: args.action.clone(),
        order: Order::OldestFirst,
        ..LogFilter::default()
    };
    if let Some(limit) = args.limit {
        // The newest entries, printed oldest first.
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

/// Prints entries while they are read: one per line, as text or as elements of a JSON array.
struct Printer<'t> {
    terminal: &'t Terminal,
    buffer: String,
    first: bool,
}

impl<'t> Printer<'t> {
    /// Bytes to buffer before writing.
    const CHUNK: usize = 64 << 10;

    fn new(terminal: &'t Terminal) -> Self {
        Self { terminal, buffer: String::new(), first: true }
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), CliError> {
        if self.terminal.json {
            let mut value = serde_json::to_value(entry)?;
            if let Some(fields) = value.as_object_mut() {
                fields.insert("at".into(), json!(format_time(entry.at)));
            }
            self.buffer.push_str(if self.first { "[\n" } else { ",\n" });
            self.buffer.push_str(&serde_json::to_string(&Versioned::new(&value))?);
        } else {
            let _ = write!(
                self.buffer,
                "{:>6}  {}  {:14} {:8} {}  by {}",
                entry.seq,
                format_time(entry.at),
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
    let reader = match store.reader() {
        Err(SkillError::Store(StoreError::EmptyDatabase { .. })) => None,
        other => other?,
    };
    let Some(reader) = reader else { return without_database(store, terminal) };
    let config = config_dir()?;
    let key = AuditKey::load(&config)?;
    let verification = reader.verify(&key, &Heads::new(&config), &store.anchors()?)?;
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
                "verified {} and {} in the skill history",
                counted(*entries, "entry"),
                counted(*anchors, "anchor")
            );
        }
        terminal.print(&out)?;
        for note in &verification.notes {
            terminal.say(&format!("note: {note}"));
        }
        if let Some(newest) = lost_commits.last() {
            terminal.warn(&format!(
                "the skill history lacks {} that the log records, the newest {newest}: the history was \
                 reset or rewritten",
                counted(lost_commits.len() as u64, "commit")
            ));
        }
    }
    if verification.is_clean() {
        return Ok(());
    }
    let faults = verification.faults.len() as u64 + verification.more_faults;
    Err(CliError::failed(format!("audit log failed verification: {}", counted(faults, "fault")))
        .hint("see docs/audit.md for the meaning of each fault"))
}

/// A missing log is fine if there never was one, and a fault if anchors or a head file record one.
fn without_database(store: &GitStore, terminal: &Terminal) -> Result<(), CliError> {
    let anchors = store.anchors()?;
    let database = store.database_path();
    // From the workspace: the folder of the database may be missing too.
    let root = store.workspace().root();
    let canonical = match (root.canonicalize(), database.strip_prefix(root)) {
        (Ok(whole), Ok(below)) => whole.join(below),
        _ => database,
    };
    let (config, heads) = (config_dir()?, Heads::new(&config_dir()?));
    // A file with something in it, but no log: a copy made without its write-ahead log.
    let filled = canonical.metadata().is_ok_and(|file| file.len() > 0);
    if anchors.is_empty() && !heads.file(&canonical).exists() && !filled {
        if terminal.json {
            return terminal.print_json(&json!({ "ok": true, "entries": 0, "faults": [] }));
        }
        terminal.say("the audit log is empty");
        return Ok(());
    }
    let last = AuditKey::load(&config).and_then(|key| heads.recorded(&key, &canonical));
    let anchored = anchors.iter().map(|anchor| anchor.seq).max();
    let message = match last.ok().flatten().map(|head| head.seq).max(anchored) {
        Some(1) => "the audit log is missing: entry 1 is lost".to_owned(),
        Some(last) => format!("the audit log is missing: entries 1 to {last} are lost"),
        None => "the audit log is missing".to_owned(),
    };
    if terminal.json {
        terminal.print_json(&json!({ "ok": false, "entries": 0, "messages": [&message] }))?;
    }
    Err(CliError::failed(format!("{}: {message}", canonical.display()))
        .hint("restore a backup with `foreword restore FILE`")
        .hint("a copy of the database needs its write-ahead log: use `foreword backup` to copy it"))
}

fn accept(store: &GitStore, reason: &str, terminal: &Terminal) -> Result<(), CliError> {
    let accepted = store.accept_losses(reason, &act())?;
    if terminal.json {
        return terminal.print_json(&json!({ "accepted": accepted }));
    }
    terminal.print(&format!("accepted {}; the log records it\n", counted(accepted as u64, "gap")))
}

/// A time, a date or an age, as milliseconds since the Unix epoch.
fn since(text: &str, now: i64) -> Result<i64, CliError> {
    let wrong = || {
        CliError::usage(format!("invalid time for `--since`: `{text}`"))
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
