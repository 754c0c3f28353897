//! The program of the wheel on Linux: a launcher for the command line, whose code is in the extension.
//!
//! Extension and command line have nearly the same code, and a wheel with both would be too large. The
//! launcher loads the extension without Python: it defines every symbol that Python would, and none of
//! them is used, because `foreword_main` never calls Python. On macOS the wheel has the standalone program:
//! its linker looks symbols up by library, and this was never tried there.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::dist::Layout;
use crate::dist::binaries::OLDEST_GLIBC;
use crate::error::TaskError;
use crate::steps::Steps;

/// The name of the extension in the wheel, which the launcher asks for.
const EXTENSION: &str = "_foreword.abi3.so";
/// Everything but the symbols of Python.
const SOURCE: &str = include_str!("launcher.c");

/// Makes the launcher for the extension that was built, at [`Layout::wheel_program`].
pub(crate) fn make(
    steps: &mut Steps,
    layout: &Layout,
    zig: Option<&Path>,
) -> Result<(), TaskError> {
    let mut compile = prepare(&layout.extension(), &layout.wheel_program(), compiler(zig))?;
    steps.run("launcher", &mut compile)?;
    steps.verdict()
}

/// The compiler of C: that of this machine, or zig in the environment it was installed in.
fn compiler(zig: Option<&Path>) -> Command {
    let Some(venv) = zig else { return Command::new("cc") };
    let mut command = Command::new(venv.join("bin/python"));
    let platform = format!("{}-linux-gnu.2.{OLDEST_GLIBC}", std::env::consts::ARCH);
    command.args(["-m", "ziglang", "cc", "-target", &platform]);
    command
}

/// Writes the source and puts the extension where it is in a wheel, seen from the program: one directory
/// up. The command returned compiles the program.
fn prepare(extension: &Path, program: &Path, mut cc: Command) -> Result<Command, TaskError> {
    let io = |path: &Path| TaskError::io(path.display().to_string());
    let misplaced = || TaskError::usage(format!("{} has no package around it", program.display()));
    let directory = program.parent().ok_or_else(misplaced)?;
    let package = directory.parent().ok_or_else(misplaced)?;
    std::fs::create_dir_all(directory).map_err(io(directory))?;
    let library = package.join(EXTENSION);
    std::fs::copy(extension, &library).map_err(io(&library))?;
    let code = package.join("launcher.c");
    std::fs::write(&code, source(&undefined(extension)?)).map_err(io(&code))?;
    // The launcher exports what it defines, or the extension would not find it.
    cc.args(["-O2", "-s", "-rdynamic"]).arg(code).arg("-o").arg(program);
    // By name and not by path, which would be looked up at run time.
    cc.arg("-L").arg(package).arg(format!("-l:{EXTENSION}")).arg("-Wl,-rpath,$ORIGIN/..");
    Ok(cc)
}

/// The launcher in C. What Python's symbols are does not matter, only that there is one of each name.
fn source(symbols: &[String]) -> String {
    let mut text = SOURCE.to_owned();
    for symbol in symbols {
        let _ = writeln!(text, "char {symbol}[64];");
    }
    text
}

/// What a library wants from Python.
fn undefined(library: &Path) -> Result<Vec<String>, TaskError> {
    let output = Command::new("nm")
        .args(["-D", "--undefined-only"])
        .arg(library)
        .stderr(Stdio::inherit())
        .output()
        .map_err(TaskError::io("cannot start nm, which is in the package binutils"))?;
    if !output.status.success() {
        return Err(TaskError::Failed { steps: vec![format!("nm {}", library.display())] });
    }
    Ok(of_python(&String::from_utf8_lossy(&output.stdout)))
}

/// The names of Python in a list of `nm`.
fn of_python(list: &str) -> Vec<String> {
    let names = list.lines().filter_map(|line| line.split_whitespace().next_back());
    let names = names.filter(|name| name.starts_with("Py") || name.starts_with("_Py"));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_symbols_of_python_are_defined() {
        let list = "                 U PyErr_Occurred\n                 U _Py_NoneStruct\n\
                    \u{20}                U pymalloc\n                 w __gmon_start__\n\
                    \u{20}                U write@GLIBC_2.2.5\n";
        let symbols = of_python(list);
        assert_eq!(symbols, ["PyErr_Occurred", "_Py_NoneStruct"]);
        let text = source(&symbols);
        assert!(text.starts_with(SOURCE), "{text}");
        assert!(text.ends_with("char PyErr_Occurred[64];\nchar _Py_NoneStruct[64];\n"), "{text}");
    }

    /// A small extension that needs functions and values of Python, as ours does.
    #[cfg(target_os = "linux")]
    const EXTENSION_SOURCE: &str = "
        #include <stdio.h>
        #include <unistd.h>
        extern void *PyExc_ValueError;
        void PyErr_SetString(void *, const char *);
        void PyInit__foreword(void) { PyErr_SetString(PyExc_ValueError, \"\"); }
        int foreword_main(void) {
            int pipes[2];
            if (pipe(pipes) != 0 || pipes[0] < 3) return 1;
            close(pipes[0]);
            return write(pipes[1], \"x\", 1) == -1 ? 42 : 2;
        }";

    #[cfg(target_os = "linux")]
    #[test]
    fn the_launcher_runs_the_extension_without_python() {
        let place = std::env::temp_dir().join(format!("foreword-launcher-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        let (code, built) = (place.join("extension.c"), place.join("lib_foreword.so"));
        std::fs::write(&code, EXTENSION_SOURCE).unwrap();
        let mut cc = compiler(None);
        cc.args(["-shared", "-fPIC", "-o"]).arg(&built).arg(&code);
        assert!(cc.status().unwrap().success());

        let program = place.join("made/foreword/_packaged/foreword");
        let mut compile = prepare(&built, &program, compiler(None)).unwrap();
        assert!(compile.status().unwrap().success());
        // It finds the extension wherever the package is.
        std::fs::rename(place.join("made"), place.join("installed")).unwrap();
        let program = place.join("installed/foreword/_packaged/foreword");
        assert_eq!(Command::new(&program).status().unwrap().code(), Some(42));
        let closed = Command::new("sh").args(["-c", "exec \"$0\" <&- >&-"]).arg(&program).status();
        assert_eq!(closed.unwrap().code(), Some(42));
        std::fs::remove_dir_all(&place).unwrap();
    }
}
