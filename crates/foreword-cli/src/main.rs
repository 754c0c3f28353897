//! The `foreword` command as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(foreword_cli::main(None))
}
