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

/// Any text in a page, in a mail and in JSON: judged like any other, with places in that document.
pub(crate) fn document_scan(text: &str) {
    let json = serde_json::to_string(text).expect("a text can be written");
    for document in [
        format!("<!doctype html><html><body><p>{text}</p></body></html>"),
        format!("<!doctype html><html><body><div style='{text}'>words</div></body></html>"),
        format!("From: a@example.org\nSubject: {text}\nMIME-Version: 1.0\n\nwords\n"),
        format!(
            "From: a@example.org\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n{text}\n--b--\n"
        ),
        format!("{{\"a\": [{json}, {{\"b\": {json}}}]}}"),
    ] {
        let scan = SCANNER.scan(&document);
        fits(&scan);
        for finding in &scan.findings {
            let [start, end] = finding.range;
            assert!(document.get(start..end).is_some(), "no place in the document: {finding:?}");
        }
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
