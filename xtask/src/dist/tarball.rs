//! The command line in a directory of its own, for people who use neither pip nor npm nor Cargo.

use std::process::{Command, Stdio};

use crate::dist::archive::{Archive, Mode};
use crate::dist::sbom::Graph;
use crate::dist::try_out::{command_line, fresh, without_rust};
use crate::dist::{Layout, NOTICE, artefact, platform, third_party, version};
use crate::error::TaskError;
use crate::steps::{Steps, root};

/// What is linked into it.
const MEMBERS: [&str; 1] = ["foreword-cli"];
const SHELLS: [(&str, &str); 3] =
    [("bash", "foreword.bash"), ("fish", "foreword.fish"), ("zsh", "_foreword")];

/// Packs it, unpacks it elsewhere and tries it.
pub(crate) fn make(steps: &mut Steps, layout: &Layout, graph: &Graph) -> Result<(), TaskError> {
    let name = format!("foreword-{}-{}", version(), platform());
    let archive = contents(layout, graph)?;
    let bytes = archive.gzip(&name, layout.compression)?;
    if bytes != archive.gzip(&name, layout.compression)? {
        steps.fail("the tarball is reproducible");
    }
    let path = layout.dist.join(format!("{name}.tar.gz"));
    std::fs::write(&path, bytes).map_err(TaskError::io(path.display().to_string()))?;
    let purl = format!("pkg:generic/foreword@{}", version());
    artefact(&path, &graph.bill("foreword", &purl, version(), &MEMBERS))?;

    let place = fresh("plain")?;
    steps.run("unpack", Command::new("tar").arg("-C").arg(&place).arg("-xzf").arg(&path))?;
    let installed = place.join(&name);
    command_line(steps, "tarball works", &installed.join("foreword"), &place)?;
    for file in [
        "completions/foreword.bash",
        "man/man1/foreword.1",
        "man/man1/foreword-build.1",
        "THIRD-PARTY",
    ] {
        if !installed.join(file).is_file() {
            steps.fail("the tarball has completions, man pages and licences");
        }
    }
    std::fs::remove_dir_all(&installed).map_err(TaskError::io(name))
}

fn contents(layout: &Layout, graph: &Graph) -> Result<Archive, TaskError> {
    let program = layout.program();
    let mut archive = Archive::default();
    archive.add_file("foreword", &program, Mode::Program)?;
    archive.add_file("static.bin", &layout.table, Mode::Plain)?;
    for file in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        archive.add_file(file, &root().join(file), Mode::Plain)?;
    }
    archive.add_file("NOTICE", &root().join(NOTICE), Mode::Plain)?;
    archive.add("THIRD-PARTY", third_party::licenses(graph, &MEMBERS).into_bytes(), Mode::Plain);
    for (shell, file) in SHELLS {
        let mut completions = without_rust(&program);
        let output = completions.args(["completions", shell]).stderr(Stdio::inherit()).output();
        let output = output.map_err(TaskError::io("foreword completions"))?;
        if !output.status.success() {
            return Err(TaskError::Failed { steps: vec![format!("completions for {shell}")] });
        }
        archive.add(format!("completions/{file}"), output.stdout, Mode::Plain);
    }
    let pages = fresh("man")?;
    let written = without_rust(&program).arg("man").arg(&pages).stdout(Stdio::null()).status();
    if !written.is_ok_and(|status| status.success()) {
        return Err(TaskError::Failed { steps: vec!["man pages".to_owned()] });
    }
    for page in super::all(&pages, "1")? {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        archive.add_file(format!("man/man1/{name}"), &page, Mode::Plain)?;
    }
    Ok(archive)
}
