//! `cargo xtask bindings`: builds the Python and Node packages for development, and runs their tests.
//!
//! The extension and the addon are built like any crate, with the profile of tests, and copied to where
//! the packages look for them. What a machine lacks (Python, Node) is skipped with its reason.
//! `cargo xtask test` runs the [`Extent::Core`] of it; `cargo xtask bench-bindings` measures both packages,
//! optimised like a release.

mod node;
mod packages;
mod python;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::steps::{Steps, cargo, root, succeeds, target};
use crate::test::Installing;

/// How much is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The packages, their types and examples, and the adapters of the small SDKs.
    Core,
    /// Every adapter, with its framework.
    All,
}

/// Builds and tests what this machine can.
pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    build(steps, "dev", cargo())?;
    test(steps, Extent::All)?;
    steps.verdict()
}

/// Builds the packages beside what was built for tests, and runs the tests that need no large download.
pub(crate) fn run_core(
    steps: &mut Steps,
    installing: Installing,
    cargo: &(dyn Fn() -> Command + Sync),
) -> Result<(), TaskError> {
    if installing == Installing::Forbidden && !missing().is_empty() {
        steps.skip("bindings", "their tools are not installed (--no-install)");
        return Ok(());
    }
    build(steps, "dev", cargo())?;
    test(steps, Extent::Core)
}

/// Both languages at once: their tests wait for one another's processes more than for the machine.
fn test(steps: &mut Steps, extent: Extent) -> Result<(), TaskError> {
    let (python, node) = std::thread::scope(|scope| {
        let python = scope.spawn(|| {
            let mut steps = Steps::beside_others();
            let done = if has("python3") {
                python::test(&mut steps, extent)
            } else {
                steps.skip("python", "python3 is not installed");
                Ok(())
            };
            (done, steps)
        });
        let mut steps = Steps::beside_others();
        let done = if has("node") && has("npm") {
            node::test(&mut steps, extent)
        } else {
            steps.skip("node", "node and npm are not installed");
            Ok(())
        };
        let python = python.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (python, (done, steps))
    });
    for (done, own) in [python, node] {
        steps.add(own);
        done?;
    }
    Ok(())
}

/// What [`install`] would install, one line each.
pub(crate) fn missing() -> Vec<String> {
    let mut missing = Vec::new();
    if has("python3") {
        missing.extend(python::missing());
    }
    if has("node") && has("npm") {
        missing.extend(node::missing());
    }
    missing
}

/// Installs what [`run_core`] uses.
pub(crate) fn install(steps: &mut Steps, installing: Installing) -> Result<(), TaskError> {
    if installing == Installing::Forbidden {
        return Ok(());
    }
    if has("python3") {
        python::install(steps)?;
    }
    if has("node") && has("npm") {
        node::install(steps, Extent::Core)?;
    }
    Ok(())
}

fn has(program: &str) -> bool {
    succeeds(Command::new(program).arg("--version"))
}

/// Measures builds from Python beside Jinja2 and LangChain, and from Node beside pi's builder.
pub(crate) fn bench(steps: &mut Steps) -> Result<(), TaskError> {
    build(steps, "binding", cargo())?;
    python::bench(steps)?;
    node::bench(steps)?;
    steps.verdict()
}

/// Builds the extension, the addon and the command line that the tests compare them with.
///
/// With the features that `--workspace` gives every crate, so that nothing is compiled twice.
fn build(steps: &mut Steps, profile: &str, mut cargo: Command) -> Result<(), TaskError> {
    let mut packages = vec!["-p", "foreword-python", "-p", "foreword-node"];
    if profile == "dev" {
        packages.extend(["-p", "foreword-cli"]);
    }
    cargo.args(["build", "--profile", profile]).args(packages);
    steps.run("build bindings", &mut cargo)?;
    steps.verdict()?;
    let built = target().join(if profile == "dev" { "debug" } else { profile });
    copy(
        &built.join(library("_foreword")),
        &root().join("bindings/python/python/foreword/_foreword.abi3.so"),
    )?;
    copy(&built.join(library("foreword_node")), &root().join("bindings/node/native/foreword.node"))
}

/// The files of a directory with this ending, in order.
fn files(directory: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|own| own == end))
        .collect();
    found.sort();
    found
}

/// The file name of a dynamic library.
pub(crate) fn library(name: &str) -> String {
    format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// Copies a file, making its directory.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), TaskError> {
    let failed = || TaskError::io(format!("{} to {}", from.display(), to.display()));
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(failed())?;
    }
    // A program may have the old file open; it keeps that one.
    let _ = std::fs::remove_file(to);
    std::fs::copy(from, to).map(drop).map_err(failed())
}
