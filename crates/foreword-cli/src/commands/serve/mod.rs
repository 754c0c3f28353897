//! `foreword serve --stdio`: one JSON request per line, one answer per line, without start-up cost.

mod methods;
mod params;

use std::io::{self, BufRead, Read, Write};

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use self::methods::Server;
use crate::error::CliError;
use crate::json::SCHEMA_VERSION;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// The limit of a request, so that a client cannot exhaust memory.
const MAX_REQUEST_BYTES: u64 = 64 << 20;

/// Answer JSON requests, one per line
#[derive(Args, Debug)]
#[command(after_help = "\
Methods: build, explain, diff, lint, scan, screen, skills, skill_read, memory_search, memory_add, ping. `params` of build
and explain takes `context`, or `workspace` with `agent`, `task`, `mode` and the other fields of a Context; also
`tokenizer`, for build `format`, and for explain `at`. docs/serve.md lists all fields.

Request: {\"id\": 1, \"method\": \"build\", \"params\": {\"context\": {…}, \"blueprint\": \"standard\"}}
Answer:  {\"schemaVersion\": 1, \"id\": 1, \"result\": {…}}
Error:   {\"schemaVersion\": 1, \"id\": 1, \"error\": {\"kind\": …, \"message\": …, \"hints\": […]}}

Examples:
  echo '{\"id\": 1, \"method\": \"ping\"}' | foreword serve --stdio
  echo '{\"id\": 1, \"method\": \"build\", \"params\": {\"task\": \"hi\"}}' | foreword serve --stdio -w my-agent")]
pub(crate) struct ServeArgs {
    /// Read requests from standard input and answer on standard output
    #[arg(long, required = true)]
    stdio: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    #[serde(default, rename = "id")]
    _id: Value,
    method: String,
    #[serde(default)]
    params: Value,
}

pub(crate) fn run(workspace: &WorkspaceArg, _: &ServeArgs, _: &Terminal) -> Result<(), CliError> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    let mut server = Server::new(workspace.clone());
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_REQUEST_BYTES).read_until(b'\n', &mut line);
        let read = read
            .map_err(|error| CliError::internal(format!("cannot read standard input: {error}")))?;
        if read == 0 {
            return Ok(());
        }
        let too_long = read as u64 == MAX_REQUEST_BYTES && !line.ends_with(b"\n");
        if !too_long && line.trim_ascii().is_empty() {
            continue;
        }
        let answer = if too_long {
            skip_line(&mut input)?;
            let error =
                CliError::usage(format!("request is longer than {} MiB", MAX_REQUEST_BYTES >> 20));
            failure(&Value::Null, &error)
        } else {
            answer(&line, &mut server)
        };
        let mut text = answer.to_string();
        text.push('\n');
        if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
            // The client went away.
            return Ok(());
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> Result<(), CliError> {
    input
        .skip_until(b'\n')
        .map_err(|error| CliError::internal(format!("cannot read standard input: {error}")))?;
    Ok(())
}

fn answer(line: &[u8], server: &mut Server) -> Value {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return failure(&Value::Null, &CliError::usage(format!("invalid request: {error}")));
        }
    };
    if !value.is_object() {
        return failure(&Value::Null, &CliError::usage("invalid request: expected a JSON object"));
    }
    let id = value.get("id").cloned().unwrap_or_default();
    let call: Call = match serde_json::from_value(value) {
        Ok(call) => call,
        Err(error) => return failure(&id, &CliError::usage(format!("invalid request: {error}"))),
    };
    match server.handle(&call.method, call.params) {
        Ok(result) => json!({"schemaVersion": SCHEMA_VERSION, "id": id, "result": result}),
        Err(error) => failure(&id, &error),
    }
}

fn failure(id: &Value, error: &CliError) -> Value {
    json!({"schemaVersion": SCHEMA_VERSION, "id": id, "error": {"kind": error.kind.as_str(), "message": error.message, "hints": error.hints}})
}
