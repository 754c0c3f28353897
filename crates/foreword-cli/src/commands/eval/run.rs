//! `foreword eval run`: the selection of a workspace on a set of tasks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use foreword::{Selected, mean_interval};
use foreword_gather::{Assembler, Request};
use serde::{Deserialize, Serialize};

use super::{format_interval, format_share};
use crate::args::parse_ratio;
use crate::commands::build;
use crate::error::CliError;
use crate::inputs::{clock, display_name, read_input, user_request};
use crate::terminal::Terminal;

/// Measure selection on the tasks of a workspace
///
/// Reports precision and recall with 95% bootstrap intervals, tokens saved and latency.
#[derive(Args, Debug)]
#[command(after_help = "\
Each line of the set is a task with the tools and skills to select for it:
  {\"task\": \"corrige o erro de login\", \"lang\": \"pt\", \"tools\": [\"edit\"], \"skills\": [\"debugging\"]}
`mode` may be plan, act or review. An empty list checks that nothing is selected; a missing list is not checked.

Examples:
  foreword eval run -w examples/semantic
  foreword eval run --set eval.jsonl --min-precision 0.8")]
pub(crate) struct EvalRunArgs {
    /// Set of tasks, relative to the workspace
    #[arg(long, value_name = "FILE", default_value = "eval.jsonl")]
    set: PathBuf,
    /// Agent to build for: a folder in agents/
    #[arg(short, long, value_name = "ID")]
    agent: Option<String>,
    /// Fail with exit code 1 if recall is lower, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_ratio)]
    min_recall: Option<f64>,
    /// Fail with exit code 1 if precision at K is lower, for tools or skills, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_ratio)]
    min_precision: Option<f64>,
}

/// A task and its expected selection.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    task: String,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    mode: foreword::ModeChoice,
    /// A missing list is not checked; an empty list expects no selection.
    tools: Option<Vec<String>>,
    skills: Option<Vec<String>>,
}

/// Sums over cases.
#[derive(Default)]
struct Tally {
    cases: usize,
    tools: Kind,
    skills: Kind,
}

/// Figures of the cases that say what they expect of a kind.
#[derive(Default)]
struct Kind {
    precision: Vec<f64>,
    recall: Vec<f64>,
    /// Of the cases that expect no selection: 1 where there was none by score.
    abstained: Vec<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    cases: usize,
    tools: Quality,
    skills: Quality,
    per_lang: BTreeMap<String, Row>,
    tokens: Tokens,
    latency_ms: Latency,
    embedding_calls: Calls,
    filter_rate: f64,
    degraded: usize,
    missed: Vec<Missed>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Quality {
    /// The share of correct items among the first K, where K is the number expected.
    precision_at_k: Option<f64>,
    /// The share of expected items that were selected.
    recall: Option<f64>,
    /// The share of cases that expect no selection and get none by score.
    abstained: Option<f64>,
    /// 95% intervals by name, by drawing cases again.
    intervals: BTreeMap<&'static str, [f64; 2]>,
}

#[derive(Serialize)]
struct Row {
    cases: usize,
    tools: Quality,
    skills: Quality,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    selected: f64,
    everything: f64,
    /// The share of tokens that selection saves, 0 to 1.
    saved: f64,
}

#[derive(Serialize)]
struct Latency {
    p50: f64,
    p95: f64,
    p99: f64,
}

#[derive(Serialize)]
struct Calls {
    mean: f64,
    most: u32,
}

/// An expected item that was not selected.
#[derive(Serialize)]
struct Missed {
    line: usize,
    task: String,
    kind: &'static str,
    name: String,
}

pub(crate) fn run(
    workspace: &Path,
    args: &EvalRunArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let path = if args.set.is_absolute() || args.set.as_os_str() == "-" {
        args.set.clone()
    } else {
        workspace.join(&args.set)
    };
    let cases = cases(&path)?;
    let report = measure(workspace, args, &cases, terminal)?;
    if terminal.json {
        terminal.print_json(&report)?;
    } else {
        terminal.print(&table(&report))?;
    }
    for (what, least, shares) in [
        (
            "precision",
            args.min_precision,
            [report.tools.precision_at_k, report.skills.precision_at_k],
        ),
        ("recall", args.min_recall, [report.tools.recall, report.skills.recall]),
    ] {
        let Some(least) = least else { continue };
        if shares == [None, None] {
            return Err(CliError::usage(format!(
                "cannot measure {what}: no task lists expected tools or skills"
            )));
        }
        for (kind, share) in ["tools", "skills"].iter().zip(shares) {
            if let Some(share) = share.filter(|share| *share < least) {
                let message =
                    format!("{what} of {kind} is {share:.3}, below the minimum of {least}");
                return Err(CliError::failed(message));
            }
        }
    }
    Ok(())
}

fn cases(path: &Path) -> Result<Vec<(usize, Case)>, CliError> {
    let text = read_input(path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let cases: Vec<(usize, Case)> = lines
        .map(|(number, line)| match serde_json::from_str(line) {
            Ok(case) => Ok((number, case)),
            Err(error) => Err(CliError::usage(error.to_string())
                .in_file(&format!("{}:{number}", display_name(path)))),
        })
        .collect::<Result<_, _>>()?;
    if cases.is_empty() {
        return Err(CliError::usage(format!("{} contains no tasks", display_name(path))));
    }
    Ok(cases)
}

fn measure(
    workspace: &Path,
    args: &EvalRunArgs,
    cases: &[(usize, Case)],
    terminal: &Terminal,
) -> Result<Report, CliError> {
    let assembler = Assembler::new(workspace);
    let user = user_request()?;
    let request = |case: &Case, everything: bool| Request {
        agent: args.agent.clone(),
        task: Some(case.task.clone()),
        mode: Some(case.mode),
        now: Some(clock()),
        everything,
        ..user.clone()
    };
    // The first assembly reads files and builds the pool; it is not measured.
    if let Some((_, first)) = cases.first() {
        let warm = Request { task: Some("warm up".into()), ..request(first, false) };
        let gathered = assembler.assemble(&warm)?;
        gathered.warnings.iter().for_each(|warning| terminal.warn(warning));
        check_names(cases, &gathered, terminal);
    }
    let mut all = Tally::default();
    let mut by_lang: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut selected_tokens, mut all_tokens) = (0.0, 0.0);
    let (mut calls, mut most_calls, mut degraded) = (0_u32, 0, 0);
    let (mut shown_memories, mut filtered) = (0_usize, 0_usize);
    let mut times = Vec::with_capacity(cases.len());
    let mut missed = Vec::new();
    for (line, case) in cases {
        let start = Instant::now();
        let gathered = assembler.assemble(&request(case, false))?;
        let (prompt, _) = build::compile(&gathered, None);
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        selected_tokens += f64::from(prompt.tokens());
        let everything = assembler.assemble(&request(case, true))?;
        all_tokens += f64::from(everything.blueprint.build(&everything.context).tokens());
        shown_memories += gathered.context.memories.len() + gathered.context.activity.len();
        filtered += foreword_host::filtered_count(&prompt);
        let Some(selection) = &gathered.context.selection else { continue };
        calls += selection.embedding_calls;
        most_calls = most_calls.max(selection.embedding_calls);
        degraded += usize::from(selection.degraded.is_some());
        for tally in [&mut all, by_lang.entry(case.lang.clone()).or_default()] {
            tally.cases += 1;
            tally.tools.add(case.tools.as_deref(), &selection.tools);
            tally.skills.add(case.skills.as_deref(), &selection.skills);
        }
        let kinds =
            [("tool", &case.tools, &selection.tools), ("skill", &case.skills, &selection.skills)];
        for (kind, expected, found) in kinds {
            let absent = expected.iter().flatten().filter(|name| !is_among(found, name));
            missed.extend(absent.map(|name| Missed {
                line: *line,
                task: case.task.clone(),
                kind,
                name: name.clone(),
            }));
        }
    }
    let count = cases.len().max(1) as f64;
    times.sort_by(f64::total_cmp);
    Ok(Report {
        cases: cases.len(),
        tools: all.tools.quality(),
        skills: all.skills.quality(),
        per_lang: by_lang
            .into_iter()
            .map(|(lang, tally)| {
                let (tools, skills) = (tally.tools.quality(), tally.skills.quality());
                (lang, Row { cases: tally.cases, tools, skills })
            })
            .collect(),
        tokens: Tokens {
            selected: round(selected_tokens / count),
            everything: round(all_tokens / count),
            saved: round(1.0 - selected_tokens / all_tokens.max(1.0)),
        },
        latency_ms: Latency {
            p50: percentile(&times, 50),
            p95: percentile(&times, 95),
            p99: percentile(&times, 99),
        },
        embedding_calls: Calls { mean: round(f64::from(calls) / count), most: most_calls },
        filter_rate: round(filtered as f64 / (filtered + shown_memories).max(1) as f64),
        degraded,
        missed,
    })
}

/// Warns about names in the set that no tool or skill has.
fn check_names(cases: &[(usize, Case)], gathered: &foreword_gather::Gathered, terminal: &Terminal) {
    let context = &gathered.context;
    for (line, case) in cases {
        for name in case.tools.iter().flatten() {
            if !context.has_tool(name) {
                terminal.warn(&format!(
                    "line {line} of the set expects the tool `{name}`, which does not exist"
                ));
            }
        }
        for name in case.skills.iter().flatten() {
            if !context.skills.iter().any(|skill| skill.name.inspect() == name) {
                terminal.warn(&format!(
                    "line {line} of the set expects the skill `{name}`, which does not exist"
                ));
            }
        }
    }
}

fn is_among(found: &[Selected], name: &str) -> bool {
    found.iter().any(|selected| selected.name.inspect() == name)
}

impl Kind {
    fn add(&mut self, expected: Option<&[String]>, found: &[Selected]) {
        let Some(expected) = expected else { return };
        if expected.is_empty() {
            let by_score = |selected: &Selected| {
                selected.reasons.iter().any(|reason| reason.inspect() == "score")
            };
            self.abstained.push(f64::from(u8::from(!found.iter().any(by_score))));
            return;
        }
        let right = |found: &[Selected]| {
            expected.iter().filter(|name| is_among(found, name)).count() as f64
        };
        // By score, so that items that the mode always includes do not count.
        let mut ranked = found.to_vec();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked.truncate(expected.len());
        self.precision.push(right(&ranked) / expected.len() as f64);
        self.recall.push(right(found) / expected.len() as f64);
    }

    fn quality(&self) -> Quality {
        let mean = |values: &[f64]| {
            let sum: f64 = values.iter().sum();
            (!values.is_empty()).then(|| round(sum / values.len() as f64))
        };
        let named = [
            ("precisionAtK", &self.precision),
            ("recall", &self.recall),
            ("abstained", &self.abstained),
        ];
        let intervals = named.into_iter().filter_map(|(name, values)| {
            let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            Some((name, mean_interval(&values)?.map(round)))
        });
        Quality {
            precision_at_k: mean(&self.precision),
            recall: mean(&self.recall),
            abstained: mean(&self.abstained),
            intervals: intervals.collect(),
        }
    }
}

fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    round(sorted.get(place).copied().unwrap_or_default())
}

fn table(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<10} {:>6} {:>10} {:>13} {:>8} {:>13} {:>10} {:>13} {:>8} {:>13}",
        "language",
        "tasks",
        "tools P@K",
        "95%",
        "recall",
        "95%",
        "skills P@K",
        "95%",
        "recall",
        "95%"
    );
    let mut row = |lang: &str, cases: usize, tools: &Quality, skills: &Quality| {
        let [tool_p, tool_r, skill_p, skill_r] = [
            (tools, "precisionAtK"),
            (tools, "recall"),
            (skills, "precisionAtK"),
            (skills, "recall"),
        ]
        .map(|(quality, name)| format_interval(quality.intervals.get(name)));
        let _ = writeln!(
            out,
            "{lang:<10} {cases:>6} {:>10} {tool_p:>13} {:>8} {tool_r:>13} {:>10} {skill_p:>13} {:>8} {skill_r:>13}",
            format_share(tools.precision_at_k),
            format_share(tools.recall),
            format_share(skills.precision_at_k),
            format_share(skills.recall)
        );
    };
    for (lang, found) in &report.per_lang {
        row(if lang.is_empty() { "-" } else { lang }, found.cases, &found.tools, &found.skills);
    }
    row("all", report.cases, &report.tools, &report.skills);
    let tokens = &report.tokens;
    let _ = writeln!(
        out,
        "\n{:.0} tokens per prompt, {:.0} with everything: {:.0}% saved\n\
         latency: median {:.2} ms, p95 {:.2} ms; embedding calls: mean {}, maximum {}\n\
         {:.0}% of recalled memories were filtered",
        tokens.selected,
        tokens.everything,
        tokens.saved * 100.0,
        report.latency_ms.p50,
        report.latency_ms.p95,
        report.embedding_calls.mean,
        report.embedding_calls.most,
        report.filter_rate * 100.0
    );
    for (kind, share) in [("tool", report.tools.abstained), ("skill", report.skills.abstained)] {
        if let Some(share) = share {
            let share = share * 100.0;
            let _ = writeln!(
                out,
                "no {kind} was selected for {share:.0}% of the tasks that match none"
            );
        }
    }
    for Missed { line, kind, name, .. } in &report.missed {
        let _ = writeln!(out, "line {line}: the {kind} `{name}` was not selected");
    }
    out
}
