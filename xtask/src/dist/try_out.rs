//! Trying a package where it is installed: an empty place, without Rust, with settings of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::steps::{Steps, target};

/// Builds a prompt and selects with embeddings, so that the table is found, and prints the version.
pub(crate) fn command_line(
    steps: &mut Steps,
    name: &'static str,
    program: &Path,
    place: &Path,
) -> Result<(), TaskError> {
    let workspace = place.join("workspace");
    let mut init = without_rust(program);
    steps.run(name, init.args(["init", "--quiet", "-w"]).arg(&workspace))?;
    let mut build = without_rust(program);
    steps.run(name, build.args(["build", "--quiet", "plan my week", "-w"]).arg(&workspace))?;
    let mut scan = without_rust(program);
    scan.args(["scan", "--quiet"]).arg(workspace.join("SOUL.md"));
    steps.run(name, &mut scan)?;
    let mut version = without_rust(program);
    let output = version.arg("--version").output();
    let says = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if !says.is_ok_and(|says| says == format!("foreword {}", super::version())) {
        steps.fail("the program has the version of the package");
    }
    Ok(())
}

/// A command that finds no Rust, and settings of its own.
pub(crate) fn without_rust(program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let kept = std::env::split_paths(&path)
        .filter(|directory| !directory.join("cargo").exists() && !directory.join("rustc").exists());
    if let Ok(path) = std::env::join_paths(kept) {
        command.env("PATH", path);
    }
    command.env("FOREWORD_CONFIG_DIR", target().join("dist-try/config"));
    command
}

/// An empty directory to try something in.
pub(crate) fn fresh(name: &str) -> Result<PathBuf, TaskError> {
    let path = target().join("dist-try").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).map_err(TaskError::io(path.display().to_string()))?;
    Ok(path)
}
