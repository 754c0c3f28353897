//! The wheel: extension, command line and table, for every Python from 3.10 on.
//!
//! On Linux the code of the command line is in the extension; elsewhere it is a program of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::dist::sbom::Graph;
use crate::dist::try_out::{command_line, fresh, without_rust};
use crate::dist::{Layout, NOTICE, all, artefact, third_party, version};
use crate::error::TaskError;
use crate::steps::{Steps, root};

const MEMBERS: [&str; 2] = ["foreword-cli", "foreword-python"];
/// More would be a nuisance to download, and means that the table or the code is in it twice.
const MAX_BYTES: u64 = 32_000_000;

/// Packs it, installs it into an empty environment, tries it and uninstalls it.
pub(crate) fn make(
    steps: &mut Steps,
    layout: &Layout,
    graph: &Graph,
    limited: bool,
) -> Result<(), TaskError> {
    let place = fresh("venv")?;
    let licenses = place.join("THIRD-PARTY");
    std::fs::write(&licenses, third_party::licenses(graph, &MEMBERS))
        .map_err(TaskError::io(licenses.display().to_string()))?;
    let mut pack = Command::new("python3");
    pack.arg(root().join("bindings/python/pack_wheel.py"))
        .arg("--extension")
        .arg(layout.extension())
        .arg("--program")
        .arg(layout.wheel_program())
        .arg("--table")
        .arg(&layout.table)
        .arg("--license")
        .arg(root().join(NOTICE))
        .arg("--license")
        .arg(&licenses)
        .arg("--out")
        .arg(&layout.dist);
    steps.run("wheel", &mut pack)?;
    steps.verdict()?;
    let missing = || TaskError::usage(format!("no wheel in {}", layout.dist.display()));
    let wheel = all(&layout.dist, "whl")?.pop().ok_or_else(missing)?;
    let purl = format!("pkg:pypi/foreword@{}", version());
    artefact(&wheel, &graph.bill("foreword", &purl, version(), &MEMBERS))?;
    if limited && std::fs::metadata(&wheel).is_ok_and(|about| about.len() > MAX_BYTES) {
        steps.fail("the wheel has at most 32 MB");
    }

    let venv = place.join("venv");
    steps.run("venv", Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut install = without_rust(&venv.join("bin/pip"));
    install.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    steps.run("pip install", install.arg(wheel))?;
    let script = "import foreword; p = foreword.build({'task': 'hi'}); assert p.tokens > 100, p; \
                  assert foreword.scan('hello')['verdict'] == 'PASS'; print(p)";
    let mut import = without_rust(&venv.join("bin/python"));
    steps.run("import foreword", import.args(["-I", "-c", script]))?;
    command_line(steps, "wheel's command works", &venv.join("bin/foreword"), &place)?;
    if cfg!(target_os = "linux") {
        starts_in_sandbox(steps, &venv.join("bin/foreword"));
    }
    let mut uninstall = without_rust(&venv.join("bin/pip"));
    steps.run("pip uninstall", uninstall.args(["uninstall", "--quiet", "--yes", "foreword"]))?;
    let mut gone = without_rust(&venv.join("bin/python"));
    let script =
        "import importlib.util, sys; sys.exit(importlib.util.find_spec('foreword') is not None)";
    steps.run("pip uninstall", gone.args(["-I", "-c", script]))?;
    if venv.join("bin/foreword").exists() {
        steps.fail("pip uninstall leaves nothing");
    }
    Ok(())
}

/// The program starts itself inside a sandbox, where it needs the library it is in. Which guarantees hold
/// there depends on the machine: exit code 1 says that one does not.
fn starts_in_sandbox(steps: &mut Steps, program: &Path) {
    let mut check = without_rust(program);
    let status = check.args(["sandbox", "check"]).stdout(Stdio::null()).status();
    if !status.is_ok_and(|status| matches!(status.code(), Some(0 | 1))) {
        steps.fail("the wheel's command starts in a sandbox");
    }
}
