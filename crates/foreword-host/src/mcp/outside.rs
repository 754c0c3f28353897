//! What a server outside the sandbox is started with: nothing that an agent could have written.
//!
//! Agents write files of the workspace. A program among them, or one that loads them from its working
//! directory, as `npx` and `python -m` do, would run with the person's rights. So the program and the files
//! named by its arguments and variables must lie elsewhere, and the working directory is an empty one of its
//! own. Directories of the workspace are what many servers work on; they are refused only where code would be
//! loaded from them: as what an interpreter runs (`node .`, `uv run --directory . serve`), and in variables
//! such as `PYTHONPATH`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ServerFault;
use super::program::LocatedProgram;

/// Programs that run what their arguments name.
const RUNNERS: [&str; 24] = [
    "bash", "bun", "bunx", "cargo", "dash", "deno", "env", "go", "java", "make", "node", "nodejs",
    "npm", "npx", "perl", "php", "pipx", "pnpm", "ruby", "sh", "uv", "uvx", "yarn", "zsh",
];
/// Words of runners that come before what is run.
const RUN_WORDS: [&str; 6] = ["dlx", "exec", "run", "start", "tool", "x"];
/// Options of runners that take the next word, so that it is not the name of what is run.
const VALUE_OPTIONS: [&str; 20] = [
    "--cache-dir",
    "--config-file",
    "--cwd",
    "--directory",
    "--env-file",
    "--extra",
    "--from",
    "--group",
    "--import",
    "--index-url",
    "--loader",
    "--package",
    "--prefix",
    "--project",
    "--python",
    "--require",
    "--with",
    "--with-editable",
    "-C",
    "-p",
];
/// Variables that say where programs load code or settings from.
const LOADER_VARIABLES: [&str; 12] = [
    "CLASSPATH",
    "ENV",
    "GOBIN",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "PATH",
    "VIRTUAL_ENV",
    "ZDOTDIR",
    "BASH_ENV",
];
/// The same, by how their names begin.
const LOADER_PREFIXES: [&str; 22] = [
    "BUN_", "CARGO_", "CONDA_", "DENO_", "DYLD_", "GEM_", "GIT_", "JAVA_", "JDK_", "LD_", "LUA_",
    "NODE_", "NPM_", "PERL", "PHP", "PIP_", "PNPM_", "PYTHON", "RUBY", "RUST", "UV_", "XDG_",
];

/// The arguments of a server, with directories of the workspace by their full path.
pub(super) fn checked(
    program: &LocatedProgram,
    args: &[String],
    root: &Path,
) -> Result<Vec<String>, ServerFault> {
    if let Some(path) =
        [&program.program, &program.found].into_iter().find(|it| it.starts_with(root))
    {
        return Err(refused(path));
    }
    // A runner's first word that is no option names what it runs; what follows is for that.
    let mut names_code = is_runner(program);
    let mut is_value = false;
    let mut checked = Vec::with_capacity(args.len());
    for word in args {
        for (piece, found) in in_workspace(word, root) {
            if found.is_file() || names_code && is_path(piece) {
                return Err(refused(Path::new(piece)));
            }
        }
        let is_name = !word.starts_with('-') && !RUN_WORDS.contains(&word.as_str()) && !is_value;
        names_code &= !is_name;
        is_value = VALUE_OPTIONS.contains(&word.as_str());
        // `--repository=.` names a path, too.
        let (option, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((option, value)) => (Some(option), value),
            None => (None, word.as_str()),
        };
        let value = absolute(value, root);
        checked.push(match option {
            Some(option) => format!("{option}={value}"),
            None => value,
        });
    }
    Ok(checked)
}

/// Whether no variable lets code be loaded from the workspace.
pub(super) fn check_variables(
    env: &BTreeMap<String, String>,
    root: &Path,
) -> Result<(), ServerFault> {
    for (name, value) in env {
        let upper = name.to_ascii_uppercase();
        let loads = LOADER_VARIABLES.contains(&&*upper)
            || LOADER_PREFIXES.iter().any(|prefix| upper.starts_with(prefix));
        let mut found = in_workspace(value, root).into_iter();
        if let Some((piece, _)) = found.find(|(_, path)| loads || path.is_file()) {
            return Err(ServerFault::AgentsVariable { name: name.clone(), path: piece.to_owned() });
        }
    }
    Ok(())
}

/// The person's search path without directories that agents write in.
pub(super) fn search_path(path: &str, root: &Path) -> String {
    let elsewhere = path.split(':').filter(|directory| {
        let path = Path::new(directory);
        path.is_absolute()
            && !path.starts_with(root)
            && !path.canonicalize().is_ok_and(|it| it.starts_with(root))
    });
    elsewhere.collect::<Vec<_>>().join(":")
}

fn refused(path: &Path) -> ServerFault {
    ServerFault::AgentsFile { path: path.display().to_string() }
}

fn is_runner(program: &LocatedProgram) -> bool {
    [&program.program, &program.found].into_iter().any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        RUNNERS.contains(&name.as_ref()) || name.starts_with("python") || name.starts_with("pypy")
    })
}

/// The paths of the workspace that a word names, alone or among others: `--from=.`, `/a:/b`, `cd /a && ./b`.
fn in_workspace<'w>(word: &'w str, root: &Path) -> Vec<(&'w str, PathBuf)> {
    let separators = |c: char| c.is_whitespace() || "=:,;&|()'\"@".contains(c);
    let pieces = word.split(separators).chain([word]);
    pieces
        .filter(|piece| !piece.is_empty() && !piece.starts_with('-'))
        .filter_map(|piece| Some((piece, root.join(piece).canonicalize().ok()?)))
        .filter(|(_, path)| path.starts_with(root))
        .collect()
}

/// Whether a word names a path rather than something that happens to be called like one.
fn is_path(word: &str) -> bool {
    word == "." || word == ".." || word.contains('/')
}

/// A word as it is, or as the full path of the directory that it names.
fn absolute(word: &str, root: &Path) -> String {
    let path = is_path(word).then(|| root.join(word).canonicalize().ok()).flatten();
    path.map_or_else(|| word.to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_workspace_are_refused_and_directories_are_named_in_full() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("docs")).unwrap();
        std::fs::write(root.join("server.py"), "").unwrap();
        let program = |path: &Path| LocatedProgram {
            program: path.to_owned(),
            found: path.to_owned(),
            ..LocatedProgram::default()
        };
        let python = program(Path::new("/usr/bin/python3"));
        let args =
            |words: &[&str]| -> Vec<String> { words.iter().map(|it| (*it).to_owned()).collect() };
        let at = |name: &str| root.join(name).display().to_string();
        assert_eq!(
            checked(
                &python,
                &args(&["-m", "git", ".", "./docs", "--repo=.", "docs", "--x"]),
                &root
            )
            .unwrap(),
            [
                "-m",
                "git",
                at("").trim_end_matches('/'),
                &at("docs"),
                &format!("--repo={}", root.display()),
                "docs",
                "--x"
            ]
        );
        for word in [
            "server.py",
            "./server.py",
            "docs/../server.py",
            "--config=server.py",
            &at("server.py"),
        ] {
            let refused = checked(&python, &args(&[word]), &root).unwrap_err();
            assert!(matches!(refused, ServerFault::AgentsFile { .. }), "{word}: {refused}");
        }
        assert!(checked(&program(&root.join(".venv/bin/serve")), &[], &root).is_err());
    }

    #[test]
    fn a_directory_is_refused_where_code_would_be_loaded_from_it() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("serve")).unwrap();
        let here = root.display().to_string();
        let outcome = |line: &str| {
            let words: Vec<String> = line.split(' ').map(|word| word.replace('_', " ")).collect();
            let (name, args) = words.split_first().unwrap();
            let path = Path::new("/usr/bin").join(name);
            let program =
                LocatedProgram { program: path.clone(), found: path, ..LocatedProgram::default() };
            checked(&program, args, &root)
        };
        for line in [
            "node .",
            "python3.11 ./serve",
            "uv run --directory . serve",
            "uv run --with mcp --directory . serve",
            "uv --directory=. run serve",
            "uvx --from . serve",
            "npx -y ./serve",
            "npm --prefix . start",
            &format!("env PYTHONPATH={here} python3 -m serve"),
            &format!("bash -c cd_{here}_&&_exec_python3_-m_serve"),
            &format!("node --import={here}/serve serve"),
        ] {
            assert!(outcome(line).is_err(), "{line}");
        }
        for line in [
            "npx -y @modelcontextprotocol/server-filesystem .",
            "uvx mcp-server-git --repository .",
            "uvx --from mcp-servers serve --project .",
            "python3 -m serve --directory ./serve",
            "mcp-server --directory .",
        ] {
            assert!(outcome(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_variable_that_loads_code_from_the_workspace_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        std::fs::write(root.join("start.py"), "").unwrap();
        let here = root.display();
        let check = |name: &str, value: String| {
            check_variables(&BTreeMap::from([(name.to_owned(), value)]), &root)
        };
        for (name, value) in [
            ("PYTHONPATH", format!("/usr/lib:{here}")),
            ("NODE_OPTIONS", format!("--import={here}")),
            ("LD_LIBRARY_PATH", here.to_string()),
            ("npm_config_prefix", here.to_string()),
            ("HOME", here.to_string()),
            ("STARTUP", format!("{here}/start.py")),
        ] {
            let refused = check(name, value).unwrap_err().to_string();
            assert!(refused.contains(name), "{refused}");
        }
        for name in ["ALLOWED_DIRECTORY", "PATH_TO_REPOSITORY", "PIPELINE", "GOALS", "HOMEPAGE"] {
            assert!(check(name, here.to_string()).is_ok(), "{name}");
        }
        assert!(check("PYTHONPATH", "/usr/lib/python3".to_owned()).is_ok());
        assert_eq!(search_path(&format!("{here}/bin:/usr/bin:.:/bin"), &root), "/usr/bin:/bin");
    }
}
