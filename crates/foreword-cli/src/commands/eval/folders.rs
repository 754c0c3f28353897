//! `foreword eval screen FILE.jsonl`: verdicts on whole skill folders, by label, source and place of the attack.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use foreword::mean_interval;
use foreword_guard::{Policy, Screening, Verdict};
use foreword_skills::Screeners;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::{Terminal, plain_line};

const MAX_FILE_BYTES: u64 = 1 << 30;

/// One skill of a labelled set; other fields are ignored.
#[derive(Deserialize)]
struct Row {
    id: String,
    label: String,
    source: String,
    #[serde(default)]
    attack_in: Option<String>,
    files: BTreeMap<String, String>,
}

#[derive(Default)]
struct Verdicts(Vec<Verdict>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    skills: usize,
    refused: Share,
    noticed: Share,
}

/// A share with its 95% interval, by bootstrap.
#[derive(Serialize)]
struct Share {
    share: f64,
    low: f64,
    high: f64,
}

pub(super) fn run(
    file: &Path,
    policy: Policy,
    list: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let bytes = read_bytes(file, MAX_FILE_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let screeners = Screeners::default();
    let mut groups: BTreeMap<String, Verdicts> = BTreeMap::new();
    let mut listed = Vec::new();
    let (mut took, mut code) = (Duration::ZERO, 0);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).map_err(|error| {
            let place = format!("{}:{number}", file.display());
            CliError::usage(format!("{place}: not a skill: {error}"))
                .hint("each line holds id, label, source and files as JSON")
        })?;
        let files: BTreeMap<String, Vec<u8>> =
            row.files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
        code += files.values().map(Vec::len).sum::<usize>();
        let start = Instant::now();
        let screening = screeners.screen_skill(policy, &files, None);
        took += start.elapsed();
        let mut keys = vec![format!("label {}", row.label)];
        keys.push(format!("label {} / {}", row.label, row.source));
        if let Some(place) = row.attack_in {
            keys.push(format!("label {} / attack in {place}", row.label));
        }
        for key in keys {
            groups.entry(key).or_default().0.push(screening.verdict);
        }
        if screening.verdict > Verdict::AutoApprove {
            listed.push((row.id, screening));
        }
    }
    if groups.is_empty() {
        return Err(CliError::usage(format!("{} contains no skills", file.display())));
    }
    let micros_per_kb = took.as_secs_f64() * 1e6 / (code.max(1) as f64 / 1024.0);
    let figures: BTreeMap<&str, Figures> =
        groups.iter().map(|(key, verdicts)| (key.as_str(), verdicts.figures())).collect();
    if terminal.json {
        let found: Vec<_> = if list { listed.iter().map(found_json).collect() } else { Vec::new() };
        return terminal.print_json(&json!({
            "groups": figures, "microsPerKb": micros_per_kb, "bytes": code, "found": found,
        }));
    }
    let mut out = format!("{:52} {:>6}  {:>22}  {:>22}\n", "group", "skills", "refused", "noticed");
    for (group, figures) in &figures {
        let share = |s: &Share| {
            format!("{:.1}% ({:.1}\u{2013}{:.1})", 100.0 * s.share, 100.0 * s.low, 100.0 * s.high)
        };
        let _ = writeln!(
            out,
            "{group:52} {:>6}  {:>22}  {:>22}",
            figures.skills,
            share(&figures.refused),
            share(&figures.noticed)
        );
    }
    if list {
        for (id, screening) in &listed {
            let (verdict, id) = (screening.verdict.as_str(), plain_line(id, 80));
            let _ = writeln!(out, "{verdict:12}  {id}: {}", plain_line(&screening.reason, 200));
        }
    }
    terminal.print(&out)?;
    terminal.say(&format!("{code} bytes, {micros_per_kb:.1} µs per KiB"));
    Ok(())
}

fn found_json((id, screening): &(String, Screening)) -> serde_json::Value {
    json!({
        "id": id, "verdict": screening.verdict, "reason": screening.reason, "findings": screening.findings,
    })
}

impl Verdicts {
    fn figures(&self) -> Figures {
        let at_least = |limit: Verdict| {
            let hits: Vec<bool> = self.0.iter().map(|verdict| *verdict >= limit).collect();
            share(&hits)
        };
        Figures {
            skills: self.0.len(),
            refused: at_least(Verdict::Reject),
            noticed: at_least(Verdict::NeedsReview),
        }
    }
}

/// The share of hits with its interval.
fn share(hits: &[bool]) -> Share {
    let hits: Vec<Option<f64>> = hits.iter().map(|hit| Some(f64::from(u8::from(*hit)))).collect();
    let share = hits.iter().flatten().sum::<f64>() / hits.len().max(1) as f64;
    let [low, high] = mean_interval(&hits).unwrap_or_default();
    Share { share, low, high }
}
