//! `memory search`, `list`, `show`: what is there.

use std::fmt::Write as _;
use std::path::Path;

use foreword::visible;
use foreword_search::{Hit, KindFilter, MemoryEngine, MemoryKind, Recall, Recalled};
use foreword_store::{KeyedMemory, MemoryFilter, StoreError};
use serde_json::{Value, json};

use super::{day, described, embedder_if_any, label, reader, scope};
use crate::args::{MemoryListArgs, MemorySearchArgs};
use crate::commands::skill;
use crate::error::CliError;
use crate::person::{now_ms, shown_time};
use crate::terminal::{Terminal, plain_line};

pub(crate) fn search(
    workspace: &Path,
    args: &MemorySearchArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if let Some(score) = args.min_score.filter(|score| !(0.0..=1.0).contains(score)) {
        return Err(CliError::usage(format!("--min-score is {score}, not a number from 0 to 1")));
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
    let engine = MemoryEngine::open_read(&skill::store(workspace)?.database_path())?;
    let embedder = embedder_if_any(workspace, terminal);
    let vectors = embedder.as_ref().map(|embedder| {
        let vectors = embedder.embed(&[&args.query]);
        vectors
            .map_err(|error| terminal.warn(&format!("searching by words only: {error}")))
            .unwrap_or_default()
    });
    recall.vector = vectors.iter().flatten().next();
    let found = engine.map(|engine| engine.recall(&recall)).transpose()?.unwrap_or_default();
    if let Some(embedder) = embedder.filter(|_| found.without_vector > 0) {
        terminal.say(&format!(
            "{} memories have no vector of {} and are found by words only: `foreword memory reindex`",
            found.without_vector,
            embedder.id()
        ));
    }
    if terminal.json {
        return terminal.print_json(&answer(&found)?);
    }
    if found.hits.is_empty() {
        let more = match found.below_threshold {
            0 => String::new(),
            n => format!("; {n} fit badly, `--all` shows them"),
        };
        terminal.say(&format!("nothing fits{more}"));
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
                "meaning": parts.meaning.map(number), "words": number(parts.words),
                "recency": number(parts.recency),
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

/// Four digits are more than a score means.
fn number(x: f32) -> Value {
    json!((f64::from(x) * 1e4).round() / 1e4)
}

pub(crate) fn list(
    workspace: &Path,
    args: &MemoryListArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let kind = args.kind.as_deref().map(MemoryKind::parse).transpose()?;
    let page = reader(workspace)?
        .map(|reader| {
            reader.read_memories(|rows| -> Result<_, StoreError> {
                let after = args.after.as_deref().map(|id| rows.find(id)).transpose()?;
                rows.list(&MemoryFilter {
                    kind,
                    scope: scope(&args.scope),
                    tainted: args.tainted.then_some(true),
                    limit: Some(args.limit.saturating_add(1)),
                    before: after.map(|memory| (memory.entry.created_at, memory.key)),
                })
            })
        })
        .transpose()?
        .flatten()
        .unwrap_or_default();
    let shown = page.get(..args.limit).unwrap_or(&page);
    if terminal.json {
        let entries = shown.iter().map(|memory| described(&memory.entry));
        return terminal.print_json(&entries.collect::<Result<Vec<Value>, CliError>>()?);
    }
    if shown.is_empty() {
        terminal.say("no memories");
    }
    let mut out = String::new();
    for KeyedMemory { entry, .. } in shown {
        let text = plain_line(&entry.text, 160);
        let _ = writeln!(out, "{}  {}  [{}] {text}", entry.id, day(entry), label(entry));
    }
    terminal.print(&out)?;
    if let (Some(last), true) = (shown.last(), page.len() > shown.len()) {
        terminal.say(&format!("there are more: --after {}", last.entry.id));
    }
    Ok(())
}

pub(crate) fn one(workspace: &Path, id: &str, terminal: &Terminal) -> Result<(), CliError> {
    let found = match reader(workspace)? {
        Some(reader) => reader.read_memories(|rows| -> Result<_, StoreError> {
            let memory = rows.find(id)?;
            let embedder = rows.embedder_of(memory.key)?;
            Ok((memory.entry, embedder))
        })?,
        None => None,
    };
    let Some((entry, embedder)) = found else {
        return Err(StoreError::NoSuchMemory { id: id.to_owned() }.into());
    };
    if terminal.json {
        let mut value = described(&entry)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("embedder".into(), json!(embedder));
        }
        return terminal.print_json(&value);
    }
    let mut out = format!("{}  [{}]\n", entry.id, plain_line(&label(&entry), 400));
    let _ = writeln!(out, "stored:  {}", shown_time(entry.created_at));
    let fields = [
        ("date", entry.date.clone()),
        ("source", entry.source.clone()),
        ("importance", entry.importance.map(|x| x.to_string())),
        ("vector", embedder),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            let _ = writeln!(out, "{:8} {}", format!("{name}:"), plain_line(&value, 300));
        }
    }
    let _ = writeln!(out, "\n{}", visible(&entry.text));
    terminal.print(&out)
}
