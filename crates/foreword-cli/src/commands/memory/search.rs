//! `memory search`.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_search::{Hit, KindFilter, MemoryEngine, Recall, Recalled};
use serde_json::{Value, json};

use super::{ScopeArgs, day, described, embedder_if_any, label};
use crate::commands::database::reader;
use crate::error::CliError;
use crate::terminal::{Terminal, counted, plain_line};
use crate::user_env::now_ms;

/// Search memories
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory search \"which database do we use?\"
  foreword memory search deploy --agent main --user ada   Show what this agent would get
  foreword memory search deploy --all --json              Include every score and kind")]
pub(crate) struct MemorySearchArgs {
    /// Question or keywords
    pub(crate) query: String,
    /// Maximum number of results
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Search only this kind
    #[arg(short, long, value_name = "WORD")]
    pub(crate) kind: Option<String>,
    /// Include low scores and kinds that agents never get
    #[arg(long)]
    pub(crate) all: bool,
    /// Minimum score, 0 to 1 [default: 0.7]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) min_score: Option<f32>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

fn recall(
    workspace: &Path,
    args: &MemorySearchArgs,
    terminal: &Terminal,
) -> Result<Recalled, CliError> {
    if let Some(score) = args.min_score.filter(|score| !(0.0..=1.0).contains(score)) {
        return Err(CliError::usage(format!(
            "invalid value for `--min-score`: {score}; expected a number from 0 to 1"
        )));
    }
    let scope = &args.scope;
    let kinds = match &args.kind {
        Some(kind) => KindFilter::Only(kind),
        None if args.all => KindFilter::Everything,
        None => KindFilter::All,
    };
    let mut recall = Recall {
        agent: scope.agent.as_deref(),
        user: scope.user.as_deref(),
        session: scope.session.as_deref(),
        limit: args.limit,
        min_score: args.min_score.or(args.all.then_some(0.0)),
        kinds,
        diversity: if args.all { 0.0 } else { 0.3 },
        all_scopes: scope.agent.is_none() && scope.user.is_none() && scope.session.is_none(),
        ..Recall::new(&args.query, now_ms())
    };
    let engine = reader(workspace, terminal)?.map(MemoryEngine::with_reader).transpose()?;
    let engine = engine.flatten();
    let embedder = embedder_if_any(workspace, terminal);
    let vectors = embedder.as_ref().map(|embedder| {
        let vectors = embedder.embed(&[&args.query]);
        vectors
            .map_err(|error| {
                terminal.warn(&format!("embeddings unavailable, using keyword search: {error}"));
            })
            .unwrap_or_default()
    });
    recall.vector = vectors.iter().flatten().next();
    let found = engine.map(|engine| engine.recall(&recall)).transpose()?.unwrap_or_default();
    if let Some(embedder) = embedder.filter(|_| found.without_vector > 0) {
        terminal.say(&format!(
            "{} without an embedding of {}, found by keywords only; run `foreword memory reindex`",
            counted(found.without_vector as u64, "memory"),
            embedder.id()
        ));
    }
    Ok(found)
}

/// Searches memories; gives them with their scores.
pub(crate) fn search(
    workspace: &Path,
    args: &MemorySearchArgs,
    terminal: &Terminal,
) -> Result<Value, CliError> {
    answer(&recall(workspace, args, terminal)?)
}

pub(super) fn run(
    workspace: &Path,
    args: &MemorySearchArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let found = recall(workspace, args, terminal)?;
    if terminal.json {
        return terminal.print_json(&answer(&found)?);
    }
    if found.hits.is_empty() {
        let more = match found.below_threshold {
            0 => String::new(),
            n => format!("; {n} scored too low, pass `--all` to see them"),
        };
        terminal.say(&format!("no matching memories{more}"));
    }
    let mut out = String::new();
    for Hit { entry, score, .. } in &found.hits {
        let text = plain_line(&entry.text, 160);
        let _ =
            writeln!(out, "{score:.2}  {}  {}  [{}] {text}", entry.id, day(entry), label(entry));
    }
    terminal.print(&out)
}

fn answer(found: &Recalled) -> Result<Value, CliError> {
    let hits = found.hits.iter().map(|Hit { entry, score, parts, .. }| {
        let mut hit = described(entry)?;
        if let Some(fields) = hit.as_object_mut() {
            fields.insert("score".into(), number(*score));
            let parts = json!({
                "meaning": parts.meaning.map(number), "likeness": number(parts.likeness),
                "words": number(parts.words), "speaker": number(parts.speaker),
                "tellsWhen": parts.tells_when, "date": number(parts.date), "asks": parts.asks,
                "context": number(parts.context), "recency": number(parts.recency),
            });
            fields.insert("parts".into(), parts);
        }
        Ok(hit)
    });
    Ok(json!({
        "hits": hits.collect::<Result<Vec<Value>, CliError>>()?,
        "withVectors": found.with_vectors, "visible": found.visible,
        "withoutVector": found.without_vector, "belowThreshold": found.below_threshold,
        "neverInjected": found.never_injected, "repeated": found.repeated,
    }))
}

/// A score with four decimals.
fn number(x: f32) -> Value {
    json!((f64::from(x) * 1e4).round() / 1e4)
}
