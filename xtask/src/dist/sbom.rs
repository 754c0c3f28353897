//! What is in an artefact, as a software bill of materials in CycloneDX 1.5 (JSON).
//!
//! Written from `cargo metadata`, so that it lists exactly what was resolved for this platform: no
//! development dependencies, and none of other systems. It has neither a time nor a serial number, so the same
//! sources give the same file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::error::TaskError;
use crate::steps::{cargo, root};

/// The crates of this repository as Cargo resolved them.
pub(crate) struct Graph {
    packages: BTreeMap<String, Package>,
    /// Package IDs by the names of the members of this workspace.
    members: BTreeMap<String, String>,
}

/// A crate.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    license: Option<String>,
    repository: Option<String>,
    /// SHA-256 of its archive, for those from a registry.
    checksum: Option<String>,
    /// Where its sources are.
    pub(crate) directory: PathBuf,
    /// IDs of what it needs to be built and to run.
    dependencies: BTreeSet<String>,
}

impl Package {
    fn reference(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }

    /// The licence, as an SPDX expression.
    pub(crate) fn license(&self) -> Option<String> {
        // Older manifests have a slash for a choice.
        self.license.as_ref().map(|license| license.replace('/', " OR "))
    }
}

impl Graph {
    /// Asks Cargo about the platform that is built for.
    pub(crate) fn resolve(platform: &str) -> Result<Self, TaskError> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--format-version", "1", "--locked", "--filter-platform"]);
        let metadata = json_of(metadata.arg(platform))?;
        let lock = root().join("Cargo.lock");
        let lock = std::fs::read_to_string(&lock).map_err(TaskError::io("Cargo.lock"))?;
        Ok(Self::new(&metadata, &checksums(&lock)))
    }

    fn new(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Self {
        let mut needs: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let nodes = metadata.pointer("/resolve/nodes").unwrap_or(&Value::Null);
        for node in list(nodes) {
            // `null` is an ordinary dependency.
            let shipped = |dependency: &&Value| {
                list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev")
            };
            let needed =
                list(&node["deps"]).filter(shipped).map(|dependency| text(&dependency["pkg"]));
            needs.insert(node["id"].as_str().unwrap_or_default(), needed.collect());
        }
        let ids: BTreeSet<&str> =
            list(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
        let (mut packages, mut members) = (BTreeMap::new(), BTreeMap::new());
        for package in list(&metadata["packages"]) {
            let (id, name, version) =
                (text(&package["id"]), text(&package["name"]), text(&package["version"]));
            if ids.contains(id.as_str()) {
                members.insert(name.clone(), id.clone());
            }
            let optional = |key: &str| package[key].as_str().map(str::to_owned);
            let manifest = PathBuf::from(text(&package["manifest_path"]));
            let package = Package {
                license: optional("license"),
                repository: optional("repository"),
                checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
                directory: manifest.parent().map(PathBuf::from).unwrap_or_default(),
                dependencies: needs.remove(id.as_str()).unwrap_or_default(),
                name,
                version,
            };
            packages.insert(id, package);
        }
        Self { packages, members }
    }

    /// Everything that members of the workspace are made of, themselves included, sorted by name.
    pub(crate) fn behind(&self, members: &[&str]) -> Vec<&Package> {
        let mut open: Vec<&String> =
            members.iter().filter_map(|name| self.members.get(*name)).collect();
        let mut found = BTreeSet::new();
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(
                    self.packages.get(id).into_iter().flat_map(|found| &found.dependencies),
                );
            }
        }
        let mut found: Vec<&Package> =
            found.into_iter().filter_map(|id| self.packages.get(id)).collect();
        found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        found
    }

    /// The bill of materials of an artefact that contains these members of the workspace.
    pub(crate) fn bill(
        &self,
        artefact: &str,
        purl: &str,
        version: &str,
        members: &[&str],
    ) -> Value {
        let packages = self.behind(members);
        let mut dependencies: Vec<Value> = packages
            .iter()
            .map(|package| {
                let needs = package.dependencies.iter().filter_map(|id| self.packages.get(id));
                let needs: BTreeSet<String> = needs.map(Package::reference).collect();
                json!({ "ref": package.reference(), "dependsOn": needs })
            })
            .collect();
        let roots = members.iter().filter_map(|name| self.packages.get(self.members.get(*name)?));
        let roots: BTreeSet<String> = roots.map(Package::reference).collect();
        dependencies.insert(0, json!({ "ref": purl, "dependsOn": roots }));
        json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "tools": { "components": [{ "type": "application", "name": "xtask", "version": version }] },
                "component": {
                    "type": "application",
                    "bom-ref": purl,
                    "name": artefact,
                    "version": version,
                    "purl": purl,
                    "licenses": [{ "expression": "Apache-2.0 OR MIT" }],
                },
            },
            "components": packages.iter().map(|package| component(package)).collect::<Vec<_>>(),
            "dependencies": dependencies,
        })
    }
}

fn component(package: &Package) -> Value {
    let reference = package.reference();
    let mut component = Map::new();
    let mut add = |key: &str, value: Value| component.insert(key.to_owned(), value);
    add("type", json!("library"));
    add("bom-ref", json!(reference));
    add("name", json!(package.name));
    add("version", json!(package.version));
    add("scope", json!("required"));
    add("purl", json!(reference));
    if let Some(license) = package.license() {
        add("licenses", json!([{ "expression": license }]));
    }
    if let Some(checksum) = &package.checksum {
        add("hashes", json!([{ "alg": "SHA-256", "content": checksum }]));
    }
    if let Some(repository) = &package.repository {
        add("externalReferences", json!([{ "type": "vcs", "url": repository }]));
    }
    Value::Object(component)
}

/// Names, versions and checksums in a lock file.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.map(|text| text.trim_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (value("name"), value("version"), value("checksum"))
        {
            found.insert((name, version), checksum);
        }
    }
    found
}

/// The output of a command, which is JSON.
pub(crate) fn json_of(command: &mut Command) -> Result<Value, TaskError> {
    let failed = |what: String| TaskError::Failed { steps: vec![what] };
    let output = command
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(TaskError::io("cannot start cargo"))?;
    if !output.status.success() {
        return Err(failed("cargo metadata".to_owned()));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| failed(format!("cargo metadata: {error}")))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    /// The bill of the command line, made from this repository.
    #[test]
    fn the_bill_of_the_command_line_is_whole() {
        let graph = Graph::resolve("x86_64-unknown-linux-gnu").unwrap();
        let purl = "pkg:generic/foreword@1.0.0";
        let bill = graph.bill("foreword", purl, "1.0.0", &["foreword-cli"]);
        assert_eq!(bill["bomFormat"], "CycloneDX");
        assert_eq!(bill["specVersion"], "1.5");
        assert_eq!(bill["metadata"]["component"]["bom-ref"], purl);

        let mut references = BTreeSet::from([purl.to_owned()]);
        for component in list(&bill["components"]) {
            for key in ["type", "name", "version", "purl"] {
                assert!(
                    component[key].as_str().is_some_and(|text| !text.is_empty()),
                    "{component}"
                );
            }
            assert!(references.insert(text(&component["bom-ref"])), "twice: {component}");
            let own = text(&component["name"]).starts_with("foreword");
            assert!(component["licenses"][0]["expression"].is_string(), "{component}");
            assert_eq!(component["hashes"].is_array(), !own, "{component}");
        }
        let mut described = BTreeSet::new();
        for dependency in list(&bill["dependencies"]) {
            assert!(described.insert(text(&dependency["ref"])), "twice: {dependency}");
            for needed in list(&dependency["dependsOn"]) {
                assert!(references.contains(&text(needed)), "{needed} is not a component");
            }
        }
        assert_eq!(described, references);

        let named = |name: &str| {
            references.iter().any(|known| known.starts_with(&format!("pkg:cargo/{name}@")))
        };
        assert!(named("rusqlite") && named("foreword-embed-table-a"));
        // Only tests use these, or other systems.
        assert!(!named("proptest") && !named("foreword-testing") && !named("windows-sys"));
        assert!(
            bill == Graph::resolve("x86_64-unknown-linux-gnu").unwrap().bill(
                "foreword",
                purl,
                "1.0.0",
                &["foreword-cli"]
            )
        );
    }

    #[test]
    fn checksums_are_read_from_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00ff\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"0.2.0\"\ndependencies = [\n \"a\",\n]\n";
        let expected = BTreeMap::from([(("a".to_owned(), "1.0.0".to_owned()), "00ff".to_owned())]);
        assert_eq!(checksums(lock), expected);
    }
}
