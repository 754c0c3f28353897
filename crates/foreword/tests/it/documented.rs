//! Every public type of the core has an example in its documentation; `cargo test --doc` runs them.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The names that `lib.rs` publishes and that start like a type.
fn public_types(library: &str) -> Vec<String> {
    let uses = library.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let names = uses.flat_map(|(names, _)| names.split(['{', '}', ',', ':', ' ', '\n']));
    let is_type = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.contains(|c: char| c.is_ascii_lowercase())
    };
    names.filter(is_type).map(str::to_owned).collect()
}

/// Whether the documentation above a definition has an example.
fn has_example(lines: &[&str], definition: usize) -> bool {
    let above = lines[..definition].iter().rev().map(|line| line.trim_start());
    above
        .take_while(|line| !line.is_empty() && !line.ends_with('{') && !line.starts_with("pub "))
        .any(|line| line.starts_with("/// ```"))
}

#[test]
fn every_public_type_has_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let types = public_types(&fs::read_to_string(root.join("lib.rs")).unwrap());
    assert!(types.len() > 80, "{types:?}");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for name in types {
        let defines = |line: &str| {
            let line = line.trim_start();
            let rest = ["struct ", "enum ", "trait ", "type "]
                .iter()
                .find_map(|kind| line.strip_prefix("pub ")?.strip_prefix(kind))
                // The types of text are made by a macro that gets their documentation and name.
                .or((line == name).then_some(line));
            rest.and_then(|rest| rest.strip_prefix(name.as_str()))
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        let found = texts.iter().any(|text| {
            let lines: Vec<&str> = text.lines().collect();
            (0..lines.len()).any(|at| defines(lines[at]) && has_example(&lines, at))
        });
        assert!(found, "{name} has no example");
    }
}
