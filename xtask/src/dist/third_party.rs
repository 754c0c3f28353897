//! The licences of everything that is linked into the programs, for people who pass them on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::dist::sbom::{Graph, Package};

/// Starts of the names of files with licences, notices and names of authors.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// A list of the crates with their licences, then each text once, with the crates it is from.
pub(crate) fn licenses(graph: &Graph, members: &[&str]) -> String {
    let packages = graph.behind(members);
    let foreign: Vec<&Package> =
        packages.into_iter().filter(|package| !package.name.starts_with("foreword")).collect();
    let mut text = String::from("Software of others in this package, and its licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in foreign {
        let label = format!("{} {}", package.name, package.version);
        let license = package.license().unwrap_or_else(|| "see below".to_owned());
        let _ = writeln!(text, "{label}: {license}");
        for own in texts_in(&package.directory) {
            texts.entry(own).or_default().push(label.clone());
        }
    }
    for (own, packages) in texts {
        let _ = write!(text, "\n{}\n{}\n\n{own}\n", "=".repeat(80), packages.join(", "));
    }
    text
}

fn texts_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let is_license = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let texts = paths.iter().filter(|path| is_license(path));
    texts
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.replace("\r\n", "\n").trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_crate_is_named_and_every_text_is_there_once() {
        let graph = Graph::resolve("x86_64-unknown-linux-gnu").unwrap();
        let text = licenses(&graph, &["foreword-cli"]);
        assert!(text.contains("\nserde 1."), "{}", text.lines().take(20).collect::<String>());
        assert!(!text.contains("foreword-host"));
        let ring = graph.behind(&["foreword-cli"]).into_iter().find(|known| known.name == "ring");
        let own = texts_in(&ring.unwrap().directory);
        assert!(!own.is_empty());
        for part in own {
            assert_eq!(text.matches(&part).count(), 1);
        }
    }
}
