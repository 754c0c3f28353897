//! `foreword eval tools`: the ten tools that a session sends, and what one `tool_search` adds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use foreword::bootstrap;
use foreword_search::Ranked;
use serde::Serialize;

use super::format_interval;
use super::retrieval::{Bench, Tool};
use super::tool_pool::{NeededTools, ToolPool, ToolSets};
use crate::args::EmbedderArgs;
use crate::embedders;
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};

/// Tools that a session sends for its first message, tools that one search shows with their schemas, and tools that
/// it only names.
const SENT: usize = 10;
const FOUND: usize = 10;
const NAMED: usize = 40;

/// Measure the tools that a session sends, and one tool search
///
/// A session with many tools sends the ten that fit its first message; `tool_search` shows ten others with their schemas
/// and names forty more. Measures the share of the right tools among the ten sent, and after one search: with the words
/// of the message, and with the words of another query that needs one of the tools that are missing. The second simulates
/// a model that describes what it needs in its own words. Intervals are 95% bootstrap intervals. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Each directory holds tools.jsonl and queries.jsonl, as `foreword eval retrieval` reads them.

Examples:
  foreword eval tools sets/livemcpbench sets/toolalpaca --pool 1000
  foreword eval tools sets/slurp --json | jq .all.sent")]
pub(crate) struct EvalToolsArgs {
    /// Directories with a set each
    #[arg(required = true, value_name = "DIR")]
    sets: Vec<PathBuf>,
    /// Mix the tools of all sets in one pool of this size; without it, the pool has all tools
    #[arg(long, value_name = "N")]
    pool: Option<usize>,
    /// Maximum number of queries of each set
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_queries: usize,
    /// Use only the queries in this language
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
    #[command(flatten)]
    embedder: EmbedderArgs,
}

/// The share of the right tools at each point of one query.
#[derive(Clone, Copy)]
struct Shares {
    sent: f64,
    same_words: Reached,
    /// Known only where other queries need the same tools.
    other_words: Option<Reached>,
}

/// The share of the right tools that a model has after a search.
#[derive(Clone, Copy)]
struct Reached {
    /// With their schemas.
    shown: f64,
    /// With their schemas or by name.
    named: f64,
}

/// A share with its 95% interval.
#[derive(Serialize)]
struct Figure {
    share: f64,
    interval: Option<[f64; 2]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    queries: usize,
    /// The right tools are among the ten sent.
    sent: Figure,
    /// They are, after a search with the same words: with schemas, and with schemas or by name.
    same_words: Figure,
    same_words_gain: Figure,
    same_words_named: Figure,
    same_words_named_gain: Figure,
    /// The same for the queries whose tools other queries need, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_words: Option<OtherWords>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtherWords {
    queries: usize,
    sent: Figure,
    after: Figure,
    gain: Figure,
    named: Figure,
    named_gain: Figure,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder: Option<String>,
    all: Summary,
    per_set: BTreeMap<String, Summary>,
}

pub(crate) fn run(args: &EvalToolsArgs, terminal: &Terminal) -> Result<(), CliError> {
    let mut sets = ToolSets::default();
    for directory in &args.sets {
        sets.add(directory, args.lang.as_deref())?;
    }
    let pool = match args.pool {
        Some(size) => sets.mixed(size, args.max_queries),
        None => sets.whole(args.max_queries.saturating_mul(args.sets.len())),
    };
    if pool.queries.is_empty() {
        return Err(CliError::usage("no query fits the pool")
            .hint("pass a larger `--pool`, or another `--lang`"));
    }
    let embedder = embedders::open(&args.embedder)?;
    let bench = Bench::new(embedder.as_deref(), false, terminal)?;
    let asked = measure(&bench, &sets, &pool)?;
    // Clears the progress line before the result is printed.
    drop(bench);
    let mut by_set: BTreeMap<String, Vec<Shares>> = BTreeMap::new();
    for (query, shares) in &asked {
        by_set.entry(query.set.clone()).or_default().push(*shares);
    }
    let all: Vec<Shares> = asked.iter().map(|(_, shares)| *shares).collect();
    let report = Report {
        tools: pool.tools.len(),
        embedder: embedder.as_deref().map(|embedder| embedder.id().to_string()),
        all: Summary::of(&all),
        per_set: by_set.iter().map(|(set, all)| (set.clone(), Summary::of(all))).collect(),
    };
    if terminal.json { terminal.print_json(&report) } else { terminal.print(&table(&report)) }
}

fn measure<'s>(
    bench: &Bench<'_>,
    sets: &'s ToolSets,
    pool: &ToolPool,
) -> Result<Vec<(&'s NeededTools, Shares)>, CliError> {
    let tools: Vec<Tool> =
        pool.tools.iter().filter_map(|place| sets.tools.get(*place).cloned()).collect();
    let selector = bench.index(&tools, "tools")?;
    let ranked = |text: &str| -> Result<Vec<usize>, CliError> {
        let (ranked, ..) = bench.ask(&selector, text)?;
        let place = |ranked: &Ranked| pool.tools.get(ranked.index).copied();
        Ok(ranked.iter().filter_map(place).collect())
    };
    let mut asked = Vec::new();
    for (number, place) in (1..).zip(&pool.queries) {
        let Some(query) = sets.queries.get(*place) else { continue };
        bench.at("queries", number, pool.queries.len());
        let first = ranked(&query.text)?;
        let sent: BTreeSet<usize> = first.iter().take(SENT).copied().collect();
        let within = |ranking: &[usize], count: usize| {
            let found = ranking.iter().filter(|tool| !sent.contains(tool)).take(count);
            let has: BTreeSet<usize> = found.chain(&sent).copied().collect();
            share(&query.tools, &has)
        };
        let after = |ranking: &[usize]| Reached {
            shown: within(ranking, FOUND),
            named: within(ranking, FOUND + NAMED),
        };
        let has_other_words =
            query.tools.iter().all(|tool| sets.other_words(query, *tool).is_some());
        let missing = query.tools.difference(&sent).next();
        let other_words = match missing.and_then(|tool| sets.other_words(query, *tool)) {
            _ if !has_other_words => None,
            Some(words) => Some(after(&ranked(words)?)),
            // Nothing is missing, so nobody searches.
            None => {
                let all = share(&query.tools, &sent);
                Some(Reached { shown: all, named: all })
            }
        };
        let shares =
            Shares { sent: share(&query.tools, &sent), same_words: after(&first), other_words };
        asked.push((query, shares));
    }
    Ok(asked)
}

/// The share of the needed tools that there are.
fn share(needed: &BTreeSet<usize>, there: &BTreeSet<usize>) -> f64 {
    needed.intersection(there).count() as f64 / needed.len().max(1) as f64
}

impl Summary {
    fn of(all: &[Shares]) -> Self {
        let same: Vec<(f64, Reached)> =
            all.iter().map(|shares| (shares.sent, shares.same_words)).collect();
        let other: Vec<(f64, Reached)> =
            all.iter().filter_map(|shares| Some((shares.sent, shares.other_words?))).collect();
        let mean = |pairs: &[(f64, Reached)], value: fn(f64, Reached) -> f64| {
            Figure::mean(pairs.iter().map(|(sent, after)| value(*sent, *after)))
        };
        Self {
            queries: all.len(),
            sent: mean(&same, |sent, _| sent),
            same_words: mean(&same, |_, after| after.shown),
            same_words_gain: mean(&same, |sent, after| after.shown - sent),
            same_words_named: mean(&same, |_, after| after.named),
            same_words_named_gain: mean(&same, |sent, after| after.named - sent),
            other_words: (!other.is_empty()).then(|| OtherWords {
                queries: other.len(),
                sent: mean(&other, |sent, _| sent),
                after: mean(&other, |_, after| after.shown),
                gain: mean(&other, |sent, after| after.shown - sent),
                named: mean(&other, |_, after| after.named),
                named_gain: mean(&other, |sent, after| after.named - sent),
            }),
        }
    }
}

impl Figure {
    fn mean(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len().max(1) as f64;
        let rows: Vec<usize> = (0..values.len()).collect();
        let [interval] = bootstrap(&[&rows], |counts| {
            let drawn = values.iter().zip(counts).map(|(value, n)| value * *n as f64);
            [Some(drawn.sum::<f64>() / count)]
        });
        Self { share: values.iter().sum::<f64>() / count, interval }
    }
}

fn table(report: &Report) -> String {
    let mut out = String::new();
    let heading = |words: &str| {
        format!(
            "{words:18} {:>7} {:>6} {:>13} {:>6} {:>6} {:>13} {:>6} {:>6} {:>13}\n",
            "queries", "sent", "95%", "schema", "gain", "95%", "named", "gain", "95%"
        )
    };
    let line = |name: &str, queries: usize, figures: [&Figure; 5]| {
        let [sent, shown, shown_gain, named, named_gain] = figures;
        let interval = |figure: &Figure| format_interval(figure.interval.as_ref());
        format!(
            "{name:18} {queries:>7} {:>6.3} {:>13} {:>6.3} {:>6.3} {:>13} {:>6.3} {:>6.3} {:>13}\n",
            sent.share,
            interval(sent),
            shown.share,
            shown_gain.share,
            interval(shown_gain),
            named.share,
            named_gain.share,
            interval(named_gain),
        )
    };
    let sets = report.per_set.iter().filter(|_| report.per_set.len() > 1);
    let rows: Vec<(String, &Summary)> = std::iter::once(("all".to_owned(), &report.all))
        .chain(sets.map(|(set, summary)| (plain_line(set, 18), summary)))
        .collect();
    out.push_str(&heading("same words"));
    for (name, it) in &rows {
        let figures = [
            &it.sent,
            &it.same_words,
            &it.same_words_gain,
            &it.same_words_named,
            &it.same_words_named_gain,
        ];
        out.push_str(&line(name, it.queries, figures));
    }
    if report.all.other_words.is_some() {
        out.push_str(&heading("other words"));
    }
    for (name, it) in &rows {
        if let Some(it) = &it.other_words {
            let figures = [&it.sent, &it.after, &it.gain, &it.named, &it.named_gain];
            out.push_str(&line(name, it.queries, figures));
        }
    }
    let embedder = report.embedder.as_deref().unwrap_or("keywords only");
    let _ = writeln!(out, "{} tools, {embedder}", report.tools);
    out.push_str(
        "same words: the search repeats the message; other words: it uses those of another query\n\
         schema: sent or found with its schema; named: or named by the search\n",
    );
    out
}
