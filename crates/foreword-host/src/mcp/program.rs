//! Finding the program of a server and what it needs to be seen of the machine.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use foreword_sandbox::DEFAULT_PATH;

use super::ServerFault;
use crate::turn::runner::{find, installation, is_system, prefix};

/// What the shims of version managers are links to.
const SHIMS: [&str; 5] = ["mise", "rtx", "asdf", "volta-shim", "proto-shim"];
/// The longest first line of a script.
const MAX_FIRST_LINE: u64 = 512;

/// A package runner, and the package it would download.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Download {
    pub(super) program: String,
    pub(super) package: Option<String>,
}

/// Whether a command fetches what it runs from a registry, unless that is installed.
pub(super) fn download(program: &str, args: &[String]) -> Option<Download> {
    let program = program.rsplit('/').next().unwrap_or_default();
    let (options, verbs): (&[&str], &[&str]) = match program {
        "npx" | "bunx" | "pnpx" => (&["-p", "--package", "-c", "--call", "-w", "--workspace"], &[]),
        "uvx" => (&["--from", "--with", "-p", "--python", "--index-url", "-w"], &[]),
        "pnpm" | "yarn" | "bun" => (&["--package", "-p", "-C", "--dir"], &["dlx", "x", "exec"]),
        "pipx" => (&["--spec", "--python", "--pip-args"], &["run"]),
        "uv" => (&["--from", "--with", "-p", "--python"], &["tool", "run", "x"]),
        _ => return None,
    };
    let names_package = ["-p", "--package", "--from", "--spec"];
    let (mut package, mut rest) = (None, args.iter().map(String::as_str));
    while let Some(word) = rest.next() {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        if !word.starts_with('-') {
            if verbs.contains(&word) {
                continue;
            }
            package = package.or(Some(word));
            break;
        }
        if options.contains(&option) {
            let value = if value.is_empty() { rest.next().unwrap_or_default() } else { value };
            // `uvx -p` is a version of Python.
            let is_package = names_package.contains(&option)
                && !(option == "-p" && matches!(program, "uvx" | "uv"));
            package = package.or(Some(value).filter(|_| is_package));
        }
    }
    let package = package.filter(|package| !package.is_empty()).map(str::to_owned);
    Some(Download { program: program.to_owned(), package })
}

/// The command that installs a package which a package runner would download.
pub(super) fn install_command(program: &str, package: &str) -> Option<String> {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '/' | '.' | '_' | '-' | '=');
    let package = Some(package).filter(|package| package.chars().all(is_plain))?;
    Some(match program {
        "uvx" | "uv" => format!("uv tool install {package}"),
        "pipx" => format!("pipx install {package}"),
        "bunx" | "bun" => format!("bun add -g {package}"),
        "pnpm" | "pnpx" => format!("pnpm add -g {package}"),
        _ => format!("npm install -g {package}"),
    })
}

/// A program as a sandbox gets it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LocatedProgram {
    /// The file itself, links resolved.
    pub(super) program: PathBuf,
    /// As it was found; a virtual environment of Python knows itself by that name.
    pub(super) found: PathBuf,
    /// Directories it must be able to read.
    pub(super) read_only: Vec<PathBuf>,
    /// Directories that come first in its `PATH`.
    pub(super) path: Vec<PathBuf>,
}

/// Finds a program: a path from the root of the workspace, or a name in the person's `PATH`.
pub(super) fn locate(name: &str, root: &Path, path: &str) -> Result<LocatedProgram, ServerFault> {
    located(name, root, &|name| find(name, path))
}

/// Finds a program that can run inside the sandbox, where the home directory is hidden: not the shim of a
/// version manager, which looks there for the program, as long as `PATH` or the sandbox has the program.
pub(super) fn locate_inside(
    name: &str,
    root: &Path,
    path: &str,
    home: Option<&Path>,
) -> Result<LocatedProgram, ServerFault> {
    let runs_inside =
        |file: &PathBuf| home.is_none_or(|home| !file.starts_with(home) || !needs_home(file, home));
    let find_inside = |name: &str| {
        let directories = std::env::split_paths(path).chain(std::env::split_paths(DEFAULT_PATH));
        let mut each = directories.filter_map(|directory| find(name, directory.to_str()?));
        each.find(runs_inside).or_else(|| find(name, path))
    };
    located(name, root, &find_inside)
}

/// Whether a program below the home directory works only together with the rest of it.
fn needs_home(file: &Path, home: &Path) -> bool {
    let is_in_shims = file.parent().is_some_and(|directory| directory.ends_with("shims"));
    let real = file.canonicalize().unwrap_or_default();
    let real = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    is_in_shims || SHIMS.contains(&real) || prefix(file).is_some_and(|tree| tree == home)
}

fn located(
    name: &str,
    root: &Path,
    find: &dyn Fn(&str) -> Option<PathBuf>,
) -> Result<LocatedProgram, ServerFault> {
    let missing = || ServerFault::NoProgram { program: name.to_owned() };
    let found =
        if name.contains('/') { Some(root.join(name)) } else { find(name) }.ok_or_else(missing)?;
    let program = found.canonicalize().map_err(|_| missing())?;
    let mut located = LocatedProgram { found: found.clone(), ..LocatedProgram::default() };
    if !program.starts_with(root) {
        located.add(installation(&program));
        // Next to it is what it brings along: `bin` beside `lib`.
        if !program.ancestors().any(|path| path.ends_with("node_modules")) {
            located.add(prefix(&program));
            located.add(prefix(&found));
        }
    }
    if let Some(interpreter) = interpreter(&program, find) {
        located.path.extend(interpreter.parent().map(Path::to_owned));
        located.add(prefix(&interpreter));
        if let Ok(real) = interpreter.canonicalize() {
            located.add(prefix(&real));
        }
    }
    located.program = program;
    Ok(located)
}

impl LocatedProgram {
    fn add(&mut self, tree: Option<PathBuf>) {
        // The prefix of `/bin/sh` is the root, and what lies there is seen already.
        let is_more = |tree: &PathBuf| tree.parent().is_some() && !is_system(tree);
        let tree = tree.filter(|tree| is_more(tree) && !self.read_only.contains(tree));
        self.read_only.extend(tree);
    }
}

/// What runs a script, by its first line.
#[expect(clippy::disallowed_methods, reason = "a program on the person's PATH")]
fn interpreter(program: &Path, find: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(MAX_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let first = PathBuf::from(words.next()?);
    if first.ends_with("env") {
        let name = words.find(|word| !word.starts_with('-'))?;
        return find(name);
    }
    first.is_absolute().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A home with a program at each path.
    fn home(programs: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for program in programs {
            let file = home.join(program);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        (dir, home)
    }

    #[test]
    fn a_package_that_would_be_downloaded_is_known_with_how_to_install_it() {
        let found = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let Download { program, package } = download(&words[0], &words[1..])?;
            Some(package.and_then(|package| install_command(&program, &package)))
        };
        for (command, install) in [
            ("npx -y @scope/server-files@1.2 .", "npm install -g @scope/server-files@1.2"),
            ("/usr/bin/npx --package=@a/b server", "npm install -g @a/b"),
            ("uvx mcp-server-git --repository .", "uv tool install mcp-server-git"),
            ("uvx -p 3.12 --from mcp-git git", "uv tool install mcp-git"),
            ("uv tool run mcp-server-git", "uv tool install mcp-server-git"),
            ("pipx run mcp-server-git", "pipx install mcp-server-git"),
            ("pnpm dlx server", "pnpm add -g server"),
            ("bunx server", "bun add -g server"),
        ] {
            assert_eq!(found(command).flatten().as_deref(), Some(install), "{command}");
        }
        assert_eq!(found("npx -y"), Some(None));
        assert_eq!(found("npx $(x)"), Some(None), "what a shell would expand is not repeated");
        assert_eq!(found("node server.js"), None);
    }

    /// `prefix` of `/bin/sh` is `/`, which would show an agent everything.
    #[test]
    fn a_script_of_the_workspace_needs_nothing_of_the_machine() {
        let (_dir, root) = home(&["serve"]);
        let found = locate("./serve", &root, "").unwrap();
        assert_eq!(found.read_only, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_shim_of_a_version_manager_gives_way_to_a_program_that_runs_inside() {
        let (_dir, home) = home(&[
            ".pyenv/shims/sh",
            ".pyenv/shims/tool",
            ".local/bin/mise",
            "venv/bin/tool",
            "bin/sh",
            "only/shims/rare",
        ]);
        symlink(home.join(".local/bin/mise"), home.join(".local/bin/sh")).unwrap();
        let directories = [".pyenv/shims", ".local/bin", "bin", "venv/bin", "only/shims"];
        let path = directories.map(|name| home.join(name).display().to_string()).join(":");
        let inside = |name: &str| {
            locate_inside(name, Path::new("/w"), &path, Some(&home)).map(|located| located.found)
        };
        assert!(is_system(&inside("sh").unwrap()), "{:?}", inside("sh"));
        assert_eq!(inside("tool").unwrap(), home.join("venv/bin/tool"));
        // There is no other, and what it says is the reason.
        assert_eq!(inside("rare").unwrap(), home.join("only/shims/rare"));
        assert!(matches!(inside("none"), Err(ServerFault::NoProgram { .. })));
        // Outside the sandbox, shims work.
        let outside = locate("sh", Path::new("/w"), &path).unwrap();
        assert_eq!(outside.found, home.join(".pyenv/shims/sh"));
    }
}
