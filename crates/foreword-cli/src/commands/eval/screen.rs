//! `foreword eval screen`: verdicts of the screener on a corpus of skills, by group.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use foreword_guard::{Policy, Verdict};
use foreword_serve::ScreenPolicy;
use foreword_skills::Screeners;
use serde::Serialize;
use serde_json::json;

use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::{Terminal, plain_line};

const MAX_FILE_BYTES: u64 = 4 << 20;
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 200_000;

/// Count screening verdicts on a corpus of skills
///
/// Screens every SKILL.md in a folder and groups the verdicts by subfolder. Given a JSONL file of whole skill folders
/// (id, label, source, attack_in, files), groups them by label, source and place of the attack, with 95% intervals.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword eval screen corpus --policy import
  foreword eval screen folders.jsonl --list
  foreword eval screen corpus --json | jq .groups")]
pub(crate) struct EvalScreenArgs {
    /// Folder of folders of skills, or JSONL file of skill folders
    #[arg(value_name = "DIR|FILE")]
    directory: PathBuf,
    /// Screening policy
    #[arg(long, value_enum, default_value = "import")]
    policy: ScreenPolicy,
    /// List every rejected or flagged file
    #[arg(long)]
    list: bool,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    files: usize,
    reject: usize,
    needs_review: usize,
    auto_approve: usize,
    unreadable: usize,
}

pub(crate) fn run(args: &EvalScreenArgs, terminal: &Terminal) -> Result<(), CliError> {
    if args.directory.is_file() {
        return super::folders::run(&args.directory, args.policy.into(), args.list, terminal);
    }
    let mut files = Vec::new();
    find(&args.directory, 0, &mut files)?;
    files.sort();
    if files.is_empty() {
        let directory = args.directory.display();
        return Err(CliError::usage(format!("{directory} contains no SKILL.md")));
    }
    let screeners = Screeners::default();
    let policy = Policy::from(args.policy);
    let mut groups: BTreeMap<String, Counts> = BTreeMap::new();
    let mut listed = Vec::new();
    let (mut took, mut bytes) = (Duration::ZERO, 0);
    for file in &files {
        let keys = groups_of(&args.directory, file);
        let Ok(content) = read_bytes(file, MAX_FILE_BYTES) else {
            for key in keys {
                groups.entry(key).or_default().unreadable += 1;
            }
            continue;
        };
        bytes += content.len();
        let start = Instant::now();
        let screening = screeners.screen_file(policy, &content, None);
        took += start.elapsed();
        for key in keys {
            let counts = groups.entry(key).or_default();
            counts.files += 1;
            match screening.verdict {
                Verdict::Reject => counts.reject += 1,
                Verdict::NeedsReview => counts.needs_review += 1,
                Verdict::AutoApprove => counts.auto_approve += 1,
            }
        }
        if screening.verdict > Verdict::AutoApprove {
            listed.push((file, screening));
        }
    }
    let micros_per_kb = took.as_secs_f64() * 1e6 / (bytes.max(1) as f64 / 1024.0);
    if terminal.json {
        let found = listed.iter().map(|(file, screening)| {
            let mut rules: Vec<&str> = screening
                .findings
                .iter()
                .filter(|finding| finding.verdict == screening.verdict)
                .map(|finding| finding.rule.as_str())
                .collect();
            rules.dedup();
            json!({ "file": file, "verdict": screening.verdict, "rules": rules })
        });
        let found: Vec<_> = if args.list { found.collect() } else { Vec::new() };
        return terminal.print_json(&json!({
            "groups": groups, "microsPerKb": micros_per_kb, "bytes": bytes, "found": found,
        }));
    }
    terminal.print(&table(&groups))?;
    if args.list {
        let mut out = String::new();
        for (file, screening) in &listed {
            let path = file.strip_prefix(&args.directory).unwrap_or(file).display().to_string();
            let _ = writeln!(
                out,
                "{:12}  {}: {}",
                screening.verdict.as_str(),
                plain_line(&path, 120),
                plain_line(&screening.reason, 200)
            );
        }
        terminal.print(&out)?;
    }
    terminal.say(&format!("{bytes} bytes, {micros_per_kb:.1} µs per KiB"));
    Ok(())
}

/// The groups of a file: its top folder, and there the source that its name gives before `__`.
fn groups_of(root: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(root).unwrap_or(file);
    let names: Vec<&str> = below.iter().filter_map(|name| name.to_str()).collect();
    let group = if names.len() > 2 { names.first().copied().unwrap_or(".") } else { "." };
    let mut keys = vec![group.to_owned()];
    if let Some((source, _)) = names.get(1).and_then(|name| name.split_once("__")) {
        keys.push(format!("{group}/{source}"));
    }
    keys
}

fn table(groups: &BTreeMap<String, Counts>) -> String {
    let mut out = format!(
        "{:44} {:>6} {:>14} {:>14} {:>14}\n",
        "group", "files", "REJECT", "NEEDS_REVIEW", "AUTO_APPROVE"
    );
    for (group, counts) in groups {
        let share = |part: usize| {
            let percent = 100.0 * part as f64 / counts.files.max(1) as f64;
            format!("{part} ({percent:.1}%)")
        };
        let _ = writeln!(
            out,
            "{group:44} {:>6} {:>14} {:>14} {:>14}",
            counts.files,
            share(counts.reject),
            share(counts.needs_review),
            share(counts.auto_approve)
        );
        if counts.unreadable > 0 {
            let _ = writeln!(out, "{:44} {:>6} unreadable", "", counts.unreadable);
        }
    }
    out
}

fn find(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let path = directory.display();
    let cannot = |error: std::io::Error| CliError::usage(format!("cannot read {path}: {error}"));
    for entry in std::fs::read_dir(directory).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let kind = entry.file_type().map_err(cannot)?;
        if kind.is_dir() && depth < MAX_DEPTH {
            find(&entry.path(), depth + 1, files)?;
        } else if kind.is_file() && entry.file_name() == "SKILL.md" && files.len() < MAX_FILES {
            files.push(entry.path());
        }
    }
    Ok(())
}
