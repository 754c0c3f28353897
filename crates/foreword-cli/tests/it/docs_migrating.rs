//! The tables in docs/migrating.md are what `foreword init --from` says of the fixtures. `UPDATE_DOCS=1`
//! writes them anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::migrate::{FIXTURES, fixture, migrate};
use crate::support::Scratch;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/migrating.md")
}

/// A cell of a table; its text is the fixture's own, or ours.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn table(name: &str) -> String {
    let report = migrate(&Scratch::new(&[]), &fixture(name));
    let mut out = String::from("| old setup | outcome | workspace | note |\n|---|---|---|---|\n");
    for row in report["table"].as_array().unwrap() {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let code = |text: &str| {
            if text.is_empty() { String::new() } else { format!("`{}`", cell(text)) }
        };
        let (source, outcome) = (code(text("source")), text("outcome"));
        let (to, note) = (code(text("to")), cell(text("note")));
        writeln!(out, "| {source} | {outcome} | {to} | {note} |").unwrap();
    }
    out
}

#[test]
fn the_page_on_migrating_says_what_the_code_does() {
    let old = std::fs::read_to_string(page()).unwrap();
    let mut new = old.clone();
    for name in FIXTURES {
        let (start, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end -->");
        let from = new.find(&start).unwrap_or_else(|| panic!("no place for {name}")) + start.len();
        let to = from + new[from..].find(end).unwrap();
        new.replace_range(from..to, &table(name));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page(), &new).unwrap();
    }
    assert_eq!(old, new, "run this test with UPDATE_DOCS=1 and read the diff");
}
