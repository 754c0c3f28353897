//! The service of `foreword-serve` as a Python object.

use std::path::PathBuf;

use foreword_serve::{PromptParams, Service as Inner};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::failure::guarded;
use crate::from_python::{to_json, to_map};
use crate::prompt::Prompt;
use crate::to_python::to_python;

/// Answers methods, and keeps between them what is expensive to make. Threads may share it.
#[pyclass(frozen, module = "foreword._foreword")]
pub(crate) struct Service(Inner);

#[pymethods]
impl Service {
    #[new]
    #[pyo3(signature = (workspace=None))]
    fn new(workspace: Option<PathBuf>) -> Self {
        Self(Inner::new(workspace))
    }

    /// Compiles a prompt.
    fn build(
        &self,
        py: Python<'_>,
        context: Option<&Bound<'_, PyAny>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Prompt> {
        let mut params = to_map(options, "options")?;
        params.retain(|_, value| !value.is_null());
        let context = context.map(|context| to_json(context, "context")).transpose()?;
        guarded(py, || {
            let mut params = if params.is_empty() {
                PromptParams::default()
            } else {
                PromptParams::from_json(Value::Object(params))?
            };
            params.context = context.or(params.context);
            self.0.compile(params).map(Prompt::new)
        })
    }

    /// Answers one method of `foreword serve`.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        params: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut params: Map<String, Value> = to_map(params, "parameters")?;
        params.retain(|_, value| !value.is_null());
        let answer = guarded(py, || self.0.call(method, Value::Object(params)))?;
        to_python(py, &answer)
    }
}
