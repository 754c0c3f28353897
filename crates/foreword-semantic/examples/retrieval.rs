//! Measures selection on a set of tools and queries.
//!
//! ```text
//! retrieval tools.jsonl queries.jsonl none|static TABLE|use MODEL TABLE|vectors FILE [--out-of-scope FILE] [--scale X]
//! ```
//!
//! `tools.jsonl` holds `{id, name, description}` a line, `queries.jsonl` `{id, text, lang, relevant}`;
//! a file of vectors holds `{text, vector}` a line. Prints JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foreword_semantic::{
    Calibration, EmbedError, Embedder, EmbedderId, Item, Kind, Outcome, Selector, StaticEmbedder,
    Summary, UseEmbedder, Vector, auroc, embedding_text,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

#[derive(Clone, Deserialize)]
struct Tool {
    #[serde(default)]
    id: String,
    name: String,
    description: String,
}

#[derive(Deserialize)]
struct Question {
    text: String,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    relevant: Vec<String>,
    #[serde(default)]
    candidates: Vec<Tool>,
}

#[derive(Deserialize)]
struct Stored {
    text: String,
    vector: Vec<f32>,
}

/// Vectors made elsewhere.
struct Lookup {
    id: Arc<EmbedderId>,
    vectors: BTreeMap<String, Vec<f32>>,
}

impl Embedder for Lookup {
    fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let values =
            |text: &str| self.vectors.get(text).cloned().unwrap_or_else(|| vec![0.0; self.id.dims]);
        let vectors = texts.iter().map(|text| Vector::new(Arc::clone(&self.id), values(text)));
        Ok(vectors.collect::<Result<_, _>>().unwrap_or_default())
    }
}

fn lines<T: DeserializeOwned>(path: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = |(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("{path}:{number}: {error}"))
    };
    Ok((1..).zip(text.lines()).map(line).collect::<Result<_, _>>()?)
}

fn embedder(kind: &str, files: &[String]) -> Result<Option<Box<dyn Embedder>>, Box<dyn Error>> {
    let file = |place: usize| files.get(place).ok_or("this embedder needs another file");
    Ok(match kind {
        "none" => None,
        "static" => Some(Box::new(StaticEmbedder::open(file(0)?.as_ref())?)),
        "use" => {
            let vocabulary = Arc::new(StaticEmbedder::open(file(1)?.as_ref())?);
            Some(Box::new(UseEmbedder::open(file(0)?.as_ref(), vocabulary)?))
        }
        "vectors" => {
            let stored: Vec<Stored> = lines(file(0)?)?;
            let dims = stored.first().map_or(0, |stored| stored.vector.len());
            let vectors = stored.into_iter().map(|stored| (stored.text, stored.vector)).collect();
            Some(Box::new(Lookup { id: Arc::new(EmbedderId::new("use", "stored", dims)), vectors }))
        }
        _ => {
            return Err(format!(
                "there is no embedder `{kind}`; known: none, static, use, vectors"
            )
            .into());
        }
    })
}

fn selector(
    tools: &[Tool],
    embedder: Option<&dyn Embedder>,
    scale: Option<f32>,
) -> Result<Selector, Box<dyn Error>> {
    let texts: Vec<String> =
        tools.iter().map(|tool| embedding_text(&tool.name, &tool.description)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.map(|embedder| embedder.embed(&texts)).transpose()?;
    let item = |(index, tool): (usize, &Tool)| Item {
        kind: Kind::Tool,
        name: Box::leak(tool.name.clone().into_boxed_str()),
        text: Box::leak(tool.description.clone().into_boxed_str()),
        vector: vectors.as_ref().and_then(|vectors| vectors.get(index)),
    };
    let selector = Selector::new(&tools.iter().enumerate().map(item).collect::<Vec<_>>())?;
    let calibration = selector.calibration();
    Ok(selector
        .with_calibration(Calibration { scale: scale.unwrap_or(calibration.scale), ..calibration }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        let value = arguments.drain(at..(at + 2).min(arguments.len())).nth(1);
        Some(value.unwrap_or_default())
    };
    let out_of_scope = option("--out-of-scope");
    let scale: Option<f32> = option("--scale").map(|scale| scale.parse()).transpose()?;
    let [tools, queries, kind, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: retrieval TOOLS QUERIES none|static TABLE|use MODEL TABLE|vectors FILE [--out-of-scope FILE]"
                .into(),
        );
    };
    let embedder = embedder(kind, rest)?;
    let embedder = embedder.as_deref();
    let tools: Vec<Tool> = lines(tools)?;
    let queries: Vec<Question> = lines(queries)?;
    let started = Instant::now();
    let index = selector(&tools, embedder, scale)?;
    let indexed = started.elapsed();

    let place_of: BTreeMap<&str, usize> =
        tools.iter().map(|tool| tool.id.as_str()).zip(0..).collect();
    let mut outcomes = Vec::new();
    let mut inside = Vec::new();
    let mut embedding = Duration::ZERO;
    for query in &queries {
        let started = Instant::now();
        let vector = embedder.map(|embedder| embedder.embed(&[&query.text])).transpose()?;
        embedding += started.elapsed();
        let ranked =
            index.rank(&query.text, vector.as_ref().and_then(|vectors| vectors.first()))?;
        let took = started.elapsed();
        let relevant: Vec<Option<usize>> =
            query.relevant.iter().map(|id| place_of.get(id.as_str()).copied()).collect();
        outcomes.push(Outcome::new(&query.lang, &ranked, &relevant, took));
        inside.push(best(&ranked));
    }
    // Where a query out of scope brings its own candidates, like is compared with like: queries in
    // scope are then scored over their relevant tools alone.
    let mut outside = Vec::new();
    let mut alone = Vec::new();
    let best_of = |query: &Question, own: &[Tool]| -> Result<f32, Box<dyn Error>> {
        let own = if own.is_empty() { None } else { Some(selector(own, embedder, scale)?) };
        let vector = embedder.map(|embedder| embedder.embed(&[&query.text])).transpose()?;
        let vector = vector.as_ref().and_then(|vectors| vectors.first());
        Ok(best(&own.as_ref().unwrap_or(&index).rank(&query.text, vector)?))
    };
    let strangers =
        out_of_scope.map(|path| lines::<Question>(&path)).transpose()?.unwrap_or_default();
    for query in &strangers {
        outside.push(best_of(query, &query.candidates)?);
    }
    if strangers.iter().any(|query| !query.candidates.is_empty()) {
        for query in &queries {
            let relevant =
                query.relevant.iter().filter_map(|id| tools.get(*place_of.get(id.as_str())?));
            alone.push(best_of(query, &relevant.cloned().collect::<Vec<_>>())?);
        }
    }
    let area = auroc(&inside, &outside);
    let report = json!({
        "all": Summary::of(&outcomes),
        "languages": Summary::by_language(&outcomes),
        "auroc": if alone.is_empty() { area } else { auroc(&alone, &outside) },
        "aurocWholePool": area,
        "topScores": { "inside": quantiles(&mut inside), "outside": quantiles(&mut outside) },
        "indexMs": indexed.as_secs_f64() * 1000.0,
        "embedUs": embedding.as_secs_f64() * 1e6 / queries.len().max(1) as f64,
    });
    #[expect(clippy::print_stdout, reason = "the answer of a program")]
    {
        println!("{report:#}");
    }
    Ok(())
}

/// The scores that 5, 10, 25, 50, 75, 90 and 95 of 100 do not pass.
fn quantiles(scores: &mut [f32]) -> Vec<f32> {
    scores.sort_by(f32::total_cmp);
    let at = |percent: &usize| scores.get(scores.len() * percent / 100).copied();
    [5, 10, 25, 50, 75, 90, 95].iter().filter_map(at).collect()
}

fn best(ranked: &[foreword_semantic::Ranked]) -> f32 {
    ranked.iter().map(|ranked| ranked.score).fold(f32::NEG_INFINITY, f32::max)
}
