//! Python values as JSON: dicts, dataclasses, lists, strings, numbers, paths and times.
//!
//! Field names may be written in snake_case or camelCase. Names that the caller chose (the keys of
//! `files`) stay as they are.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::failure::usage;

/// Deeper than any value that Foreword reads, and so also the end of an object that contains itself.
const MAX_DEPTH: usize = 48;

/// Fields whose keys are the caller's own.
const OWN_KEYS: [&str; 1] = ["files"];

/// What is wrong with a value, and where it stands.
struct Wrong {
    place: String,
    what: String,
}

type Read<T> = Result<T, Wrong>;

/// The JSON of a value. `name` is what messages call it.
pub(crate) fn to_json(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    read(value, 0, true).map_err(|wrong| refused(value.py(), name, &wrong))
}

/// The fields of a dict or dataclass as a JSON object.
pub(crate) fn to_map(fields: &Bound<'_, PyDict>, name: &str) -> PyResult<Map<String, Value>> {
    object(fields, 0, true).map_err(|wrong| refused(fields.py(), name, &wrong))
}

fn refused(py: Python<'_>, name: &str, wrong: &Wrong) -> PyErr {
    usage(py, format!("invalid {name}{}: {}", wrong.place, wrong.what))
}

fn wrong(what: impl Into<String>) -> Wrong {
    Wrong { place: String::new(), what: what.into() }
}

fn read(value: &Bound<'_, PyAny>, depth: usize, rename: bool) -> Read<Value> {
    if depth > MAX_DEPTH {
        return Err(wrong(format!(
            "nested deeper than {MAX_DEPTH} levels, or an object that contains itself"
        )));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(string(text)?));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(Value::Object(object(dict, depth, rename)?));
    }
    if let Ok(list) = value.cast::<PyList>() {
        return sequence(list.iter(), depth, rename);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        let signed = value.extract::<i64>().map(Number::from);
        let number = signed.or_else(|_| value.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| wrong("the number does not fit 64 bits"));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        return Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| wrong(format!("{number} is not a finite number")));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return sequence(tuple.iter(), depth, rename);
    }
    other(value, depth, rename)
}

/// Dataclasses, paths and times.
fn other(value: &Bound<'_, PyAny>, depth: usize, rename: bool) -> Read<Value> {
    let py = value.py();
    if let Ok(fields) = value.getattr(pyo3::intern!(py, "__dataclass_fields__"))
        && let Ok(fields) = fields.cast::<PyDict>()
        && !value.is_instance_of::<pyo3::types::PyType>()
    {
        let mut map = Map::new();
        for field in fields.keys() {
            let Ok(name) = field.cast::<PyString>() else { continue };
            let given = value.getattr(name).map_err(|error| wrong(error.to_string()))?;
            // A field that was not filled in is absent.
            if !given.is_none() {
                insert(&mut map, name, &given, depth, rename)?;
            }
        }
        return Ok(Value::Object(map));
    }
    for (method, what) in [("__fspath__", "path"), ("isoformat", "time")] {
        if let Ok(found) = value.call_method0(method)
            && let Ok(text) = found.cast::<PyString>()
        {
            let text = string(text)?;
            if what == "time" && !text.contains('T') {
                return Ok(Value::String(text));
            }
            if what == "time" && !has_zone(&text) {
                return Err(wrong("the time has no time zone; use datetime.now(timezone.utc)"));
            }
            return Ok(Value::String(text));
        }
    }
    let kind = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    Err(wrong(format!(
        "expected a string, number, bool, None, list, dict or dataclass, not `{kind}`"
    )))
}

/// Whether a time in ISO 8601 says which zone it is in.
fn has_zone(text: &str) -> bool {
    text.split_once('T').is_some_and(|(_, time)| time.contains(['+', '-', 'Z']))
}

fn sequence<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    rename: bool,
) -> Read<Value> {
    let mut values = Vec::new();
    for (place, item) in items.enumerate() {
        values.push(
            read(&item, depth + 1, rename)
                .map_err(|wrong| Wrong { place: format!("[{place}]{}", wrong.place), ..wrong })?,
        );
    }
    Ok(Value::Array(values))
}

fn object(dict: &Bound<'_, PyDict>, depth: usize, rename: bool) -> Read<Map<String, Value>> {
    let mut map = Map::new();
    for (key, value) in dict.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            return Err(wrong("the keys of a dict have to be strings"));
        };
        insert(&mut map, key, &value, depth, rename)?;
    }
    Ok(map)
}

fn insert(
    map: &mut Map<String, Value>,
    key: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
    depth: usize,
    rename: bool,
) -> Read<()> {
    let key = string(key)?;
    let below = rename && !OWN_KEYS.contains(&key.as_str());
    let value = read(value, depth + 1, below)
        .map_err(|wrong| Wrong { place: format!(".{key}{}", wrong.place), ..wrong })?;
    let name = if rename { camel_case(key) } else { key };
    if map.contains_key(&name) {
        return Err(wrong(format!("`{name}` is given twice, in snake_case and in camelCase")));
    }
    map.insert(name, value);
    Ok(())
}

fn string(text: &Bound<'_, PyString>) -> Read<String> {
    text.to_str()
        .map(ToOwned::to_owned)
        .map_err(|_| wrong("the text has a lone surrogate, which UTF-8 cannot express"))
}

/// `history_tokens` as `historyTokens`.
fn camel_case(name: String) -> String {
    if !name.contains('_') {
        return name;
    }
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        match letter {
            '_' if !out.is_empty() => upper = true,
            letter if upper => {
                out.extend(letter.to_uppercase());
                upper = false;
            }
            letter => out.push(letter),
        }
    }
    out
}
