//! One JSON request per line, one answer per line.

use std::io::{self, BufRead, Read, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::service::Service;

/// The limit of a request, so that a client cannot exhaust memory.
pub const MAX_REQUEST_BYTES: u64 = 64 << 20;

/// Raised when a field changes its meaning or goes away. New fields do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// A request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// Any value; the answer repeats it.
    #[serde(default, rename = "id")]
    _id: Value,
    /// The name of the method.
    method: String,
    /// The parameters of the method.
    #[serde(default)]
    params: Value,
}

/// An answer: `result` or `error`, never both.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The version of the schema of answers.
    schema_version: u32,
    /// The `id` of the request.
    id: Value,
    /// What the method gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Why the method failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

/// Answers every line of `input` until it ends or nobody reads `output` any more.
///
/// Fails only if `input` cannot be read.
pub fn serve_lines(
    service: &Service,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_REQUEST_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let too_long = read as u64 == MAX_REQUEST_BYTES && !line.ends_with(b"\n");
        if !too_long && line.trim_ascii().is_empty() {
            continue;
        }
        let answer = if too_long {
            input.skip_until(b'\n')?;
            let limit = MAX_REQUEST_BYTES >> 20;
            failure(Value::Null, Failure::usage(format!("request is longer than {limit} MiB")))
        } else {
            answer_line(service, &line)
        };
        let mut text = answer.to_string();
        text.push('\n');
        if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
            // The client went away.
            return Ok(());
        }
    }
}

/// The answer to one request.
#[must_use]
pub fn answer_line(service: &Service, line: &[u8]) -> Value {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return failure(Value::Null, Failure::usage(format!("invalid request: {error}")));
        }
    };
    if !value.is_object() {
        let error = Failure::usage("invalid request: expected a JSON object");
        return failure(Value::Null, error);
    }
    let id = value.get("id").cloned().unwrap_or_default();
    let call: Call = match serde_json::from_value(value) {
        Ok(call) => call,
        Err(error) => return failure(id, Failure::usage(format!("invalid request: {error}"))),
    };
    match service.call(&call.method, call.params) {
        Ok(result) => {
            write(&Answer { schema_version: SCHEMA_VERSION, id, result: Some(result), error: None })
        }
        Err(error) => failure(id, error),
    }
}

fn failure(id: Value, error: Failure) -> Value {
    write(&Answer { schema_version: SCHEMA_VERSION, id, result: None, error: Some(error) })
}

fn write(answer: &Answer) -> Value {
    serde_json::to_value(answer).unwrap_or_else(|error| json!({"error": error.to_string()}))
}
