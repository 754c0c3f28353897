//! The npm packages: one in JavaScript, and one with the files of this platform.

use std::process::Command;

use serde_json::json;

use crate::bindings::{copy, library};
use crate::dist::sbom::Graph;
use crate::dist::try_out::{command_line, fresh};
use crate::dist::{Layout, NOTICE, all, artefact, third_party, version};
use crate::error::TaskError;
use crate::steps::{Steps, root, succeeds};

/// What is linked into the files of a platform.
const MEMBERS: [&str; 2] = ["foreword-cli", "foreword-node"];

/// Packs both, installs them into an empty place, tries them and uninstalls them.
pub(crate) fn make(steps: &mut Steps, layout: &Layout, graph: &Graph) -> Result<(), TaskError> {
    if !succeeds(Command::new("npm").arg("--version")) {
        steps.skip("npm", "npm is not installed");
        return Ok(());
    }
    let place = fresh("npm")?;
    let (own, native) = (place.join("own"), place.join("native"));
    let node = root().join("bindings/node");
    for file in [
        "index.cjs",
        "index.mjs",
        "index.d.ts",
        "types.d.ts",
        "native.cjs",
        "bin/foreword.cjs",
        "package.json",
        "README.md",
    ] {
        copy(&node.join(file), &own.join(file))?;
    }
    for adapter in
        all(&node.join("adapters"), "mjs")?.into_iter().chain(all(&node.join("adapters"), "mts")?)
    {
        let name = adapter.file_name().unwrap_or_default();
        copy(&adapter, &own.join("adapters").join(name))?;
    }
    let addon = layout.built.join(library("foreword_node"));
    copy(&addon, &native.join("foreword.node"))?;
    copy(&layout.program(), &native.join("foreword"))?;
    copy(&layout.table, &native.join("static.bin"))?;
    copy(&root().join(NOTICE), &native.join("NOTICE"))?;
    let licenses = native.join("THIRD-PARTY");
    std::fs::write(&licenses, third_party::licenses(graph, &MEMBERS))
        .map_err(TaskError::io(licenses.display().to_string()))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root().join(file), &native.join(file))?;
        copy(&root().join(file), &own.join(file))?;
    }
    let name = npm_platform();
    let about = json!({
        "name": format!("@foreword/{name}"), "version": version(),
        "description": format!("The native files of foreword for {name}"),
        "license": "Apache-2.0 OR MIT",
        "os": [std::env::consts::OS.replace("macos", "darwin")],
        "cpu": [npm_cpu()],
        "files": ["foreword.node", "foreword", "static.bin", "NOTICE", "THIRD-PARTY"],
    });
    let path = native.join("package.json");
    std::fs::write(&path, format!("{about:#}\n"))
        .map_err(TaskError::io(path.display().to_string()))?;
    for package in [&own, &native] {
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent", "--pack-destination"]).arg(&layout.dist).arg(package);
        steps.run("npm pack", &mut pack)?;
    }
    steps.verdict()?;
    for archive in all(&layout.dist, "tgz")? {
        let is_native =
            archive.file_name().is_some_and(|file| file.to_string_lossy().contains(&name));
        let (package, members) = match is_native {
            true => (format!("@foreword/{name}"), &MEMBERS[..]),
            false => ("foreword".to_owned(), &[][..]),
        };
        let purl = format!("pkg:npm/{}@{}", package.replace('@', "%40"), version());
        artefact(&archive, &graph.bill(&package, &purl, version(), members))?;
    }

    let prefix = place.join("prefix");
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund", "--omit=optional", "--prefix"]);
    let archives = all(&layout.dist, "tgz")?;
    steps.run("npm install", install.arg(&prefix).args(&archives))?;
    let script = "const f = require('foreword'); const p = f.build({context: {task: 'hi'}}); \
                  if (p.tokens < 100) throw p; f.scan('hello').then((s) => console.log(p, s.verdict))";
    let mut require = Command::new("env");
    require.arg("-C").arg(&prefix).args(["node", "-e", script]);
    steps.run("require foreword", &mut require)?;
    let module =
        "import { build } from 'foreword'; console.log(build({context: {task: 'hi'}}).digest)";
    let mut import = Command::new("env");
    import.arg("-C").arg(&prefix).args(["node", "--input-type=module", "-e", module]);
    steps.run("import foreword", &mut import)?;
    command_line(steps, "npm's command works", &prefix.join("node_modules/.bin/foreword"), &place)?;
    let mut uninstall = Command::new("npm");
    uninstall.args(["uninstall", "--silent", "--prefix"]).arg(&prefix).arg("foreword");
    uninstall.arg(format!("@foreword/{name}"));
    steps.run("npm uninstall", &mut uninstall)?;
    if prefix.join("node_modules/foreword").exists()
        || prefix.join("node_modules/.bin/foreword").exists()
    {
        steps.fail("npm uninstall leaves nothing");
    }
    Ok(())
}

fn npm_cpu() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The last part of the name of the package with the files of this platform, as `native.cjs` makes it.
fn npm_platform() -> String {
    match std::env::consts::OS {
        "linux" => format!("linux-{}-gnu", npm_cpu()),
        "macos" => format!("darwin-{}", npm_cpu()),
        other => format!("{other}-{}", npm_cpu()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    /// npm takes a package for this platform only under the name that the other one asks for.
    #[test]
    fn the_npm_package_asks_for_the_package_of_this_platform() {
        let text = std::fs::read_to_string(root().join("bindings/node/package.json")).unwrap();
        let about: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(about["version"], version());
        let asked = about["optionalDependencies"].as_object().unwrap();
        assert_eq!(asked[&format!("@foreword/{}", npm_platform())], version());
    }
}
