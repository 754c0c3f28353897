//! Third-party agent loops: finding their programs and what they need inside the sandbox.

use std::path::{Path, PathBuf};

use foreword_protocol::{CliProgram, RunnerKind};

use crate::error::HostError;
use crate::model::upstream::Lookup;

/// The program of a runner, as the sandbox sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunnerProgram {
    /// `None` for the native loop.
    pub(crate) cli: Option<CliProgram>,
    /// Directories it must be able to read.
    pub(crate) read_only: Vec<PathBuf>,
    /// Directories that come first in its `PATH`.
    pub(crate) path: Vec<PathBuf>,
}

struct Program {
    name: &'static str,
    install: &'static str,
}

fn program(runner: RunnerKind) -> Option<Program> {
    match runner {
        RunnerKind::Native => None,
        RunnerKind::ClaudeCode => Some(Program {
            name: "claude",
            install: "npm install -g @anthropic-ai/claude-code@2.1.197",
        }),
        RunnerKind::Pi => Some(Program {
            name: "pi",
            install: "npm install -g @mariozechner/pi-coding-agent@0.73.1",
        }),
    }
}

/// Finds the program of a runner in `PATH`.
pub(crate) fn locate(
    runner: RunnerKind,
    environment: Lookup<'_>,
) -> Result<RunnerProgram, HostError> {
    let Some(Program { name, install }) = program(runner) else {
        return Ok(RunnerProgram::default());
    };
    let path = environment("PATH").unwrap_or_default();
    let missing = || HostError::NotInstalled { program: name, install };
    let found = find(name, &path).ok_or_else(missing)?;
    let real = found.canonicalize().map_err(|_| missing())?;
    let mut located = RunnerProgram {
        cli: Some(CliProgram { program: real.clone(), args: Vec::new() }),
        ..RunnerProgram::default()
    };
    located.add_tree(installation(&real));
    if let Some(node) = find("node", &path).and_then(|node| node.canonicalize().ok()) {
        located.path.extend(node.parent().map(Path::to_owned));
        located.add_tree(prefix(&node));
    }
    Ok(located)
}

impl RunnerProgram {
    /// Adds a directory, unless every sandbox has it.
    fn add_tree(&mut self, tree: Option<PathBuf>) {
        self.read_only.extend(tree.filter(|tree| !is_system(tree)));
    }
}

/// Whether every sandbox has a directory.
pub(crate) fn is_system(tree: &Path) -> bool {
    ["/usr", "/bin", "/lib", "/opt", "/nix"].iter().any(|known| tree.starts_with(known))
}

pub(crate) fn find(name: &str, path: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
}

#[expect(clippy::disallowed_methods, reason = "programs on the person's PATH")]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file)
        .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// The outermost `node_modules` around a program, else its directory.
pub(crate) fn installation(real: &Path) -> Option<PathBuf> {
    let outermost = real.ancestors().filter(|path| path.ends_with("node_modules")).last();
    outermost.or(real.parent()).map(Path::to_owned)
}

/// The directory around `bin`.
pub(crate) fn prefix(program: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    if bin.ends_with("bin") { bin.parent() } else { Some(bin) }.map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_loop_needs_nothing() {
        assert_eq!(locate(RunnerKind::Native, &|_| None).unwrap(), RunnerProgram::default());
    }

    #[test]
    fn a_program_that_is_missing_says_how_to_get_it() {
        let error = locate(RunnerKind::Pi, &|_| Some("/nowhere".into())).unwrap_err();
        assert_eq!(error.to_string(), "`pi` is not installed");
        assert_eq!(
            error.hint().as_deref(),
            Some("run `npm install -g @mariozechner/pi-coding-agent@0.73.1`")
        );
    }

    #[test]
    fn a_program_brings_its_modules_along() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let package = dir.join("node_modules/@a/b/node_modules/c");
        std::fs::create_dir_all(&package).unwrap();
        let script = package.join("cli.js");
        std::fs::write(&script, "#!/usr/bin/env node\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let bin = dir.join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        symlink(&script, bin.join("claude")).unwrap();
        let path = bin.to_str().unwrap().to_owned();
        let located = locate(RunnerKind::ClaudeCode, &|_| Some(path.clone())).unwrap();
        assert_eq!(located.cli.unwrap().program, script);
        assert_eq!(located.read_only, [dir.join("node_modules")]);
    }
}
