//! Programs that end-to-end tests run: clients and agents from npm, the sandbox and a browser from Debian.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::TaskError;
use crate::steps::{Steps, succeeds, target};
use crate::test::Installing;

/// The npm packages, by name.
const NPM: [Package; 12] = [
    // The server scenarios of the Model Context Protocol.
    Package { name: "@modelcontextprotocol/conformance", version: "0.1.16", program: None },
    // A client of it; the last version for Node.js 20.
    Package { name: "@modelcontextprotocol/inspector", version: "0.15.0", program: None },
    // Servers of it, whose tools agents call.
    Package {
        name: "@modelcontextprotocol/server-everything",
        version: "2026.8.31",
        program: None,
    },
    Package {
        name: "@modelcontextprotocol/server-filesystem",
        version: "2026.8.31",
        program: None,
    },
    // Agents that `foreword run` can run.
    Package { name: "@anthropic-ai/claude-code", version: "2.1.197", program: Some("claude") },
    Package { name: "@mariozechner/pi-coding-agent", version: "0.73.1", program: Some("pi") },
    // Drives the browser that looks at our pages, and the rules of accessibility they are held to.
    Package { name: "playwright-core", version: "1.65.1", program: None },
    Package { name: "axe-core", version: "4.14.0", program: None },
    // Programs that `foreword watch` can watch; the last SDKs for Node.js 20.
    Package { name: "@openai/codex", version: "0.169.0", program: Some("codex") },
    Package { name: "ai", version: "5.0.277", program: None },
    Package { name: "@ai-sdk/openai", version: "2.0.131", program: None },
    Package { name: "@google/genai", version: "2.32.0", program: None },
];

/// The Debian packages, each with the program that shows it is installed.
const DEBIAN: [(&str, &str); 2] = [("bubblewrap", "bwrap"), ("chromium", "chromium")];

struct Package {
    name: &'static str,
    version: &'static str,
    /// A program of the package that must answer `--version`.
    program: Option<&'static str>,
}

/// What [`install`] would install, one line each.
pub(crate) fn missing() -> Vec<String> {
    let mut missing = Vec::new();
    let packages = missing_from_debian().into_iter();
    missing.extend(packages.map(|(name, _)| format!("{name}, a Debian package, with apt-get")));
    let folder = npm_folder();
    let packages = NPM.iter().filter(|package| !package.works(&folder));
    missing.extend(packages.map(|package| {
        format!("{}@{}, an npm package, into target/tools/npm", package.name, package.version)
    }));
    missing
}

/// Installs what is missing, and returns the variable that names the npm packages.
///
/// A machine without npm runs the other tests; under `CI=true` all of them must run.
pub(crate) fn install(
    steps: &mut Steps,
    installing: Installing,
) -> Result<Option<(&'static str, PathBuf)>, TaskError> {
    let folder = npm_folder();
    let complete = || NPM.iter().all(|package| package.works(&folder));
    if installing == Installing::Forbidden {
        return Ok(complete().then_some(("FOREWORD_TEST_NPM", folder)));
    }
    install_debian(steps);
    if !complete()
        && let Err(error) = install_npm(&folder)
    {
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            return Err(error);
        }
        steps.skip("npm packages", &format!("{error}; skipping the tests that need them"));
        return Ok(None);
    }
    Ok(Some(("FOREWORD_TEST_NPM", folder)))
}

fn npm_folder() -> PathBuf {
    target().join("tools").join("npm")
}

fn missing_from_debian() -> Vec<(&'static str, &'static str)> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let missing = DEBIAN.into_iter();
    missing.filter(|(_, program)| !succeeds(Command::new(program).arg("--version"))).collect()
}

impl Package {
    /// Whether exactly this version is installed and runs.
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
            hint: "install Node.js 20 or later",
        });
    }
    let packages: Vec<String> =
        NPM.iter().map(|package| format!("{}@{}", package.name, package.version)).collect();
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join("package.json"), "{\"private\": true}\n"))
        .map_err(TaskError::io(format!("cannot write {}", folder.display())))?;
    let failed = || TaskError::Failed { steps: vec!["npm packages".to_owned()] };
    let mut install = Command::new(npm);
    // Packages run no scripts on install; the one that is needed runs below.
    install.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
    if !run(install.args(["--loglevel", "error", "--prefix"]).arg(folder).args(packages)) {
        return Err(failed());
    }
    // Unpacks the program for this system.
    let claude = folder.join("node_modules/@anthropic-ai/claude-code");
    if !run(Command::new("node").arg("install.cjs").current_dir(claude)) {
        return Err(failed());
    }
    match NPM.iter().find(|package| !package.works(folder)) {
        None => Ok(()),
        Some(package) => Err(TaskError::Missing {
            program: format!("{}@{}", package.name, package.version),
            hint: "npm installed it, but it does not run on this machine",
        }),
    }
}

/// The sandbox of choice on Linux, and the browser.
fn install_debian(steps: &mut Steps) {
    const STEP: &str = "Debian packages";
    let missing = missing_from_debian();
    if missing.is_empty() {
        return;
    }
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let all = names.join(" ");
    if !succeeds(Command::new("apt-get").arg("--version")) {
        return steps.skip(STEP, &format!("install {all} to test with it"));
    }
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    if !id.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        return steps.skip(STEP, &format!("run `apt-get install {all}` as root to test with it"));
    }
    let apt_get = |words: &[&str]| {
        run(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(words))
    };
    let install = ["install", "--yes", "--quiet", "--no-install-recommends"];
    let installed =
        apt_get(&["update", "--quiet"]) && apt_get(&[install.as_slice(), &names].concat());
    if !installed || !missing_from_debian().is_empty() {
        steps.skip(STEP, &format!("apt-get could not install {all}"));
    }
}

/// Runs a command with its output on the terminal; true if it succeeds.
fn run(command: &mut Command) -> bool {
    // Standard output is for what a task prints, such as the variables of `tools`.
    command.stdin(Stdio::null()).stdout(std::io::stderr()).status().is_ok_and(|s| s.success())
}
