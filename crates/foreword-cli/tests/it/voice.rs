//! The product's whole voice in two files: `tests/voice/help.txt` has every help page, and
//! `tests/voice/errors.txt` every error message and hint of the workspace.
//!
//! Run `UPDATE_VOICE=1 cargo nextest run -p foreword-cli voice` to rewrite them after a change of wording.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::support::Foreword;

/// Phrases that a stranger does not understand at first reading.
const BANNED: [&str; 8] = [
    "so many",
    "it is due",
    "nothing beside",
    "was not asked about",
    "there is none of",
    "nowhere to ask",
    "on record",
    "nobody",
];

#[test]
fn help_pages_are_as_in_the_snapshot() {
    let mut out = String::new();
    help_of(&mut Vec::new(), &mut out);
    compare("help.txt", &out);
}

#[test]
fn error_messages_are_as_in_the_snapshot() {
    compare("errors.txt", &errors());
}

#[test]
fn every_command_ends_its_help_with_examples() {
    let mut out = String::new();
    help_of(&mut Vec::new(), &mut out);
    for page in out.split("\n$ foreword ").skip(1) {
        let command = page.lines().next().unwrap_or_default();
        let is_group = page.contains("\nCommands:\n");
        assert!(is_group || page.contains("\nExamples:\n  "), "{command}: no examples");
    }
}

#[test]
fn no_user_visible_text_has_a_banned_phrase() {
    let mut out = errors();
    help_of(&mut Vec::new(), &mut out);
    let found: Vec<String> = out
        .lines()
        .filter(|line| BANNED.iter().any(|phrase| line.to_lowercase().contains(phrase)))
        .map(str::to_owned)
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Commands that are not in the help: they are for Foreword itself, or for clap.
const HIDDEN: [&str; 3] = ["agent", "sandbox-launch", "help"];

#[test]
fn every_command_that_a_text_names_is_there() {
    let mut out = String::new();
    help_of(&mut Vec::new(), &mut out);
    let pages = out.lines().filter_map(|line| line.strip_prefix("$ foreword "));
    let known: BTreeSet<&str> = pages.filter_map(|page| page.strip_suffix(" --help")).collect();
    let is_known = |name: &str| known.contains(name) || HIDDEN.contains(&name);
    let is_group = |name: &str| {
        known.iter().any(|command| command.split_once(' ').is_some_and(|(group, _)| group == name))
    };
    let named = Regex::new(
        r#"(?m)(?:`|^|^\$ |&& )foreword ([a-z][a-z-]*)(?: ([a-z][a-z_-]*)(?:[ `"]|$))?"#,
    )
    .unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    for folder in ["crates", "docs", "examples"] {
        files_with(&["rs", "md"], &root.join(folder), &mut files);
    }
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for found in named.captures_iter(&text) {
            let word = |at| found.get(at).map(|word| word.as_str());
            let is_there = match (word(1), word(2)) {
                (Some(group), Some(name)) if is_group(group) => {
                    is_known(&format!("{group} {name}"))
                }
                (Some(name), _) => is_known(name),
                (None, _) => true,
            };
            if !is_there {
                wrong.push(format!("{}: {}", file.display(), &found[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/voice").join(name);
    if std::env::var_os("UPDATE_VOICE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        return fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let first = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
    assert!(
        expected == actual,
        "tests/voice/{name} differs, first at line {}; rewrite it with UPDATE_VOICE=1 and review it",
        first.map_or_else(|| expected.lines().count().min(actual.lines().count()) + 1, |at| at + 1)
    );
}

/// Prints the long help of a command and of all commands in it. The program lists them itself, so none is
/// missed.
fn help_of(command: &mut Vec<String>, out: &mut String) {
    let mut args = command.clone();
    args.push("--help".to_owned());
    let help = Foreword::new(&args).env("COLUMNS", "100").run().ok().stdout;
    let _ = write!(out, "\n$ foreword {}\n\n{}\n", args.join(" "), help.trim_end());
    let names = help.split_once("\nCommands:\n").map(|(_, rest)| rest).unwrap_or_default();
    let names = names.split_once("\n\n").map_or(names, |(list, _)| list);
    for line in names.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        if name != "help" {
            command.push(name.to_owned());
            help_of(command, out);
            command.pop();
        }
    }
}

/// Every `#[error("…")]` template of the workspace with the type and variant it belongs to, and every hint
/// and message of the errors of the command line, from the sources, so that none is missed.
fn errors() -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        files_with(&["rs"], &entry.unwrap().path().join("src"), &mut files);
    }
    files.sort();
    let mut out = String::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let found = templates(code);
        if !found.is_empty() {
            let name = file.strip_prefix(&crates).unwrap().display();
            let _ = writeln!(out, "\n{name}");
            for (place, texts) in found {
                for text in texts {
                    let _ = writeln!(out, "  {place}: {text}");
                }
            }
        }
    }
    out
}

fn files_with(ends: &[&str], directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_with(ends, &path, files);
        } else if path.extension().is_some_and(|end| ends.iter().any(|known| end == *known)) {
            files.push(path);
        }
    }
}

/// The texts of a source file by their place: `Type::Variant` of an error template, `Type hint` for the
/// texts in a function called `hint` or `hints`, and `CliError` or `Failure` with its
/// kind or `hint`.
fn templates(code: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut owner = String::new();
    let mut pending: Option<Vec<String>> = None;
    let mut rest = code;
    while let Some(at) = rest.find(['#', 'e', 's', '.', 'f', '\n', 'C', 'i']) {
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("#[error(") {
            pending = Some(literals(after));
            rest = after;
        } else if let Some(name) = ["enum ", "struct "].iter().find_map(|word| named(rest, word)) {
            owner = name.to_owned();
            if let Some(texts) = pending.take() {
                found.entry(owner.clone()).or_default().extend(texts);
            }
            rest = &rest[1..];
        } else if let Some(name) = named(rest, "impl ") {
            owner = name.to_owned();
            rest = &rest[1..];
        } else if pending.is_some() && rest.starts_with("\n    ") {
            let line = rest[1..].lines().next().unwrap_or_default().trim_start();
            let variant: String = line.chars().take_while(|c| c.is_alphanumeric()).collect();
            if variant.starts_with(|c: char| c.is_ascii_uppercase()) {
                let texts = pending.take().unwrap_or_default();
                found.entry(format!("{owner}::{variant}")).or_default().extend(texts);
            }
            rest = &rest[1..];
        } else if rest.starts_with("fn hint(") || rest.starts_with("fn hints(") {
            let body = rest.split("\n    }\n").next().unwrap_or_default();
            found.entry(format!("{owner} hint")).or_default().extend(all_literals(body));
            rest = &rest[1..];
        } else if let Some((place, after)) = call(rest) {
            found.entry(place.to_owned()).or_default().extend(literals(after));
            rest = after;
        } else {
            rest = &rest[1..];
        }
    }
    found
}

/// A call that makes an error of the command line or gives one a hint.
fn call(rest: &str) -> Option<(&'static str, &str)> {
    let calls = [
        ("CliError::usage(", "CliError usage"),
        ("CliError::failed(", "CliError failed"),
        ("CliError::internal(", "CliError internal"),
        ("Failure::usage(", "Failure usage"),
        ("Failure::failed(", "Failure failed"),
        ("Failure::internal(", "Failure internal"),
        (".hint(", "hint"),
    ];
    calls.iter().find_map(|(start, place)| Some((*place, rest.strip_prefix(start)?)))
}

/// The name after a keyword.
fn named<'a>(rest: &'a str, word: &str) -> Option<&'a str> {
    let after = rest.strip_prefix(word)?;
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let name = after.get(..end)?;
    name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}

/// The string literals up to the bracket that closes the call.
fn literals(after: &str) -> Vec<String> {
    let mut depth = 1;
    let mut end = after.len();
    let mut chars = after.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '"' => skip_literal(&mut chars),
            _ => {}
        }
        if depth == 0 {
            end = at;
            break;
        }
    }
    all_literals(&after[..end])
}

fn skip_literal(chars: &mut std::str::CharIndices<'_>) {
    while let Some((_, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' => return,
            _ => {}
        }
    }
}

/// The string literals of a piece of code, each on one line.
fn all_literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = code.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\'' {
            // A character literal may be a quote.
            if code[at..].starts_with("'\"'") {
                chars.next();
                chars.next();
            }
        } else if c == '"' {
            skip_literal(&mut chars);
            let end = chars.clone().next().map_or(code.len(), |(end, _)| end);
            let text = code[at + 1..end - 1].split_whitespace().collect::<Vec<_>>().join(" ");
            if text.contains(' ') {
                found.push(text.replace("\\ ", ""));
            }
        }
    }
    found
}
