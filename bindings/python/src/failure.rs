//! Failures as exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use foreword_serve::{Failure, FailureKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Runs work without the interpreter. A failure becomes an exception, and so does a panic: a bug of ours
/// must not end the process of somebody else.
pub(crate) fn guarded<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(exception(py, &failure)),
        Err(panic) => Err(exception(py, &panicked(&*panic))),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Failure::internal(format!("internal error: {said}"))
        .hint("this is a bug in Foreword; please report it with the call that caused it")
}

/// The exception of a failure: a subclass of `foreword.ForewordError` with `kind`, `message` and `hints`.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    static USAGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static FAILED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static INTERNAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (class, name) = match failure.kind {
        FailureKind::Usage => (&USAGE, "UsageError"),
        FailureKind::CheckFailed => (&FAILED, "CheckFailedError"),
        FailureKind::Internal => (&INTERNAL, "InternalError"),
    };
    let made = class
        .import(py, "foreword._errors", name)
        .and_then(|class| class.call1((&failure.message, &failure.hints)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for a value that cannot be read.
pub(crate) fn usage(py: Python<'_>, message: impl Into<String>) -> PyErr {
    exception(py, &Failure::usage(message))
}
