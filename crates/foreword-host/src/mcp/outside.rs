//! What a server outside the sandbox is started with: nothing that an agent could have written.
//!
//! Agents write files of the workspace. A program among them, or one that loads them from its working
//! directory, as `npx` and `python -m` do, would run with the person's rights. So the program and the files
//! among its arguments must lie elsewhere, and the working directory is an empty one of its own.

use std::path::Path;

use super::ServerFault;
use super::program::LocatedProgram;

/// The arguments of a server, with directories of the workspace by their full path.
pub(super) fn checked(
    program: &LocatedProgram,
    args: &[String],
    root: &Path,
) -> Result<Vec<String>, ServerFault> {
    let refused = |path: &Path| ServerFault::AgentsFile { path: path.display().to_string() };
    if let Some(path) =
        [&program.program, &program.found].into_iter().find(|it| it.starts_with(root))
    {
        return Err(refused(path));
    }
    let mut checked = Vec::with_capacity(args.len());
    for word in args {
        // `--repository=.` names a path, too.
        let (option, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((option, value)) => (Some(option), value),
            None => (None, word.as_str()),
        };
        let value = absolute(value, root).map_err(|path| refused(Path::new(&path)))?;
        checked.push(match option {
            Some(option) => format!("{option}={value}"),
            None => value,
        });
    }
    Ok(checked)
}

/// A word as it is, or as the full path of the directory that it names; a file of the workspace is an error.
fn absolute(word: &str, root: &Path) -> Result<String, String> {
    if word.is_empty() || word.starts_with('-') {
        return Ok(word.to_owned());
    }
    let Ok(path) = root.join(word).canonicalize() else { return Ok(word.to_owned()) };
    if path.is_file() && path.starts_with(root) {
        return Err(word.to_owned());
    }
    let is_path = word == "." || word == ".." || word.contains('/');
    Ok(if is_path { path.display().to_string() } else { word.to_owned() })
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
}
