//! `foreword eval injection`: the scanner on labelled texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use foreword_guard::{GroupFigures, InjectionFigures, Judged};
use serde::Deserialize;
use serde_json::Value;

use super::format_share;
use crate::commands::scan::{each_line, scanner};
use crate::error::CliError;
use crate::inputs::display_name;
use crate::terminal::{Terminal, plain_line};

/// Measure the injection scanner on labelled texts
///
/// Each line of FILE is a JSON object with `text`, `label` (1 for an injection, 0 for a harmless text), and optionally
/// `lang`, `source` and `form` (`embedded` in a document, or `bare`). Intervals are 95% bootstrap intervals.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword eval injection labelled.jsonl
  foreword eval injection labelled.jsonl --json | jq .perSource")]
pub(crate) struct EvalInjectionArgs {
    /// Labelled texts, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

#[derive(Deserialize)]
struct Labelled {
    text: String,
    label: Value,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    form: String,
}

pub(crate) fn run(args: &EvalInjectionArgs, terminal: &Terminal) -> Result<(), CliError> {
    let scanner = scanner()?;
    let mut judged = Vec::new();
    let name = display_name(&args.file);
    each_line(&args.file, |row: Labelled| {
        let Some(injection) = label(&row.label) else {
            let wrong = plain_line(&row.label.to_string(), 40);
            return Err(CliError::usage(format!("{name}: invalid label {wrong}; expected 0 or 1")));
        };
        // Reasons quote the text; dropping them saves memory.
        let mut scan = scanner.scan(&row.text);
        scan.reasons = Vec::new();
        scan.findings = Vec::new();
        let Labelled { lang, source, form, .. } = row;
        judged.push(Judged { scan, injection, lang, source, form });
        Ok(())
    })?;
    if judged.is_empty() {
        return Err(CliError::usage(format!("{name} contains no texts")));
    }
    let figures = InjectionFigures::of(&judged);
    if terminal.json {
        return terminal.print_json(&figures);
    }
    let mut out = String::new();
    table(&mut out, "source", &figures.per_source);
    out.push('\n');
    table(&mut out, "language", &figures.per_lang);
    if figures.per_form.keys().any(|form| !form.is_empty()) {
        out.push('\n');
        table(&mut out, "form", &figures.per_form);
    }
    let _ = writeln!(
        out,
        "\n{} texts: recall {}, false positives {}, F1 {}, recall at 1% false positives {}, AUC {}",
        judged.len(),
        format_share(figures.recall),
        format_share(figures.fpr),
        format_share(figures.f1),
        format_share(figures.recall_at_1_fpr),
        format_share(figures.auc)
    );
    let interval = |name: &str| {
        figures
            .intervals
            .get(name)
            .map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"))
    };
    let _ = writeln!(
        out,
        "95% intervals: recall {}, false positives {}, F1 {}, recall at 1% {}, AUC {}",
        interval("recall"),
        interval("fpr"),
        interval("f1"),
        interval("recallAt1Fpr"),
        interval("auc")
    );
    let rates = figures.recall_at.iter().map(|(rate, recall)| format!("{recall:.3} at {rate}"));
    let _ = writeln!(
        out,
        "recall at fixed false positive rates: {}",
        rates.collect::<Vec<_>>().join(", ")
    );
    terminal.print(&out)
}

fn label(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(yes) => Some(*yes),
        Value::Number(n) if n.as_f64() == Some(1.0) => Some(true),
        Value::Number(n) if n.as_f64() == Some(0.0) => Some(false),
        _ => None,
    }
}

fn table(out: &mut String, title: &str, groups: &BTreeMap<String, GroupFigures>) {
    let _ = writeln!(
        out,
        "{title:24} {:>10} {:>7} {:>13} {:>8} {:>7} {:>6} {:>7} {:>15} {:>13} {:>8}",
        "injections",
        "recall",
        "95%",
        "blocked",
        "at 2%",
        "AUC",
        "benign",
        "false positives",
        "95%",
        "blocked"
    );
    let interval = |found: Option<[f64; 2]>| {
        found.map_or("-".to_owned(), |[low, high]| format!("{low:.3}-{high:.3}"))
    };
    for (name, group) in groups {
        let _ = writeln!(
            out,
            "{:24} {:>10} {:>7} {:>13} {:>8} {:>7} {:>6} {:>7} {:>15} {:>13} {:>8}",
            plain_line(if name.is_empty() { "-" } else { name }, 24),
            group.injections,
            format_share(group.recall),
            interval(group.recall_interval),
            format_share(group.blocked),
            format_share(group.recall_at_2_fpr),
            format_share(group.auc),
            group.benign,
            format_share(group.fpr),
            interval(group.fpr_interval),
            format_share(group.benign_blocked)
        );
    }
}
