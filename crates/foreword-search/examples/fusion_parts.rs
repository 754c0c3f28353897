//! Writes what `tools/model/query_map.py` trains on: the vectors of a retrieval set, and its fused scores without the cosines.
//!
//! `cargo run --release -p foreword-search --example fusion_parts -- DATA/SET OUT`
//!
//! SET has tools.jsonl and queries.jsonl. OUT gets little-endian f32, row after row: tools.f32 and queries.f32 with a
//! vector each, and rest.f32 with a row per query and a number per tool.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foreword_embed::{Embedder as _, EmbedderId, StaticEmbedder, Vector};
use foreword_search::{Item, Kind, Selector, background_requests, embedding_text};
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
    let texts: Vec<String> = tools
        .iter()
        .map(|tool| embedding_text(field(tool, "name"), field(tool, "description")))
        .collect();
    let vectors = embed(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let items: Vec<Item<'_>> = tools
        .iter()
        .zip(&vectors)
        .map(|(tool, vector)| Item {
            kind: Kind::Tool,
            name: field(tool, "name"),
            text: field(tool, "description"),
            vector: Some(vector),
        })
        .collect();
    let background = embed(&background_requests().collect::<Vec<_>>());
    let selector = Selector::new(&items).unwrap().with_background(&background).unwrap();
    let texts: Vec<&str> = queries.iter().map(|query| field(query, "text")).collect();
    let asked = embed(&texts);
    let mut rest: Vec<f32> = Vec::with_capacity(tools.len() * queries.len());
    for (text, query) in texts.iter().zip(&asked) {
        let mut row = vec![0.0; tools.len()];
        for ranked in selector.rank(text, Some(query)).unwrap() {
            row[ranked.index] = ranked.score - query.cosine(&vectors[ranked.index]).unwrap();
        }
        rest.extend(row);
    }
    let values = |vectors: &[Vector]| -> Vec<f32> {
        vectors.iter().flat_map(|vector| vector.values().to_vec()).collect()
    };
    write(&out.join("tools.f32"), &values(&vectors));
    write(&out.join("queries.f32"), &values(&asked));
    write(&out.join("rest.f32"), &rest);
    fs::write(out.join("table"), &embedder.id().version).unwrap();
    println!("{}: {} queries, {} tools", set.display(), queries.len(), tools.len());
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
