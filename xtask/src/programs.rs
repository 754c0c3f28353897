//! Programs that end-to-end tests run: clients and agents from npm, a sandbox from Debian.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::TaskError;
use crate::steps::{Steps, succeeds, target};

/// What is installed from npm, by name, and what must work then.
const NPM: [Package; 4] = [
    // The server scenarios of the Model Context Protocol.
    Package { name: "@modelcontextprotocol/conformance", version: "0.1.16", program: None },
    // A client of it; the last version for Node.js 20.
    Package { name: "@modelcontextprotocol/inspector", version: "0.15.0", program: None },
    // Agents that `foreword run` can run.
    Package { name: "@anthropic-ai/claude-code", version: "2.1.197", program: Some("claude") },
    Package { name: "@mariozechner/pi-coding-agent", version: "0.73.1", program: Some("pi") },
];

struct Package {
    name: &'static str,
    version: &'static str,
    /// A program of it that can tell its version.
    program: Option<&'static str>,
}

/// Installs what is not there yet, and says where it is, for as much as can be had here.
///
/// A machine without npm runs the other tests; under `CI=true` all of them must run.
pub(crate) fn install(steps: &mut Steps) -> Result<Option<(&'static str, PathBuf)>, TaskError> {
    install_bubblewrap(steps);
    let folder = target().join("tools").join("npm");
    if !NPM.iter().all(|package| package.works(&folder))
        && let Err(error) = install_npm(&folder)
    {
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            return Err(error);
        }
        steps.skip("npm packages", &format!("{error}; tests that need them are left out"));
        return Ok(None);
    }
    Ok(Some(("FOREWORD_TEST_NPM", folder)))
}

impl Package {
    /// Is this very version there, and does it run?
    fn works(&self, folder: &Path) -> bool {
        let modules = folder.join("node_modules");
        let about = std::fs::read(modules.join(self.name).join("package.json"));
        let about: Value =
            about.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let runs = |program: &str| {
            succeeds(Command::new(modules.join(".bin").join(program)).arg("--version"))
        };
        about.get("version").is_some_and(|version| version == self.version)
            && self.program.is_none_or(runs)
    }
}

fn install_npm(folder: &Path) -> Result<(), TaskError> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if !succeeds(Command::new("node").arg("--version"))
        || !succeeds(Command::new(npm).arg("--version"))
    {
        return Err(TaskError::Missing {
            program: "node with npm".to_owned(),
            hint: "real clients and agents run on it; install Node.js 20 or later",
        });
    }
    let packages: Vec<String> =
        NPM.iter().map(|package| format!("{}@{}", package.name, package.version)).collect();
    eprintln!("\n==> npm packages: installing {} into the target directory", packages.join(", "));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join("package.json"), "{\"private\": true}\n"))
        .map_err(TaskError::io(format!("cannot write {}", folder.display())))?;
    let failed = || TaskError::Failed { steps: vec!["npm packages".to_owned()] };
    let mut install = Command::new(npm);
    // No script of a package runs, whatever npm's own rule is; the one that is needed comes below.
    install.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
    if !shown(install.args(["--loglevel", "error", "--prefix"]).arg(folder).args(packages)) {
        return Err(failed());
    }
    // Puts the program for this system in its place.
    let claude = folder.join("node_modules/@anthropic-ai/claude-code");
    if !shown(Command::new("node").arg("install.cjs").current_dir(claude)) {
        return Err(failed());
    }
    match NPM.iter().find(|package| !package.works(folder)) {
        None => Ok(()),
        Some(package) => Err(TaskError::Missing {
            program: format!("{}@{}", package.name, package.version),
            hint: "npm installed it, and it does not run here",
        }),
    }
}

/// The sandbox of choice on Linux.
fn install_bubblewrap(steps: &mut Steps) {
    const NAME: &str = "bubblewrap";
    if !cfg!(target_os = "linux") || succeeds(Command::new("bwrap").arg("--version")) {
        return;
    }
    if !succeeds(Command::new("apt-get").arg("--version")) {
        return steps.skip(NAME, "`bwrap` is not installed; install bubblewrap to test with it");
    }
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    if !id.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        return steps.skip(
            NAME,
            "`bwrap` is not installed, and only root can: `apt-get install bubblewrap`",
        );
    }
    eprintln!("\n==> {NAME}: installing the Debian package");
    let apt_get = |words: &[&str]| {
        shown(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(words))
    };
    let installed = apt_get(&["update", "--quiet"])
        && apt_get(&["install", "--yes", "--quiet", "--no-install-recommends", NAME]);
    if !installed || !succeeds(Command::new("bwrap").arg("--version")) {
        steps.skip(NAME, "apt-get could not install it");
    }
}

/// Runs with the output shown; did it go well?
fn shown(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
}
