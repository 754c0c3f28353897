//! What must hold for any request body and any capture file.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword-watch/tests/it/fuzz_smoke.rs`) share these functions.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use foreword::{Estimate, Prices};
use foreword_guard::Scanner;
use foreword_watch::{
    CaptureStore, ExpectedPrompt, ProjectFiles, Report, ReportOptions, check_prompt, check_request,
    layout, report,
};

static SCANNER: LazyLock<Scanner> =
    LazyLock::new(|| Scanner::embedded().expect("the tables are whole"));
static PRICES: LazyLock<Prices> = LazyLock::new(|| Prices::built_in().expect("the table is whole"));

fn options() -> ReportOptions<'static> {
    ReportOptions { counter: &Estimate, prices: &PRICES, with_texts: true }
}

/// Any text as the body of a request: an error that says why, or a report whose stretches and sections
/// cover their texts. A report can be written and read again.
pub(crate) fn watched_request(text: &str) {
    let mut files = ProjectFiles::default();
    files.add("notes.md", text);
    files.add("CLAUDE.md", "# Rules\n\nAlways run the tests before you commit.\n");
    match check_request(text, Some(&files), &SCANNER, &options()) {
        Err(error) => assert!(!error.to_string().is_empty() && error.hint().is_some()),
        Ok(report) => holds(&report),
    }
    for (system, stable_bytes) in [(text, text.len() / 2), ("Always run the tests", 6)] {
        let expected = ExpectedPrompt { system, stable_bytes, turn_context: Some(text) };
        let _ = check_prompt(text, &expected);
    }
}

/// The same text as a part of a request of every API.
pub(crate) fn watched_text(text: &str) {
    let json = serde_json::to_string(text).expect("a text can be written");
    for body in [
        format!(
            r#"{{"system": {json}, "messages": [{{"role": "user", "content": [{{"type": "tool_result", "content": {json}}}]}}]}}"#
        ),
        format!(r#"{{"messages": [{{"role": "system", "content": {json}}}]}}"#),
        format!(r#"{{"instructions": {json}, "input": {json}, "tools": [{{"name": {json}}}]}}"#),
        format!(r#"{{"contents": [{{"parts": [{{"text": {json}}}]}}]}}"#),
    ] {
        watched_request(&body);
    }
}

/// Any text as a capture: an error that names it, or calls that can be reported on and laid out.
pub(crate) fn capture_file(directory: &Path, text: &str) {
    let head = r#"{"kind":"capture","format":1,"id":"a","startedAt":"2026-01-01T00:00:00Z","command":[],"directory":""}"#;
    for (name, text) in [("a", text.to_owned()), ("b", format!("{head}\n{text}"))] {
        fs::write(directory.join(format!("{name}.jsonl")), text).expect("the directory is ours");
    }
    let store = CaptureStore::new(directory.to_owned());
    assert_eq!(store.list().expect("the directory can be read").len(), 2);
    for id in ["a", "b"] {
        match store.read(id) {
            Err(error) => assert!(error.to_string().contains(id), "{error}"),
            Ok(capture) => {
                holds(&report(&capture, None, &SCANNER, &options()));
                let _ = layout(&capture, &options());
            }
        }
    }
}

fn holds(report: &Report) {
    for part in report.calls.iter().flat_map(|call| &call.parts) {
        let Some(text) = &part.text else { continue };
        let mut end = 0;
        for stretch in &part.stretches {
            assert_eq!(stretch.range[0], end, "no gap before {stretch:?}");
            end = stretch.range[1];
            assert!(text.is_char_boundary(end), "{stretch:?}");
        }
        assert!(end == text.len() || part.stretches.is_empty(), "{part:?}");
        for section in &part.sections {
            assert!(text.get(section.range[0]..section.range[1]).is_some(), "{section:?}");
        }
    }
    let written = serde_json::to_string(report).expect("a report can be written");
    let read: Report = serde_json::from_str(&written).expect("and read");
    assert_eq!(read.calls.len(), report.calls.len());
}
