//! JSON as Python values, with field names in snake_case.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value;

/// Objects whose keys are names of modules or files, not of fields.
const OWN_KEYS: [&str; 2] = ["tokensByModule", "files"];

/// The Python form of an answer.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    convert(py, value, true)
}

/// The same for what another program defines: field names stay as they are.
pub(crate) fn to_python_as_is<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    convert(py, value, false)
}

fn convert<'py>(py: Python<'py>, value: &Value, rename: bool) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            _ => number.as_f64().unwrap_or_default().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(convert(py, item, rename)?)?;
            }
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, field) in fields {
                let below = rename && !OWN_KEYS.contains(&name.as_str());
                let value = convert(py, field, below)?;
                if rename {
                    dict.set_item(snake_case(name), value)?;
                } else {
                    dict.set_item(name, value)?;
                }
            }
            dict.into_any()
        }
    })
}

/// `historyTokens` as `history_tokens`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
