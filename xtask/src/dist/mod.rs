//! `cargo xtask dist`: the files that people install, for this platform, each tried in an empty place.
//!
//! The tarball, the wheel and the npm packages have the same programs: the command line, the extension and
//! the addon, built in one go. On Linux the wheel's command line is in the extension (see `launcher`). The
//! table of embeddings is a file that they read, so it is in each package once. Beside each file are its SHA-256 and its bill of materials. `--quick` builds without link-time
//! optimisation and `--dev` like tests: good for trying, not for publishing. `--zig` builds for glibc 2.17.

mod archive;
mod binaries;
mod launcher;
mod npm;
pub(crate) mod sbom;
mod tarball;
mod third_party;
mod try_out;
mod wheel;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::bindings::library;
use crate::error::TaskError;
use crate::steps::{Steps, cargo, root, succeeds, target};

use self::binaries::{OLDEST_GLIBC, named, newest_glibc, private_directories, read};
use self::sbom::Graph;

/// How carefully to build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Fat LTO, for publishing.
    Full,
    /// Like `cargo build --release`.
    Quick,
    /// Like tests.
    Dev,
}

/// Where the files of a package are collected.
struct Layout {
    dist: PathBuf,
    built: PathBuf,
    table: PathBuf,
    /// The level of compression of the tarball.
    compression: u8,
}

impl Layout {
    fn program(&self) -> PathBuf {
        self.built.join("foreword")
    }

    fn extension(&self) -> PathBuf {
        self.built.join(library("_foreword"))
    }

    /// The program in the wheel.
    fn wheel_program(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            target().join("dist-try/launcher/foreword/_packaged/foreword")
        } else {
            self.program()
        }
    }

    /// Everything that is machine code.
    fn binaries(&self) -> [PathBuf; 4] {
        let addon = self.built.join(library("foreword_node"));
        [self.program(), self.wheel_program(), self.extension(), addon]
    }
}

/// Who made the table of embeddings, and from what.
const NOTICE: &str = "tools/model/NOTICE";
/// The halves of the table, in order.
const TABLE: [&str; 2] =
    ["crates/foreword-embed-table-a/table.bin", "crates/foreword-embed-table-b/table.bin"];

/// The platform that is built for.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
const TRIPLE: &str = "aarch64-unknown-linux-gnu";
#[cfg(all(target_arch = "aarch64", target_os = "macos"))]
const TRIPLE: &str = "aarch64-apple-darwin";
#[cfg(not(any(
    all(target_arch = "x86_64", target_os = "linux"),
    all(target_arch = "aarch64", target_os = "linux"),
    all(target_arch = "aarch64", target_os = "macos")
)))]
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Where the files are when `dist` is done.
pub(crate) fn packages() -> PathBuf {
    target().join("packages")
}

/// Makes the files and tries each of them.
pub(crate) fn run(steps: &mut Steps, effort: Effort, zig: bool) -> Result<(), TaskError> {
    let profile = if effort == Effort::Dev { "debug" } else { "binding" };
    let builds = if zig { target().join(TRIPLE) } else { target() };
    let layout = Layout {
        built: builds.join(profile),
        table: target().join("dist-try/static.bin"),
        dist: packages(),
        compression: if effort == Effort::Dev { 1 } else { 9 },
    };
    let _ = std::fs::remove_dir_all(&layout.dist);
    std::fs::create_dir_all(&layout.dist)
        .map_err(TaskError::io(layout.dist.display().to_string()))?;
    build(steps, effort, zig)?;
    if cfg!(target_os = "linux") {
        launcher::make(steps, &layout, zig.then(zig_venv).as_deref())?;
    }
    inspect(steps, &layout, effort, zig)?;
    join_table(&layout.table)?;
    let graph = Graph::resolve(TRIPLE)?;
    tarball::make(steps, &layout, &graph)?;
    wheel::make(steps, &layout, &graph, effort == Effort::Full)?;
    npm::make(steps, &layout, &graph)?;
    steps.verdict()?;
    for path in all(&layout.dist, "gz")?
        .into_iter()
        .chain(all(&layout.dist, "whl")?)
        .chain(all(&layout.dist, "tgz")?)
    {
        let size = std::fs::metadata(&path).map_or(0, |about| about.len()) as f64 / 1e6;
        println!("{size:7.1} MB  {}", path.file_name().unwrap_or_default().display());
    }
    Ok(())
}

/// One build for all packages: what they share is compiled once.
fn build(steps: &mut Steps, effort: Effort, zig: bool) -> Result<(), TaskError> {
    let mut build = if zig { zigbuild(steps)? } else { cargo() };
    if zig {
        build.args(["zigbuild", "--target", &format!("{TRIPLE}.2.{OLDEST_GLIBC}")]);
    } else {
        build.arg("build");
    }
    build
        .args(["--locked", "-p", "foreword-cli", "-p", "foreword-python", "-p", "foreword-node"])
        .arg("--features")
        .arg("foreword-cli/external-table,foreword-python/packaged,foreword-node/packaged")
        .env("PYO3_BUILD_EXTENSION_MODULE", "1");
    if effort != Effort::Dev {
        build.args(["--profile", "binding"]);
    }
    if effort == Effort::Full {
        build.envs([
            ("CARGO_PROFILE_BINDING_LTO", "fat"),
            ("CARGO_PROFILE_BINDING_OPT_LEVEL", "s"),
            ("CARGO_PROFILE_BINDING_CODEGEN_UNITS", "1"),
        ]);
        // The same sources give the same bytes wherever they lie, and no path of this machine is published.
        let remapped = |option: &str| {
            let directories = private_directories();
            let options = directories.iter().zip(["/foreword", "/home", "/cargo"]);
            options.map(|(from, to)| format!("{option}={from}={to}")).collect::<Vec<_>>()
        };
        build.env("CARGO_ENCODED_RUSTFLAGS", remapped("--remap-path-prefix").join("\u{1f}"));
        build.env("CFLAGS", remapped("-ffile-prefix-map").join(" "));
    }
    steps.run("build", &mut build)?;
    steps.verdict()
}

/// cargo-zigbuild with its compiler, from pip, in an environment of its own.
fn zigbuild(steps: &mut Steps) -> Result<Command, TaskError> {
    let venv = zig_venv();
    let program = venv.join("bin/cargo-zigbuild");
    if !succeeds(Command::new(&program).arg("--version")) {
        steps.run("venv", Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let mut install = Command::new(venv.join("bin/pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check"]);
        steps.run("pip install", install.args(["ziglang==0.13.0", "cargo-zigbuild==0.24.0"]))?;
        steps.verdict()?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(venv.join("bin")).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(directories).unwrap_or_else(|_| OsString::from(&path));
    let mut command = Command::new(program);
    command.env("PATH", path);
    Ok(command)
}

fn zig_venv() -> PathBuf {
    target().join("tools/zig")
}

/// Programs for publishing run on what they claim to, and do not name this machine.
fn inspect(steps: &mut Steps, layout: &Layout, effort: Effort, zig: bool) -> Result<(), TaskError> {
    for path in layout.binaries() {
        let program = read(&path)?;
        let name = path.strip_prefix(target()).unwrap_or(&path).display();
        if let Some(minor) = newest_glibc(&program) {
            eprintln!("{name} needs glibc 2.{minor}");
            if zig && minor > OLDEST_GLIBC {
                steps.fail("no program needs a newer glibc than 2.17");
            }
        }
        let found = named(&program, &private_directories());
        if effort == Effort::Full && !found.is_empty() {
            eprintln!("{name} names {}", found.join(", "));
            steps.fail("no program names a directory of this machine");
        }
    }
    Ok(())
}

/// Writes the table of embeddings as one file, as the programs of packages read it.
fn join_table(to: &Path) -> Result<(), TaskError> {
    let mut table = Vec::new();
    for half in TABLE {
        table.extend(read(&root().join(half))?);
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(TaskError::io(parent.display().to_string()))?;
    }
    std::fs::write(to, table).map_err(TaskError::io(to.display().to_string()))
}

/// Writes the checksum and the bill of materials of a file beside it.
fn artefact(path: &Path, bill: &Value) -> Result<(), TaskError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let digest = Sha256::digest(read(path)?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    for (end, text) in
        [("sha256", format!("{digest}  {name}\n")), ("cdx.json", format!("{bill:#}\n"))]
    {
        let beside = path.with_file_name(format!("{name}.{end}"));
        std::fs::write(&beside, text).map_err(TaskError::io(beside.display().to_string()))?;
    }
    Ok(())
}

/// The files of a directory with this ending, in order.
pub(crate) fn all(directory: &Path, end: &str) -> Result<Vec<PathBuf>, TaskError> {
    let entries =
        std::fs::read_dir(directory).map_err(TaskError::io(directory.display().to_string()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|own| own == end)).collect();
    found.sort();
    Ok(found)
}

/// The one version of everything that is released.
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn platform() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}
