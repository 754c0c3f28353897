//! Time of embedding, vector search and selection: `cargo bench -p foreword-search`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of a bench may panic")]

use std::sync::{Arc, LazyLock};

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use foreword_embed::{Embedder, EmbedderId, StaticEmbedder, Vector};
use foreword_search::{
    Item, Kind, LexicalIndex, Limits, NameIndex, Query, Selector, VectorIndex, background,
};

fn main() {
    divan::main();
}

const DIMS: usize = 256;
const TASK: &str =
    "Please find the open invoices of last month and send a reminder to each customer";

static TABLE: LazyLock<StaticEmbedder> = LazyLock::new(|| StaticEmbedder::embedded().unwrap());

/// Numbers without pattern, always the same.
fn noise(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

fn vector(id: &Arc<EmbedderId>, next: &mut impl FnMut() -> u64) -> Vector {
    let values = (0..DIMS).map(|_| (next() % 2001) as f32 / 1000.0 - 1.0).collect();
    Vector::new(Arc::clone(id), values).unwrap()
}

/// Tools with names and descriptions of real length.
fn tools(count: usize) -> Vec<(String, String)> {
    let stems = [
        "invoice", "customer", "send", "remind", "open", "month", "weather", "create", "list",
        "search",
    ];
    let mut next = noise(7);
    let mut word = || {
        let n = next();
        if n.is_multiple_of(3) {
            stems[n as usize / 3 % stems.len()].to_owned()
        } else {
            format!("w{}x", n % 20_000)
        }
    };
    let words =
        |n: usize, word: &mut dyn FnMut() -> String| (0..n).map(|_| word()).collect::<Vec<_>>();
    (0..count).map(|_| (words(3, &mut word).join("_"), words(16, &mut word).join(" "))).collect()
}

#[divan::bench(args = [TASK, "turn off the light", "关掉卧室的灯"])]
fn embed(bencher: Bencher<'_, '_>, text: &str) {
    bencher.bench(|| TABLE.embed(&[black_box(text)]));
}

#[divan::bench]
fn embed_one_megabyte(bencher: Bencher<'_, '_>) {
    let text = TASK.repeat(1_000_000 / TASK.len());
    bencher.bench(|| TABLE.embed(&[black_box(&text)]));
}

#[divan::bench(args = [1_000, 50_000])]
fn scan(bencher: Bencher<'_, '_>, count: usize) {
    let id = Arc::new(EmbedderId::new("static", "bench", DIMS));
    let mut next = noise(3);
    let mut index = VectorIndex::new(Arc::clone(&id));
    for _ in 0..count {
        index.push(&vector(&id, &mut next)).unwrap();
    }
    let query = vector(&id, &mut next);
    bencher.bench(|| index.cosines(black_box(&query)));
}

#[divan::bench(args = [100, 1_000, 50_000], sample_count = 10)]
fn build_lexical(bencher: Bencher<'_, '_>, count: usize) {
    let tools = tools(count);
    bencher.bench(|| {
        LexicalIndex::new(tools.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    });
}

#[divan::bench(args = [100, 1_000, 50_000], sample_count = 10)]
fn load_lexical(bencher: Bencher<'_, '_>, count: usize) {
    let tools = tools(count);
    let bytes = LexicalIndex::new(tools.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .to_bytes();
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| LexicalIndex::from_bytes(&bytes));
}

#[divan::bench(args = [1_000, 50_000], sample_count = 10)]
fn load_names(bencher: Bencher<'_, '_>, count: usize) {
    let tools = tools(count);
    let bytes = NameIndex::new(tools.iter().map(|(name, _)| name.as_str())).to_bytes();
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| NameIndex::from_bytes(&bytes));
}

#[divan::bench(args = [1_000, 50_000])]
fn select(bencher: Bencher<'_, '_>, count: usize) {
    // The id of the table, so that everything that belongs to it takes part.
    let id = Arc::clone(TABLE.id());
    let mut next = noise(5);
    let tools = tools(count);
    let vectors: Vec<Vector> = tools.iter().map(|_| vector(&id, &mut next)).collect();
    let item = |((name, text), vector)| Item { kind: Kind::Tool, name, text, vector: Some(vector) };
    let items: Vec<Item<'_>> =
        tools.iter().map(|(a, b)| (a.as_str(), b.as_str())).zip(&vectors).map(item).collect();
    let background = background(&*TABLE).unwrap();
    let selector = Selector::new(&items).unwrap().with_background(&background).unwrap();
    let task = vector(&id, &mut next);
    let query = Query { text: TASK, vector: Some(&task), mode_base: &[], offered: &[] };
    bencher.bench(|| {
        let _ = TABLE.embed(&[TASK]);
        selector.select(black_box(&query), &Limits::default())
    });
}
