//! The Python package: its tests, types and examples, in virtual environments of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages::Packages;
use super::{Extent, files};
use crate::error::TaskError;
use crate::steps::{Steps, root, target};

/// What `cargo xtask test` uses.
const CORE: Packages = Packages {
    folder: "venv-bindings",
    names: &["pytest", "jsonschema", "mypy", "anthropic", "openai"],
};
/// The frameworks. LangChain and Pydantic AI want different releases of one SDK, so there is more than one
/// environment.
const FRAMEWORKS: Packages = Packages {
    folder: "venv-python",
    names: &[
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
    ],
};
const LANGCHAIN: Packages = Packages {
    folder: "venv-langchain",
    names: &["pytest", "jinja2", "langchain>=1.4,<1.5", "langchain-anthropic"],
};
const GOOGLE: Packages =
    Packages { folder: "venv-google-adk", names: &["pytest", "google-adk==2.13.0"] };

/// Adapters whose frameworks the core does not install, so that their types cannot be checked.
const LARGE: &str = "adapters/(claude_agent_sdk|google_adk|langchain|openai_agents|pydantic_ai)";

pub(super) fn missing() -> Option<String> {
    let packages = CORE.names.join(", ");
    (!CORE.is_installed()).then(|| format!("{packages}, Python packages, into target/tools"))
}

pub(super) fn install(steps: &mut Steps) -> Result<(), TaskError> {
    virtual_environment(&CORE, steps).map(drop)
}

/// Runs the tests, checks the types and runs the examples.
pub(super) fn test(steps: &mut Steps, extent: Extent) -> Result<(), TaskError> {
    let chosen = if extent == Extent::All { &FRAMEWORKS } else { &CORE };
    let environment = virtual_environment(chosen, steps)?;
    steps.run("python tests", &mut module(&environment, "pytest"))?;
    let mut mypy = module(&environment, "mypy");
    mypy.args(["--config-file", "pyproject.toml"]);
    if extent == Extent::Core {
        mypy.args(["--exclude", LARGE, "python/foreword", "tests/typing"]);
    }
    steps.run("mypy", &mut mypy)?;
    for example in files(&root().join("examples/python"), "py") {
        let mut python = Command::new(environment.join("bin/python"));
        python.arg(example).env("PYTHONPATH", directory().join("python"));
        steps.run("python example", &mut python)?;
    }
    if extent == Extent::Core {
        return Ok(());
    }
    let mut pyright = module(&environment, "pyright");
    steps.run("pyright", pyright.arg("--pythonpath").arg(environment.join("bin/python")))?;
    for other in [LANGCHAIN, GOOGLE] {
        let environment = virtual_environment(&other, steps)?;
        steps.run(other.folder, module(&environment, "pytest").arg("tests/adapters"))?;
    }
    Ok(())
}

pub(super) fn bench(steps: &mut Steps) -> Result<(), TaskError> {
    let environment = virtual_environment(&LANGCHAIN, steps)?;
    let mut python = Command::new(environment.join("bin/python"));
    python.arg(directory().join("bench/build.py")).arg("--million");
    steps.run("python", python.env("PYTHONPATH", directory().join("python")))
}

fn directory() -> PathBuf {
    root().join("bindings/python")
}

/// `python -m NAME` in the directory of the package, which it imports from source.
fn module(environment: &Path, name: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("-C")
        .arg(directory())
        .arg(environment.join("bin/python"))
        .args(["-m", name])
        .env("PYTHONPATH", directory().join("python"))
        .env("FOREWORD_TEST_PROGRAM", target().join("debug/foreword"));
    command
}

/// Makes a virtual environment with packages.
fn virtual_environment(packages: &Packages, steps: &mut Steps) -> Result<PathBuf, TaskError> {
    packages.install(steps, |steps, path| {
        steps.run("venv", Command::new("python3").args(["-m", "venv"]).arg(path))?;
        let mut pip = Command::new(path.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages.names);
        steps.run("pip", &mut pip)
    })
}
