//! The native half of the Python package: the methods of `foreword-serve` as Python objects.
//!
//! It converts values (`from_python`, `to_python`), releases the interpreter while it works, and turns
//! every failure, a panic included, into an exception. The Python half gives the objects their names and
//! types. It holds no logic: what it answers is what `foreword serve` answers.

#[cfg(all(feature = "packaged", target_os = "linux"))]
mod command_line;
mod failure;
mod from_python;
mod prompt;
mod service;
mod to_python;

use std::path::PathBuf;

use pyo3::prelude::*;

/// The functions and classes that `foreword/__init__.py` builds on.
#[pymodule]
mod _foreword {
    use super::*;

    #[pymodule_export]
    use super::prompt::Prompt;
    #[pymodule_export]
    use super::service::Service;

    /// Tells where the table of embeddings is, in a wheel that has it as a file.
    #[pyfunction]
    fn set_table_file(path: PathBuf) {
        #[cfg(feature = "packaged")]
        foreword_embed::set_table_file(path);
        #[cfg(not(feature = "packaged"))]
        drop(path);
    }

    /// Fails as a bug would, so that tests can show what becomes of one.
    #[pyfunction]
    fn _panic(py: Python<'_>) -> PyResult<()> {
        #[expect(clippy::panic, reason = "tests ask for it")]
        failure::guarded(py, || panic!("asked for by a test"))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
