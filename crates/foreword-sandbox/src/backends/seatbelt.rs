//! `seatbelt`: the sandbox of macOS, configured with a profile.
//!
//! Paths are never written into the profile: they are passed as parameters, so no part of a path can
//! act as a rule. Of two matching rules the later one applies, so denials come last.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::SandboxError;
use crate::mounts::{self, Shown};
use crate::sandbox::{Guarantees, Sandbox};
use crate::spec::SandboxSpec;
use crate::trial;
use foreword::SandboxKind;

/// How to get it, for a person.
pub(crate) const REMEDY: &str = "it exists on macOS only; use another sandbox";

/// What every program may do.
const BASE: &str = include_str!("seatbelt.sb");

/// `sandbox-exec` at a known path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seatbelt {
    program: PathBuf,
}

impl Seatbelt {
    /// Takes the program for one that works; [`Seatbelt::trial`] says whether it does.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Runs `true` under the rules that are the same for every program.
    pub fn trial(&self) -> Result<(), SandboxError> {
        let mut command = Command::new(&self.program);
        command.args(["-p", BASE, "/usr/bin/true"]).env_clear();
        trial::run(command, SandboxKind::Seatbelt, REMEDY)
    }
}

impl Sandbox for Seatbelt {
    fn kind(&self) -> SandboxKind {
        SandboxKind::Seatbelt
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            network: true,
            governed_read_only: true,
            private_hidden: true,
            home_hidden: true,
            dies_with_host: false,
            limits: false,
            kernel_calls: true,
        }
    }

    fn command(&self, spec: &SandboxSpec) -> Result<Command, SandboxError> {
        spec.check()?;
        let profile = Profile::of(spec)?;
        let temporary = spec.run_dir.join("tmp");
        fs::create_dir_all(&temporary)
            .map_err(|source| SandboxError::Io { path: temporary.clone(), source })?;
        let mut command = Command::new(&self.program);
        command.arg("-p").arg(&profile.text);
        for (name, path) in &profile.parameters {
            let mut parameter = OsString::from(name);
            parameter.push("=");
            parameter.push(path);
            command.arg("-D").arg(parameter);
        }
        command.arg(&spec.program).args(&spec.args).current_dir(&spec.cwd).env_clear();
        command.env("TMPDIR", &temporary).envs(spec.environment(&temporary));
        Ok(command)
    }

    fn run_dir_inside(&self, spec: &SandboxSpec) -> PathBuf {
        spec.run_dir.clone()
    }
}

struct Profile {
    text: String,
    parameters: Vec<(String, PathBuf)>,
}

impl Profile {
    fn of(spec: &SandboxSpec) -> Result<Self, SandboxError> {
        let mut profile = Self { text: BASE.to_owned(), parameters: Vec::new() };
        let mounts = mounts::plan(spec, None, &[])?;
        let workspace = spec.workspace.as_path();
        profile.rule("allow file-read*", "subpath", workspace);
        if spec.writable {
            profile.rule("allow file-write*", "subpath", workspace);
        }
        profile.rule("allow file-read*", "subpath", &spec.run_dir);
        profile.rule("allow file-read* file-write*", "subpath", &spec.run_dir.join("tmp"));
        let run_dir = profile.parameter(&spec.run_dir);
        profile.line(&format!("(allow network-outbound (remote unix-socket (subpath {run_dir})))"));
        for port in spec.bridge_ports.clone().into_iter().flatten() {
            let local = format!("(local ip \"localhost:{port}\")");
            profile.line(&format!("(allow network-bind network-inbound {local})"));
            profile.line(&format!("(allow network-outbound (remote ip \"localhost:{port}\"))"));
        }
        // Programs look at every directory on the way to a file.
        let shown = mounts.iter().map(|mount| mount.path.as_path()).chain([spec.run_dir.as_path()]);
        let mut outer: Vec<&Path> = shown.flat_map(|path| path.ancestors().skip(1)).collect();
        outer.sort_unstable();
        outer.dedup();
        for path in outer.into_iter().filter(|path| !path.starts_with(workspace)) {
            profile.rule("allow file-read-metadata", "literal", path);
        }
        for mount in mounts.iter().filter(|mount| mount.path != workspace) {
            let inside = mount.path.starts_with(workspace);
            match mount.shown {
                // Renaming the directory would move the protected files out of the way.
                Shown::Writable => profile.rule("deny file-write*", "literal", &mount.path),
                Shown::ReadOnly if inside => {
                    profile.rule("deny file-write*", "subpath", &mount.path);
                }
                Shown::ReadOnly => profile.rule("allow file-read*", "subpath", &mount.path),
                Shown::EmptyDirectory | Shown::EmptyFile => {
                    profile.rule("deny file-read* file-write*", "subpath", &mount.path);
                }
            }
        }
        for path in &spec.private {
            profile.rule("deny file-read* file-write*", "subpath", path);
        }
        Ok(profile)
    }

    fn rule(&mut self, what: &str, filter: &str, path: &Path) {
        let parameter = self.parameter(path);
        self.line(&format!("({what} ({filter} {parameter}))"));
    }

    fn parameter(&mut self, path: &Path) -> String {
        let name = format!("PATH_{}", self.parameters.len());
        let parameter = format!("(param \"{name}\")");
        self.parameters.push((name, path.to_path_buf()));
        parameter
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }
}

#[cfg(test)]
#[path = "seatbelt_tests.rs"]
mod tests;
