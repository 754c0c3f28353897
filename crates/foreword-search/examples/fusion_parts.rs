//! Writes what `tools/model/query_map.py` and `tools/model/exemplars.py` train on: the vectors of a retrieval set, and its
//! fused scores without the cosines.
//!
//! `cargo run --release -p foreword-search --example fusion_parts -- DATA/SET OUT`
//!
//! SET has tools.jsonl and queries.jsonl. OUT gets little-endian f32, row after row: tools.f32 and queries.f32 with a
//! vector each, and rest.f32 with a row per query and a number per tool. If SET has out_of_scope.jsonl, OUT/scope gets
//! queries in and out of scope with the pools they are compared with, as `foreword eval retrieval` compares them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foreword_embed::{Embedder as _, EmbedderId, StaticEmbedder, Vector};
use foreword_search::{Item, Kind, LexicalIndex, Selector, background_requests, embedding_text};
use serde_json::Value;

fn main() {
    let [set, out] = std::env::args()
        .skip(1)
        .map(PathBuf::from)
        .collect::<Vec<_>>()
        .try_into()
        .expect("two arguments: a folder with a set, and a folder for the result");
    fs::create_dir_all(&out).unwrap();
    let (tools, queries) = (lines(&set.join("tools.jsonl")), lines(&set.join("queries.jsonl")));
    let embedder = StaticEmbedder::embedded().unwrap();
    // Under another version the vectors are compared as they are, without the map that is to be trained.
    let id = Arc::new(EmbedderId::new("static", "unmapped", embedder.id().dims));
    let embed = |texts: &[&str]| -> Vec<Vector> {
        let vectors = embedder.embed(texts).unwrap().into_iter();
        vectors.map(|v| Vector::new(Arc::clone(&id), v.values().to_vec()).unwrap()).collect()
    };
    let background = embed(&background_requests().collect::<Vec<_>>());
    let texts: Vec<String> = tools.iter().map(tool_text).collect();
    let vectors = embed(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let selector = index(&tools, &vectors, &background);
    let texts: Vec<&str> = queries.iter().map(|query| field(query, "text")).collect();
    let asked = embed(&texts);
    let mut rest: Vec<f32> = Vec::with_capacity(tools.len() * queries.len());
    for (text, query) in texts.iter().zip(&asked) {
        rest.extend(without_cosines(&selector, text, query, &vectors));
    }
    let values = |vectors: &[Vector]| -> Vec<f32> {
        vectors.iter().flat_map(|vector| vector.values().to_vec()).collect()
    };
    write(&out.join("tools.f32"), &values(&vectors));
    write(&out.join("queries.f32"), &values(&asked));
    write(&out.join("rest.f32"), &rest);
    fs::write(out.join("table"), &embedder.id().version).unwrap();
    let outsiders = set.join("out_of_scope.jsonl");
    if outsiders.exists() {
        let outsiders = lines(&outsiders);
        let folder = out.join("scope");
        fs::create_dir_all(&folder).unwrap();
        let own_pools = outsiders.iter().any(|query| query["candidates"].is_array());
        // The tools of all pools, each once.
        let (mut all, mut places) = (Vec::new(), HashMap::new());
        for (name, asked) in [("in", &queries), ("out", &outsiders)] {
            let mut scope = Scope::default();
            for query in asked {
                let pool: Vec<Value> = match query["candidates"].as_array() {
                    Some(candidates) => candidates.clone(),
                    None if own_pools => {
                        let relevant = query["relevant"].as_array().unwrap();
                        tools.iter().filter(|x| relevant.contains(&x["id"])).cloned().collect()
                    }
                    None => tools.clone(),
                };
                let text = field(query, "text");
                let query = embed(&[text]).remove(0);
                let texts: Vec<String> = pool.iter().map(tool_text).collect();
                let vectors = embed(&texts.iter().map(String::as_str).collect::<Vec<_>>());
                let pool_index = index(&pool, &vectors, &background);
                scope.rest.extend(without_cosines(&pool_index, text, &query, &vectors));
                scope.known.push(lexical(&pool).scores(text).known);
                scope.counts.push(pool.len() as u32);
                scope.queries.extend(query.values());
                scope.chance.push(chance(&background, &vectors));
                for (text, vector) in texts.into_iter().zip(vectors) {
                    let next = places.len() as u32;
                    scope.places.push(*places.entry(text).or_insert_with(|| {
                        all.extend(vector.values().to_vec());
                        next
                    }));
                }
            }
            scope.write(&folder, name);
        }
        write(&folder.join("tools"), &all);
    }
    println!("{}: {} queries, {} tools", set.display(), queries.len(), tools.len());
}

/// Queries with a pool each.
#[derive(Default)]
struct Scope {
    queries: Vec<f32>,
    known: Vec<f32>,
    counts: Vec<u32>,
    /// The tools of the pools, by their places among all.
    places: Vec<u32>,
    rest: Vec<f32>,
    chance: Vec<f32>,
}

impl Scope {
    fn write(&self, folder: &Path, name: &str) {
        let at = |part: &str| folder.join(format!("{name}.{part}"));
        write(&at("queries"), &self.queries);
        write(&at("known"), &self.known);
        write(&at("rest"), &self.rest);
        write(&at("chance"), &self.chance);
        for (part, numbers) in [("counts", &self.counts), ("places", &self.places)] {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            fs::write(at(part), bytes).unwrap();
        }
    }
}

fn tool_text(tool: &Value) -> String {
    embedding_text(field(tool, "name"), field(tool, "description"))
}

fn index(tools: &[Value], vectors: &[Vector], background: &[Vector]) -> Selector {
    let items: Vec<Item<'_>> = tools
        .iter()
        .zip(vectors)
        .map(|(tool, vector)| Item {
            kind: Kind::Tool,
            name: field(tool, "name"),
            text: field(tool, "description"),
            vector: Some(vector),
        })
        .collect();
    Selector::new(&items).unwrap().with_background(background).unwrap()
}

fn lexical(tools: &[Value]) -> LexicalIndex {
    LexicalIndex::new(tools.iter().map(|tool| (field(tool, "name"), field(tool, "description"))))
}

/// The score of every item less its cosine.
fn without_cosines(selector: &Selector, text: &str, query: &Vector, items: &[Vector]) -> Vec<f32> {
    let mut row = vec![0.0; items.len()];
    for ranked in selector.rank(text, Some(query)).unwrap() {
        row[ranked.index] = ranked.score - query.cosine(&items[ranked.index]).unwrap();
    }
    row
}

/// The cosine that an unrelated request has with the closest of these items.
fn chance(background: &[Vector], items: &[Vector]) -> f32 {
    let closest = background.iter().map(|request| {
        let cosines = items.iter().map(|item| request.cosine(item).unwrap());
        cosines.max_by(f32::total_cmp).unwrap_or_default()
    });
    closest.sum::<f32>() / background.len() as f32
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn write(path: &Path, values: &[f32]) {
    fs::write(path, values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
}
