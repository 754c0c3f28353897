//! The launcher alone, as the tests of this crate start it.

use std::process::ExitCode;

fn main() -> ExitCode {
    match foreword_sandbox::run_launcher(std::env::args_os().skip(1)) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the one thing it says")]
            {
                eprintln!("{error}");
            }
            ExitCode::from(foreword_sandbox::LAUNCHER_FAILED)
        }
    }
}
