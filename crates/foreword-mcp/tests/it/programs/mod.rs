//! Programs of other people that some tests need.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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
