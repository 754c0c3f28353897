//! The tables in docs/migrating.md are what `foreword init --from` says of the fixtures. `UPDATE_DOCS=1`
//! writes them anew.

use std::fmt::Write as _;

use crate::migrate::{FIXTURES, fixture, migrate};
use crate::support::{Scratch, generated};

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
    let parts: Vec<(&str, String)> = FIXTURES.iter().map(|name| (*name, table(name))).collect();
    generated::check("migrating.md", &parts);
}
