//! `cargo xtask attack`: the scripted adversary for as many turns as you like, and its report.
//!
//! The attacks are the tests `adversary` of foreword-cli. This runs more of them than the tests do, and
//! writes the figures into `docs/security-testing.md`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::error::TaskError;
use crate::figures::replace_figures;
use crate::steps::{Steps, cargo, target};

pub(crate) const DEFAULT_TURNS: u64 = 10_000;
pub(crate) const DEFAULT_SEED: u64 = 1;

/// Runs the attacks; the figures are written also if some did not hold.
pub(crate) fn run(steps: &mut Steps, turns: u64, seed: u64) -> Result<(), TaskError> {
    let reports = target().join("attack");
    let _ = fs::remove_dir_all(&reports);
    fs::create_dir_all(&reports).map_err(TaskError::io("cannot create target/attack"))?;
    let mut command = cargo();
    command
        .args(["test", "--workspace", "--test", "it", "--", "adversary", "--nocapture"])
        .env("FOREWORD_ATTACK_TURNS", turns.to_string())
        .env("FOREWORD_ATTACK_SEED", seed.to_string())
        .env("FOREWORD_ATTACK_REPORT", &reports);
    steps.run("attack", &mut command)?;
    replace_figures("attacks", &table(&read(&reports)?))?;
    steps.verdict()
}

fn read(reports: &Path) -> Result<Vec<Value>, TaskError> {
    let listed = fs::read_dir(reports).map_err(TaskError::io("cannot list target/attack"))?;
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)
            .map_err(TaskError::io(format!("cannot read {}", file.display())))?;
        found.push(serde_json::from_str(&text).unwrap_or_default());
    }
    Ok(found)
}

fn table(reports: &[Value]) -> String {
    let mut out = String::from(
        "| sandbox | seed | scenes | turns | turns refused | time | peak memory of the host | faults |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for report in reports {
        let number = |key: &str| report[key].as_u64().unwrap_or_default();
        // A run without a conversation has no host whose memory could be seen.
        let peak = match number("peakMib") {
            0 => "–".to_owned(),
            mib => format!("{mib} MiB"),
        };
        out += &format!(
            "| {} | {} | {} | {} | {} | {} s | {peak} | {} |\n",
            report["sandbox"].as_str().unwrap_or_default(),
            number("seed"),
            number("scenes"),
            number("turns"),
            number("refused"),
            number("seconds"),
            report["faults"].as_array().map_or(0, Vec::len),
        );
    }
    let classes = |report: &Value| report["classes"].as_object().cloned().unwrap_or_default();
    let mut names: Vec<String> = reports
        .iter()
        .flat_map(|report| classes(report).into_iter().map(|(name, _)| name))
        .collect();
    names.sort();
    names.dedup();
    out += "\n| attacks |";
    for report in reports {
        out += &format!(" {} |", report["sandbox"].as_str().unwrap_or_default());
    }
    out += &format!("\n|---|{}\n", "---|".repeat(reports.len()));
    for name in names {
        out += &format!("| {name} |");
        for report in reports {
            out += &match classes(report).get(&name) {
                Some(count) => format!(" {} ({}) |", count[0], count[1]),
                None => " – |".to_owned(),
            };
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_sandbox_has_a_column() {
        let reports = [
            json!({"sandbox": "bwrap", "seed": 1, "scenes": 2, "turns": 40, "refused": 1, "seconds": 9, "peakMib": 90, "classes": {"H1 git hooks": [7, 6]}, "faults": []}),
            json!({"sandbox": "subprocess", "seed": 1, "scenes": 1, "turns": 20, "refused": 0, "seconds": 5, "peakMib": 80, "classes": {"L4 canary": [2, 2]}, "faults": ["x"]}),
        ];
        let table = table(&reports);
        assert!(table.contains("| bwrap | 1 | 2 | 40 | 1 | 9 s | 90 MiB | 0 |\n"), "{table}");
        assert!(table.contains("| attacks | bwrap | subprocess |\n|---|---|---|\n"), "{table}");
        assert!(
            table.contains("| H1 git hooks | 7 (6) | – |\n| L4 canary | – | 2 (2) |\n"),
            "{table}"
        );
    }
}
