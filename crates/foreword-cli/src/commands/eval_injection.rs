//! `foreword eval injection`: how well the scanner does on labelled texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use foreword_guard::{GroupFigures, InjectionFigures, Judged};
use serde::Deserialize;
use serde_json::Value;

use super::scan::{each_line, scanner};
use crate::args::EvalInjectionArgs;
use crate::error::CliError;
use crate::inputs::shown;
use crate::terminal::{Terminal, plain_line};

#[derive(Deserialize)]
struct Labelled {
    text: String,
    label: Value,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    source: String,
}

pub(crate) fn run(args: &EvalInjectionArgs, terminal: &Terminal) -> Result<(), CliError> {
    let scanner = scanner()?;
    let mut judged = Vec::new();
    let name = shown(&args.file);
    each_line(&args.file, |row: Labelled| {
        let Some(injection) = label(&row.label) else {
            let wrong = plain_line(&row.label.to_string(), 40);
            return Err(CliError::usage(format!("{name}: a label is 0 or 1, not {wrong}")));
        };
        // The reasons quote the text; nothing of it is kept.
        let mut scan = scanner.scan(&row.text);
        scan.reasons.clear();
        judged.push(Judged { scan, injection, lang: row.lang, source: row.source });
        Ok(())
    })?;
    if judged.is_empty() {
        return Err(CliError::usage(format!("{name}: there is no text in it")));
    }
    let figures = InjectionFigures::of(&judged);
    if terminal.json {
        return terminal.print_json(&figures);
    }
    let mut out = String::new();
    table(&mut out, "source", &figures.per_source);
    out.push('\n');
    table(&mut out, "language", &figures.per_lang);
    let _ = writeln!(
        out,
        "\n{} texts: recall {}, false positives {}, F1 {}, recall at 1% false positives {}",
        judged.len(),
        number(figures.recall),
        number(figures.fpr),
        number(figures.f1),
        number(figures.recall_at_1_fpr)
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

fn number(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"))
}

fn table(out: &mut String, title: &str, groups: &BTreeMap<String, GroupFigures>) {
    let _ = writeln!(
        out,
        "{title:28} {:>10} {:>7} {:>8} {:>7} {:>16}",
        "injections", "recall", "blocked", "benign", "false positives"
    );
    for (name, group) in groups {
        let _ = writeln!(
            out,
            "{:28} {:>10} {:>7} {:>8} {:>7} {:>16}",
            plain_line(name, 28),
            group.injections,
            number(group.recall),
            number(group.blocked),
            group.benign,
            number(group.fpr)
        );
    }
}
