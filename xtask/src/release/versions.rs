//! One version everywhere: the crates, what they ask of each other, the wheel, the npm packages, the changelog.
//!
//! The source is `workspace.package.version` in Cargo.toml. The wheel reads it when it is packed; npm needs its own
//! copy, and Cargo wants a version beside each path.

use serde_json::Value;

use crate::dist::{sbom::json_of, version};
use crate::error::TaskError;
use crate::steps::{cargo, root};

/// What does not agree, one line each.
pub(crate) fn disagreements() -> Result<Vec<String>, TaskError> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version", "1", "--no-deps", "--locked"]);
    let metadata = json_of(&mut metadata)?;
    let mut found = crates(&metadata, version());
    found.extend(npm(&read_json("bindings/node/package.json")?, version()));
    found.extend(wheel(&read("bindings/python/pyproject.toml")?));
    found.extend(changelog(&read("CHANGELOG.md")?, version()));
    Ok(found)
}

/// The names of the crates that are published, in the order of `cargo metadata`.
pub(crate) fn published(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish = false` is an empty list of registries.
    let published = packages.filter(|package| package["publish"].is_null());
    published.filter_map(|package| Some(package["name"].as_str()?.to_owned())).collect()
}

fn crates(metadata: &Value, version: &str) -> Vec<String> {
    let mut found = Vec::new();
    let names = published(metadata);
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        if package["version"] != version {
            found.push(format!("{name} has version {}, not {version}", package["version"]));
        }
        if !names.iter().any(|known| known == name) {
            continue;
        }
        for key in ["description", "repository", "license"] {
            if package[key].as_str().is_none_or(str::is_empty) {
                found.push(format!("{name} has no `{key}`"));
            }
        }
        for key in ["keywords", "categories"] {
            if package[key].as_array().is_none_or(Vec::is_empty) {
                found.push(format!("{name} has no `{key}`"));
            }
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // For tests only, and left out of the package, if it has no version.
            let is_own = dependency["path"].is_string();
            let is_left_out = dependency["kind"] == "dev" && dependency["req"] == "*";
            if is_own && !is_left_out && dependency["req"] != format!("={version}") {
                let (other, asked) = (&dependency["name"], &dependency["req"]);
                found.push(format!("{name} asks for {asked} of {other}, not for \"={version}\""));
            }
        }
    }
    found
}

fn npm(package: &Value, version: &str) -> Vec<String> {
    let mut found = Vec::new();
    if package["version"] != version {
        found.push(format!("package.json has version {}, not {version}", package["version"]));
    }
    for (name, asked) in package["optionalDependencies"].as_object().into_iter().flatten() {
        if asked != version {
            found.push(format!("package.json asks for {asked} of {name}, not for {version}"));
        }
    }
    found
}

/// The wheel takes its version from Cargo.toml, as long as its own file names none.
fn wheel(project: &str) -> Vec<String> {
    let has_own = project.lines().any(|line| line.starts_with("version ="));
    let is_dynamic = project.contains("dynamic = [\"version\"]");
    let wrong = has_own || !is_dynamic;
    wrong.then(|| "pyproject.toml has a version of its own".to_owned()).into_iter().collect()
}

/// The version has a date, and text below it.
fn changelog(text: &str, version: &str) -> Vec<String> {
    let title = format!("## [{version}] - ");
    let Some((_, section)) = text.split_once(&title) else {
        return vec![format!("CHANGELOG.md has no section `{title}DATE`")];
    };
    let (date, rest) = section.split_once('\n').unwrap_or((section, ""));
    let section = rest.split("\n## ").next().unwrap_or_default();
    let mut found = Vec::new();
    let is_date = date.len() == 10
        && date.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_date {
        found.push(format!("CHANGELOG.md dates {version} `{date}`, not like 2026-01-31"));
    }
    if section.lines().filter(|line| line.starts_with("- ")).count() == 0 {
        found.push(format!("CHANGELOG.md says nothing about {version}"));
    }
    let unreleased = text.split_once("## [Unreleased]\n").map_or("", |(_, rest)| rest);
    if unreleased.split("\n## ").next().is_some_and(|text| text.contains("\n- ")) {
        found.push(format!("CHANGELOG.md has unreleased entries; move them to {version}"));
    }
    found
}

fn read(path: &str) -> Result<String, TaskError> {
    std::fs::read_to_string(root().join(path)).map_err(TaskError::io(path))
}

fn read_json(path: &str) -> Result<Value, TaskError> {
    serde_json::from_str(&read(path)?)
        .map_err(|error| TaskError::Failed { steps: vec![format!("{path}: {error}")] })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use serde_json::json;

    use super::*;

    #[test]
    fn versions_agree_in_this_repository() {
        let found: Vec<String> = disagreements().unwrap();
        // Between two releases, entries gather under the next version.
        let found: Vec<_> = found.iter().filter(|line| !line.contains("unreleased")).collect();
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn a_crate_that_lags_behind_is_named() {
        let package = json!({
            "name": "a", "version": "0.2.0", "description": "x", "repository": "x", "license": "MIT",
            "keywords": ["x"], "categories": ["x"], "publish": null,
            "dependencies": [
                { "name": "b", "path": "/b", "req": "=0.2.0", "kind": null },
                { "name": "tests", "path": "/t", "req": "*", "kind": "dev" },
                { "name": "c", "path": "/c", "req": "*", "kind": null },
                { "name": "serde", "req": "^1", "kind": null },
            ],
        });
        let mut behind = package.clone();
        behind["version"] = json!("0.1.0");
        behind["description"] = Value::Null;
        let found = crates(&json!({ "packages": [package, behind] }), "0.2.0");
        let asks = "a asks for \"*\" of \"c\", not for \"=0.2.0\"";
        assert_eq!(
            found,
            [asks, "a has version \"0.1.0\", not 0.2.0", "a has no `description`", asks]
        );
    }

    #[test]
    fn npm_and_wheel_follow() {
        let package =
            json!({ "version": "0.1.0", "optionalDependencies": { "x": "0.1.0", "y": "0.2.0" } });
        assert_eq!(npm(&package, "0.2.0").len(), 2);
        assert_eq!(wheel("version = \"1\"\ndynamic = [\"version\"]").len(), 1);
        assert!(wheel("[project]\ndynamic = [\"version\"]\n").is_empty());
    }

    #[test]
    fn a_changelog_has_the_version_with_its_date() {
        let good = "# C\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-17\n\n- New.\n\n## 0.1.0\n";
        assert!(changelog(good, "0.2.0").is_empty());
        assert_eq!(changelog(good, "0.3.0").len(), 1);
        assert_eq!(changelog(&good.replace("2026-11-17", "soon"), "0.2.0").len(), 1);
        assert_eq!(changelog(&good.replace("- New.\n", ""), "0.2.0").len(), 1);
        assert_eq!(changelog(&good.replace("ed]\n", "ed]\n\n- More.\n"), "0.2.0").len(), 1);
    }
}
