//! The reference validator of the Agent Skills format, which ours is compared with.

use std::path::PathBuf;
use std::process::Command;

use crate::steps::{Steps, succeeds, target};

/// The package, by name and version.
const PACKAGE: &str = "skills-ref==0.1.1";
/// What tells the tests which Python has it.
pub(crate) const VARIABLE: &str = "FOREWORD_SKILLS_REF";

/// Installs it into the target directory, unless it is there; `None` if that cannot be done here.
pub(crate) fn install(steps: &mut Steps) -> Option<PathBuf> {
    let folder = target().join("tools").join("skills-ref-0.1.1");
    let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let python = folder.join(python);
    let works = || succeeds(Command::new(&python).args(["-c", "import skills_ref.validator"]));
    if works() {
        return Some(python);
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    if !succeeds(
        Command::new(system).args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]),
    ) {
        steps.skip("skills-ref", "it needs Python 3.11 or later");
        return None;
    }
    eprintln!("\n==> skills-ref: installing {PACKAGE} into the target directory");
    let made = succeeds(Command::new(system).args(["-m", "venv", "--clear"]).arg(&folder))
        && succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]));
    if made && works() {
        return Some(python);
    }
    steps.skip("skills-ref", "pip could not install it; the comparison with it is left out");
    None
}
