//! Time of the injection scanner: `cargo bench -p foreword-guard --bench scan`.
#![expect(clippy::unwrap_used, reason = "helpers of a bench may panic")]

use std::sync::{Arc, LazyLock};

use divan::{Bencher, black_box};
use foreword_embed::StaticEmbedder;
use foreword_guard::Scanner;

fn main() {
    divan::main();
}

/// Prose in which every window is scanned.
fn page(bytes: usize) -> String {
    const PROSE: &str = "The committee met on Thursday to show the plan for the new library. Members asked \
        how long the works would take, and whether the reading room stays open. You can give your opinion \
        until the end of May; the previous plan (version 2) was withdrawn after 34 comments. ";
    PROSE.repeat(bytes / PROSE.len() + 1).chars().take(bytes).collect()
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::embedded().unwrap());

#[divan::bench(args = [200, 4_096, 1_000_000])]
fn scan_for_injections(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = page(bytes);
    bencher.bench(|| SCANNER.scan(black_box(&text)));
}

#[divan::bench(args = [4_096, 1_000_000])]
fn scan_for_injections_without_embedding(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = page(bytes);
    bencher.bench(|| SCANNER.scan_stored(black_box(&text), None));
}

#[divan::bench]
fn start_scanner(bencher: Bencher<'_, '_>) {
    let table = Arc::new(StaticEmbedder::embedded().unwrap());
    bencher.bench(|| Scanner::new(Arc::clone(&table)));
}
