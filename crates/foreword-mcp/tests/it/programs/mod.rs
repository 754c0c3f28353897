//! Programs of other people that some tests need.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A program from npm: in the directory that `cargo xtask test` names, or on the path.
///
/// Nothing, with a word about it, if it is not installed; under `CI=true` that is a failure.
pub(crate) fn npm_program(name: &str) -> Option<PathBuf> {
    let installed = std::env::var_os("FOREWORD_TEST_NPM")
        .map(|folder| PathBuf::from(folder).join("node_modules/.bin").join(name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = installed.into_iter().chain(on_path).find(|program| program.is_file());
    if found.is_none() {
        let missing = format!("`{name}` is not installed; `cargo xtask test` installs it");
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{missing}");
        eprintln!("left out: {missing}");
    }
    found
}

/// The server of the example, which cargo builds with the tests.
pub(crate) fn serve_parts() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/serve_parts");
    assert!(
        program.is_file(),
        "{} is not built: run the tests of the whole crate",
        program.display()
    );
    program
}

/// A workspace of the repository.
pub(crate) fn workspace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs a program to its end, which must come in time.
pub(crate) fn run(command: &mut Command, most: Duration) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let begun = Instant::now();
    // Both pipes are read while it runs, or it would wait for us.
    let mut pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let output = std::thread::spawn(move || std::io::read_to_string(&mut pipes.0).unwrap());
    let errors = std::thread::spawn(move || std::io::read_to_string(&mut pipes.1).unwrap());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > most {
            child.kill().unwrap();
            panic!("{command:?} did not end within {most:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let (stdout, stderr) = (output.join().unwrap(), errors.join().unwrap());
    Output { status, stdout: stdout.into_bytes(), stderr: stderr.into_bytes() }
}
