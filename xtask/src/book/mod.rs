//! `cargo xtask book`: builds the book in `docs/` with mdBook into `target/book`, after checking its links.
//!
//! The links are also checked by an ordinary test of this crate, which needs no mdBook: compiling mdBook
//! takes minutes, so only this task does.

mod links;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::steps::{Steps, cargo, root, succeeds, target};

/// The version that the book is built with.
const MDBOOK: &str = "0.5.4";

/// Checks the links and builds the book.
pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    let faults = links::faults(&root().join("docs"))?;
    if !faults.is_empty() {
        for fault in &faults {
            eprintln!("docs/{fault}");
        }
        steps.fail("links");
        return steps.verdict();
    }
    let mdbook = mdbook(steps)?;
    steps.run("book", Command::new(mdbook).arg("build").arg(root().join("docs")))?;
    steps.verdict()?;
    println!("{}", root().join("target/book/index.html").display());
    Ok(())
}

/// The program: that of `FOREWORD_MDBOOK` or of the `PATH` if it is the right version, else one that is
/// installed by name, once.
fn mdbook(steps: &mut Steps) -> Result<PathBuf, TaskError> {
    let place = target().join("tools").join(format!("mdbook-{MDBOOK}"));
    let own = place.join("bin/mdbook");
    let named = std::env::var_os("FOREWORD_MDBOOK").map(PathBuf::from);
    let known = [named, Some("mdbook".into()), Some(own.clone())];
    if let Some(found) = known.into_iter().flatten().find(|path| is_right(path)) {
        return Ok(found);
    }
    let mut install = cargo();
    install.args(["install", "mdbook", "--locked", "--version", MDBOOK, "--root"]).arg(&place);
    steps.run("install mdbook", install.env("CARGO_TARGET_DIR", place.join("target")))?;
    steps.verdict()?;
    let _ = std::fs::remove_dir_all(place.join("target"));
    Ok(own)
}

fn is_right(program: &Path) -> bool {
    let said = Command::new(program).arg("--version").output();
    succeeds(Command::new(program).arg("--version"))
        && said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains(MDBOOK))
}
