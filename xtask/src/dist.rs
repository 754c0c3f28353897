//! `cargo xtask dist`: the files that people install, for this platform, each tried in an empty place.
//!
//! The tarball, the wheel and the npm packages have the same programs: the command line, the extension and
//! the addon, built in one go. The table of embeddings is a file that they read, so it is in each package
//! once. `--quick` builds without link-time optimisation and `--dev` like tests: good for trying, not for
//! publishing. `--zig` builds with cargo-zigbuild for glibc 2.17.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::bindings::{copy, library};
use crate::error::TaskError;
use crate::steps::{Steps, cargo, root, succeeds, target};

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
}

impl Layout {
    fn program(&self) -> PathBuf {
        self.built.join("foreword")
    }
}

/// The oldest glibc that wheels of `--zig` run on.
#[cfg(target_arch = "x86_64")]
const ZIG_TARGET: &str = "x86_64-unknown-linux-gnu";
#[cfg(not(target_arch = "x86_64"))]
const ZIG_TARGET: &str = "aarch64-unknown-linux-gnu";

/// Makes the files and tries each of them.
pub(crate) fn run(steps: &mut Steps, effort: Effort, zig: bool) -> Result<(), TaskError> {
    let profile = if effort == Effort::Dev { "debug" } else { "binding" };
    let builds = if zig { target().join(ZIG_TARGET) } else { target() };
    let layout = Layout {
        built: builds.join(profile),
        table: root().join("crates/foreword-embed/model/static.bin"),
        dist: target().join("packages"),
    };
    let _ = std::fs::remove_dir_all(&layout.dist);
    std::fs::create_dir_all(&layout.dist)
        .map_err(TaskError::io(layout.dist.display().to_string()))?;
    build(steps, effort, zig)?;
    tarball(steps, &layout)?;
    wheel(steps, &layout)?;
    npm(steps, &layout)?;
    steps.verdict()?;
    for entry in std::fs::read_dir(&layout.dist).into_iter().flatten().flatten() {
        if let Ok(about) = entry.metadata()
            && about.is_file()
        {
            let (name, size) = (entry.file_name(), about.len() as f64 / 1e6);
            println!("{size:7.1} MB  {}", name.display());
        }
    }
    Ok(())
}

/// One build for all packages: what they share is compiled once.
fn build(steps: &mut Steps, effort: Effort, zig: bool) -> Result<(), TaskError> {
    let mut build = cargo();
    if zig {
        build.args(["zigbuild", "--target", &format!("{ZIG_TARGET}.2.17")]);
    } else {
        build.arg("build");
    }
    build
        .args(["-p", "foreword-cli", "-p", "foreword-python", "-p", "foreword-node", "--features"])
        .arg("foreword-cli/external-table,foreword-python/packaged,foreword-node/packaged")
        .env("PYO3_BUILD_EXTENSION_MODULE", "1");
    if effort != Effort::Dev {
        build.args(["--profile", "binding"]);
    }
    if effort == Effort::Full {
        build.envs([
            ("CARGO_PROFILE_BINDING_LTO", "fat"),
            ("CARGO_PROFILE_BINDING_OPT_LEVEL", "3"),
            ("CARGO_PROFILE_BINDING_CODEGEN_UNITS", "1"),
        ]);
    }
    steps.run("build", &mut build)?;
    steps.verdict()
}

/// The command line in a directory of its own.
fn tarball(steps: &mut Steps, layout: &Layout) -> Result<(), TaskError> {
    let name = format!("foreword-{}-{}", version(), platform());
    let folder = layout.dist.join(&name);
    copy(&layout.program(), &folder.join("foreword"))?;
    copy(&layout.table, &folder.join("static.bin"))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        copy(&root().join(file), &folder.join(file))?;
    }
    let archive = layout.dist.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(&layout.dist).arg("-czf").arg(&archive).arg(&name);
    steps.run("tarball", &mut tar)?;
    remove(&folder)?;

    let place = fresh("plain")?;
    steps.run("unpack", Command::new("tar").arg("-C").arg(&place).arg("-xzf").arg(&archive))?;
    try_command(steps, "tarball works", &place.join(&name).join("foreword"), &place)
}

/// The wheel: extension, command line and table, for every Python from 3.10 on.
fn wheel(steps: &mut Steps, layout: &Layout) -> Result<(), TaskError> {
    let mut pack = Command::new("python3");
    pack.arg(root().join("bindings/python/pack_wheel.py"))
        .arg("--extension")
        .arg(layout.built.join(library("_foreword")))
        .arg("--program")
        .arg(layout.program())
        .arg("--table")
        .arg(&layout.table)
        .arg("--out")
        .arg(&layout.dist);
    steps.run("wheel", &mut pack)?;
    steps.verdict()?;

    let place = fresh("venv")?;
    let venv = place.join("venv");
    steps.run("venv", Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut install = clean(&venv.join("bin/pip"));
    install.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    steps.run("pip install", install.arg(found(&layout.dist, "whl")?))?;
    let script = "import foreword; p = foreword.build({'task': 'hi'}); assert p.tokens > 100, p; \
                  assert foreword.scan('hello')['verdict'] == 'PASS'; print(p)";
    let mut import = clean(&venv.join("bin/python"));
    steps.run("import foreword", import.args(["-I", "-c", script]))?;
    try_command(steps, "wheel's command works", &venv.join("bin/foreword"), &place)?;
    let mut uninstall = clean(&venv.join("bin/pip"));
    steps.run("pip uninstall", uninstall.args(["uninstall", "--quiet", "--yes", "foreword"]))?;
    if venv.join("bin/foreword").exists() {
        steps.fail("pip uninstall leaves nothing");
    }
    Ok(())
}

/// The npm packages: one in JavaScript, and one with the files of this platform.
fn npm(steps: &mut Steps, layout: &Layout) -> Result<(), TaskError> {
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
    let name = npm_platform();
    let about = json!({
        "name": format!("@foreword/{name}"), "version": version(),
        "description": format!("The native files of foreword for {name}"),
        "license": "Apache-2.0 OR MIT",
        "os": [std::env::consts::OS.replace("macos", "darwin")],
        "cpu": [npm_cpu()],
        "files": ["foreword.node", "foreword", "static.bin"],
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
    try_command(steps, "npm's command works", &prefix.join("node_modules/.bin/foreword"), &place)?;
    let mut uninstall = Command::new("npm");
    uninstall.args(["uninstall", "--silent", "--prefix"]).arg(&prefix).arg("foreword");
    steps.run("npm uninstall", &mut uninstall)
}

/// Builds a prompt and selects with embeddings: the table is found.
fn try_command(
    steps: &mut Steps,
    name: &'static str,
    program: &Path,
    place: &Path,
) -> Result<(), TaskError> {
    let workspace = place.join("workspace");
    let mut init = clean(program);
    steps.run(name, init.args(["init", "--quiet", "-w"]).arg(&workspace))?;
    let mut build = clean(program);
    steps.run(name, build.args(["build", "--quiet", "plan my week", "-w"]).arg(&workspace))?;
    let mut version = clean(program);
    steps.run(name, version.arg("--version"))
}

/// A command that finds no Rust, and settings of its own.
fn clean(program: &Path) -> Command {
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
fn fresh(name: &str) -> Result<PathBuf, TaskError> {
    let path = target().join("dist-try").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).map_err(TaskError::io(path.display().to_string()))?;
    Ok(path)
}

fn remove(path: &Path) -> Result<(), TaskError> {
    std::fs::remove_dir_all(path).map_err(TaskError::io(path.display().to_string()))
}

fn found(directory: &Path, end: &str) -> Result<PathBuf, TaskError> {
    let missing = || TaskError::usage(format!("no .{end} in {}", directory.display()));
    all(directory, end)?.pop().ok_or_else(missing)
}

fn all(directory: &Path, end: &str) -> Result<Vec<PathBuf>, TaskError> {
    let entries =
        std::fs::read_dir(directory).map_err(TaskError::io(directory.display().to_string()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|own| own == end)).collect())
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn platform() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
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
