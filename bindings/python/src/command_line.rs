//! The command line of the wheel. Its program is a launcher that loads this library and calls
//! [`foreword_main`], because the two would have nearly the same code.

use std::ffi::c_int;
use std::io::Write as _;
use std::path::PathBuf;

/// The exit code of a Rust program that panicked.
const PANICKED: c_int = 101;

/// Runs the command line with the arguments of this process and returns its exit code.
#[allow(unsafe_code, reason = "the launcher finds the function by its name, which no other has")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn foreword_main() -> c_int {
    let code = std::panic::catch_unwind(|| c_int::from(foreword_cli::main(library())));
    // The runtime of a Rust program does this after `main`; in a library there is none.
    let _ = std::io::stdout().flush();
    code.unwrap_or(PANICKED)
}

/// This file, from where the launcher is: `foreword/_packaged/foreword` beside `foreword/_foreword.abi3.so`.
fn library() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("_foreword.abi3.so"))
}
