//! `foreword eval retrieval`: tool retrieval on a set of queries.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use foreword_embed::{Embedder, Vector};
use foreword_search::{
    Item, Kind, Outcome, Ranked, Selector, Summary, auroc, background, embedding_text,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::format_interval;
use crate::args::EmbedderArgs;
use crate::embedders;
use crate::error::CliError;
use crate::inputs::{display_name, read_input};
use crate::progress::Progress;
use crate::terminal::{Terminal, plain_line};

/// Texts per call of the embedder, small enough to show progress.
const BATCH: usize = 256;

/// Measure tool retrieval: recall, rank and abstention
///
/// Ranks the whole pool of tools for every query, in the order that selection uses. Limits and thresholds do not apply.
/// Intervals are 95% bootstrap intervals. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Each file has one JSON object per line; a tool's default `id` is its name:
  tools         {\"id\": \"a1\", \"name\": \"play_music\", \"description\": \"Plays a song\"}
  queries       {\"text\": \"put on some jazz\", \"relevant\": [\"a1\"], \"lang\": \"en\"}
  out of scope  {\"text\": \"who wrote Hamlet?\"}
A query with `candidates`, a list of tools, is ranked against those alone. Other fields are ignored.

Examples:
  foreword eval retrieval --tools tools.jsonl --queries queries.jsonl
  foreword eval retrieval --tools t.jsonl --queries q.jsonl --json | jq .r10
  foreword eval retrieval --tools t.jsonl --queries q.jsonl --embedder use")]
pub(crate) struct EvalRetrievalArgs {
    /// Pool of tools
    #[arg(long, value_name = "FILE|-")]
    tools: PathBuf,
    /// Queries with the tools they need
    #[arg(long, value_name = "FILE|-")]
    queries: PathBuf,
    /// Queries that no tool matches
    #[arg(long, value_name = "FILE|-")]
    out_of_scope: Option<PathBuf>,
    #[command(flatten)]
    embedder: EmbedderArgs,
}

#[derive(Clone, Deserialize)]
pub(super) struct Tool {
    id: Option<String>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
}

impl Tool {
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }
}

#[derive(Deserialize)]
pub(super) struct Question {
    pub(super) text: String,
    #[serde(default)]
    pub(super) lang: String,
    #[serde(default)]
    pub(super) relevant: Vec<String>,
    #[serde(default)]
    candidates: Vec<Tool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[serde(flatten)]
    all: Summary,
    per_lang: BTreeMap<String, Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_scope: Option<OutOfScope>,
    tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder: Option<String>,
    index_ms: f64,
    unknown_relevant: usize,
}

#[derive(Serialize)]
struct OutOfScope {
    queries: usize,
    /// The probability that a query in scope scores higher than one out of scope.
    auroc: Option<f64>,
    /// Its 95% interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
}

pub(crate) fn run(args: &EvalRetrievalArgs, terminal: &Terminal) -> Result<(), CliError> {
    let tools: Vec<Tool> = lines(&args.tools, "tools")?;
    let queries: Vec<Question> = lines(&args.queries, "queries")?;
    let outsiders: Vec<Question> = match &args.out_of_scope {
        Some(path) => lines(path, "out-of-scope queries")?,
        None => Vec::new(),
    };
    let places = places(&tools, &args.tools)?;
    let unknown_relevant = unknown(&queries, &places, &args.queries, terminal)?;
    let embedder = embedders::open(&args.embedder)?;
    let embedder = embedder.as_deref();
    let bench = Bench::new(embedder, args.out_of_scope.is_some(), terminal)?;

    let started = Instant::now();
    let pool = bench.index(&tools, "tools")?;
    let index_ms = started.elapsed().as_secs_f64() * 1000.0;
    let mut outcomes = Vec::new();
    let mut inside = Vec::new();
    for (number, query) in (1..).zip(&queries) {
        bench.at("queries", number, queries.len());
        let own = bench.own(query)?;
        let (ranked, took, fit) = bench.ask(own.as_ref().unwrap_or(&pool), &query.text)?;
        let place = |id: &String| -> Option<usize> {
            if query.candidates.is_empty() {
                return places.get(id.as_str()).copied();
            }
            query.candidates.iter().position(|tool| tool.id() == id)
        };
        let relevant: Vec<Option<usize>> = query.relevant.iter().map(place).collect();
        outcomes.push(Outcome::new(&query.lang, &ranked, &relevant, took));
        inside.push(fit);
    }
    let out_of_scope = match &args.out_of_scope {
        Some(_) => Some(bench.out_of_scope(&pool, &tools, &places, &queries, inside, &outsiders)?),
        None => None,
    };
    let embedder = bench.embedder.map(|embedder| embedder.id().to_string());
    // Clears the progress line before the result is printed.
    drop(bench);
    let report = Report {
        all: Summary::of(&outcomes),
        per_lang: Summary::by_language(&outcomes),
        out_of_scope,
        tools: tools.len(),
        embedder,
        index_ms,
        unknown_relevant,
    };
    if terminal.json { terminal.print_json(&report) } else { terminal.print(&table(&report)) }
}

/// Reads one object per line; skips blank lines.
pub(super) fn lines<T: DeserializeOwned>(path: &Path, what: &str) -> Result<Vec<T>, CliError> {
    let text = read_input(path)?;
    let name = display_name(path);
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let value = serde_json::from_str(line).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            CliError::usage(format!("{name}:{number}: {message}"))
                .hint("see `foreword eval retrieval --help` for the format")
        })?;
        all.push(value);
    }
    if all.is_empty() {
        return Err(CliError::usage(format!("{name} contains no {what}"))
            .hint("see `foreword eval retrieval --help` for the format"));
    }
    Ok(all)
}

/// The position of each tool by its id.
fn places<'a>(tools: &'a [Tool], path: &Path) -> Result<BTreeMap<&'a str, usize>, CliError> {
    let mut places = BTreeMap::new();
    for (place, tool) in tools.iter().enumerate() {
        if places.insert(tool.id(), place).is_some() {
            let id = plain_line(tool.id(), 80);
            return Err(CliError::usage(format!(
                "{}: two tools have the id `{id}`",
                display_name(path)
            ))
            .hint("give each tool a unique `id`"));
        }
    }
    Ok(places)
}

/// Counts relevant ids without a tool. They count as not found, and usually are a mistake.
fn unknown(
    queries: &[Question],
    places: &BTreeMap<&str, usize>,
    path: &Path,
    terminal: &Terminal,
) -> Result<usize, CliError> {
    let name = display_name(path);
    let (mut count, mut first, mut wanted) = (0, None, 0);
    for query in queries {
        for id in &query.relevant {
            wanted += 1;
            let known = places.contains_key(id.as_str())
                || query.candidates.iter().any(|tool| tool.id() == id);
            if !known {
                count += 1;
                first.get_or_insert(id);
            }
        }
    }
    let first = plain_line(first.map_or("", String::as_str), 80);
    if wanted == 0 {
        return Err(CliError::usage(format!("{name}: no query has `relevant` tools")));
    }
    if count == wanted {
        return Err(CliError::usage(format!(
            "{name}: no relevant id matches a tool, for example `{first}`"
        ))
        .hint("check that the queries belong to these tools"));
    }
    if count > 0 {
        terminal.warn(&format!(
            "{name}: {count} of {wanted} relevant ids match no tool, for example `{first}`; they count as not found"
        ));
    }
    Ok(count)
}

/// The state of an evaluation.
pub(super) struct Bench<'a> {
    embedder: Option<&'a dyn Embedder>,
    /// Whether to score how well the best item fits.
    scores_fit: bool,
    /// Texts that show which items match everything.
    background: Vec<Vector>,
    /// Vectors of tools, which several queries may share.
    seen: RefCell<HashMap<String, Vector>>,
    progress: RefCell<Progress>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        embedder: Option<&'a dyn Embedder>,
        scores_fit: bool,
        terminal: &Terminal,
    ) -> Result<Self, CliError> {
        Ok(Self {
            embedder,
            background: embedder.map(background).transpose()?.unwrap_or_default(),
            scores_fit,
            seen: RefCell::default(),
            progress: RefCell::new(Progress::new(terminal)),
        })
    }

    pub(super) fn at(&self, what: &str, number: usize, of: usize) {
        self.progress.borrow_mut().at(what, number, Some(of));
    }

    pub(super) fn index(&self, tools: &[Tool], what: &str) -> Result<Selector, CliError> {
        let texts: Vec<String> =
            tools.iter().map(|tool| embedding_text(&tool.name, &tool.description)).collect();
        let mut vectors: Vec<Vector> = Vec::new();
        if let Some(embedder) = self.embedder {
            let mut seen = self.seen.borrow_mut();
            let mut fresh: Vec<&str> = texts.iter().map(String::as_str).collect();
            fresh.retain(|text| !seen.contains_key(*text));
            fresh.sort_unstable();
            fresh.dedup();
            let of = fresh.len();
            for (batch, done) in fresh.chunks(BATCH).zip((0..).step_by(BATCH)) {
                if !what.is_empty() {
                    self.progress.borrow_mut().at(what, done, Some(of));
                }
                let made = embedder.embed(batch)?;
                seen.extend(batch.iter().map(|text| (*text).to_owned()).zip(made));
            }
            vectors.extend(texts.iter().filter_map(|text| seen.get(text).cloned()));
        }
        let items: Vec<Item<'_>> = tools
            .iter()
            .enumerate()
            .map(|(place, tool)| Item {
                kind: Kind::Tool,
                name: &tool.name,
                text: &tool.description,
                vector: vectors.get(place),
            })
            .collect();
        Ok(Selector::new(&items)?.with_background(&self.background)?)
    }

    /// The candidates of a query, if it has its own.
    fn own(&self, query: &Question) -> Result<Option<Selector>, CliError> {
        if query.candidates.is_empty() {
            return Ok(None);
        }
        self.index(&query.candidates, "").map(Some)
    }

    /// The ranking, its time including the embedding, and the score of the best item.
    pub(super) fn ask(
        &self,
        pool: &Selector,
        text: &str,
    ) -> Result<(Vec<Ranked>, Duration, f32), CliError> {
        let started = Instant::now();
        let vectors = self.embedder.map(|embedder| embedder.embed(&[text])).transpose()?;
        let vector = vectors.as_ref().and_then(|vectors| vectors.first());
        let ranked = pool.rank(text, vector)?;
        let took = started.elapsed();
        let fit = if self.scores_fit { pool.fit(text, vector)? } else { 0.0 };
        Ok((ranked, took, fit))
    }

    /// If out-of-scope queries have their own candidates, queries in scope without candidates are ranked
    /// against their relevant tools alone, so that the two are comparable.
    fn out_of_scope(
        &self,
        pool: &Selector,
        tools: &[Tool],
        places: &BTreeMap<&str, usize>,
        queries: &[Question],
        mut inside: Vec<f32>,
        outsiders: &[Question],
    ) -> Result<OutOfScope, CliError> {
        let mut outside = Vec::new();
        for (number, query) in (1..).zip(outsiders) {
            self.at("out-of-scope queries", number, outsiders.len());
            let own = self.own(query)?;
            outside.push(self.ask(own.as_ref().unwrap_or(pool), &query.text)?.2);
        }
        if outsiders.iter().any(|query| !query.candidates.is_empty()) {
            for (query, fit) in queries.iter().zip(&mut inside) {
                let relevant = query.relevant.iter().filter_map(|id| places.get(id.as_str()));
                let relevant: Vec<Tool> =
                    relevant.filter_map(|place| tools.get(*place).cloned()).collect();
                if query.candidates.is_empty() && !relevant.is_empty() {
                    *fit = self.ask(&self.index(&relevant, "")?, &query.text)?.2;
                }
            }
        }
        let (auroc, interval) = auroc(&inside, &outside).unzip();
        Ok(OutOfScope { queries: outsiders.len(), auroc, interval })
    }
}

fn table(report: &Report) -> String {
    let mut out = format!(
        "{:8} {:>7} {:>6} {:>6} {:>6} {:>6} {:>13} {:>6} {:>6} {:>6} {:>8}\n",
        "", "queries", "hit1", "r3", "r5", "r10", "95%", "all10", "mrr", "ndcg10", "p95 ms"
    );
    let mut row = |name: &str, x: &Summary| {
        let interval = format_interval(x.intervals.get("r10"));
        let _ = writeln!(
            out,
            "{name:8} {:>7} {:>6.3} {:>6.3} {:>6.3} {:>6.3} {interval:>13} {:>6.3} {:>6.3} {:>6.3} {:>8.3}",
            x.queries, x.hit1, x.r3, x.r5, x.r10, x.all_found10, x.mrr, x.ndcg10, x.p95_ms
        );
    };
    row("all", &report.all);
    if report.per_lang.len() > 1 {
        report.per_lang.iter().for_each(|(lang, summary)| row(&plain_line(lang, 8), summary));
    }
    if let Some(OutOfScope { queries, auroc: Some(auroc), interval }) = &report.out_of_scope {
        let interval = format_interval(interval.as_ref());
        let _ = writeln!(out, "out of scope: {queries} queries, AUROC {auroc:.3} ({interval})");
    }
    let embedder = report.embedder.as_deref().unwrap_or("keywords only");
    let _ =
        writeln!(out, "{} tools, {embedder}, indexed in {:.0} ms", report.tools, report.index_ms);
    out
}
