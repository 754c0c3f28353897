//! How far the estimate is from exact o200k, per kind of text.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)] // an integration test: a failure is a panic, and the table is for people

const CORPORA: &[(&str, &str)] = &[
    ("arabic", include_str!("../corpora/arabic.txt")),
    ("chinese", include_str!("../corpora/chinese.txt")),
    ("emoji chat", include_str!("../corpora/emoji_chat.txt")),
    ("english", include_str!("../corpora/english.txt")),
    ("french", include_str!("../corpora/french.txt")),
    ("german", include_str!("../corpora/german.txt")),
    ("hindi", include_str!("../corpora/hindi.txt")),
    ("japanese", include_str!("../corpora/japanese.txt")),
    ("json compact", include_str!("../corpora/json_compact.txt")),
    ("json pretty", include_str!("../corpora/json_pretty.txt")),
    ("korean", include_str!("../corpora/korean.txt")),
    ("markdown", include_str!("../corpora/markdown.txt")),
    ("python", include_str!("../corpora/python.txt")),
    ("russian", include_str!("../corpora/russian.txt")),
    ("rust", include_str!("../corpora/rust.txt")),
    ("typescript", include_str!("../corpora/typescript.txt")),
];

#[test]
fn within_fifteen_percent_of_exact_on_every_kind() {
    let exact = foreword::exact_counter("o200k").unwrap();
    let mut wrong = Vec::new();
    println!("{:<14} {:>6} {:>6} {:>9} {:>7}", "kind", "bytes", "exact", "estimate", "error");
    for (kind, text) in CORPORA {
        let count = exact.count(text);
        let estimate = foreword::estimate(text);
        let error = 100.0 * (f64::from(estimate) / f64::from(count) - 1.0);
        println!("{kind:<14} {:>6} {count:>6} {estimate:>9} {error:>+6.1}%", text.len());
        if error.abs() > 15.0 {
            wrong.push(format!("{kind}: {error:+.1}%"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
