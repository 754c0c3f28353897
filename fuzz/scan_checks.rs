//! What must hold for any text before the injection scanner.
//!
//! The coverage-guided target in this directory and the harness that runs with the tests
//! (`crates/foreword-guard/tests/it/scan_fuzz_smoke.rs`) share these functions.

use std::sync::{Arc, LazyLock};

use foreword_embed::{Embedder, StaticEmbedder};
use foreword_guard::{Scan, ScanVerdict, Scanner};

static EMBEDDER: LazyLock<Arc<StaticEmbedder>> =
    LazyLock::new(|| Arc::new(StaticEmbedder::embedded().expect("the table is whole")));
static SCANNER: LazyLock<Scanner> =
    LazyLock::new(|| Scanner::new(Arc::clone(&EMBEDDER)).expect("the table is whole"));

/// Any text is judged, the same each time, with reasons where there is a verdict.
pub(crate) fn injection_scan(text: &str) {
    let scan = SCANNER.scan(text);
    fits(&scan);
    assert_eq!(scan, SCANNER.scan(text), "two judgements of one text");
    fits(&SCANNER.scan_stored(text, None));
    for vector in EMBEDDER.embed(&[text]).expect("a table cannot fail") {
        fits(&SCANNER.scan_stored(text, Some(&vector)));
    }
}

fn fits(scan: &Scan) {
    assert!((0.0..=1.0).contains(&scan.score), "{}", scan.score);
    assert_eq!(scan.verdict == ScanVerdict::Pass, scan.score < 0.5, "{scan:?}");
    assert_eq!(scan.verdict == ScanVerdict::Pass, scan.reasons.is_empty(), "{scan:?}");
    for reason in &scan.reasons {
        assert!(reason.chars().count() <= 200 && !reason.contains('\n'), "{reason:?}");
    }
}
